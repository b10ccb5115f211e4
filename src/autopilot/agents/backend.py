"""What there is to know about a coding agent's program: data, and two pure functions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from autopilot.agents.call_log import Parse
from autopilot.agents.outcomes import Meanings
from autopilot.domain.agent_call import Access


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """
    One call as a program is asked it. `answer_schema` is None where the prompt alone says what to answer.

    `thread` is the conversation to go on with, `thread_name` a name for one that begins. Where it is `confined`
    already, the program needs no sandbox of its own, and could not make one.
    """

    program: str
    prompt: str
    folder: str
    access: Access = "write"
    confined: bool = False
    model: str | None = None
    effort: str | None = None
    answer_schema: dict[str, Any] | None = None
    thread: str | None = None
    thread_name: str = ""
    turns: int | None = None
    usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """
    What a program can do by itself; whatever it cannot is done for it, or not at all.

    `checked` schemas are enforced by the program, `strict` ones by the service, which takes a narrow kind only.
    `exact` numbers come as the model wrote them: 9.0 is not 9.
    """

    answer_schema: Literal["none", "checked", "strict"] = "none"
    exact: bool = True
    resume: bool = False
    usage: bool = False
    cost: bool = False
    turn_cap: bool = False
    budget_cap: bool = False
    read_only: bool = False
    own_sandbox: bool = False
    observes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """
    What shows that a program has an account: a variable, or a file below the home. Neither is looked into.

    With one of `instead` set the program goes by the key in it, and needs no file. Where its settings name the kind of
    account, it needs the file for that `kind` only.
    """

    variables: tuple[str, ...]
    files: tuple[str, ...]
    instead: tuple[str, ...] = ()
    kind: str = ""


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A settings file that we write: its text by the environment and by the user's own file, empty without one."""

    path: str
    text: Callable[[Mapping[str, str], str], str]


# For programs that work with a provider of the user's choice: the hosts each key is for.
KEY_HOSTS: Mapping[str, tuple[str, ...]] = {
    "ANTHROPIC_API_KEY": ("api.anthropic.com",),
    "OPENAI_API_KEY": ("api.openai.com",),
    "GEMINI_API_KEY": ("generativelanguage.googleapis.com",),
    "GOOGLE_API_KEY": ("generativelanguage.googleapis.com",),
    "OPENROUTER_API_KEY": ("openrouter.ai",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """
    The hosts of a program's service, by what the user signs in with.

    `keys` by the variable that holds one, `account` for all other accounts, where tokens are renewed included. `bases`
    are variables with a URL that takes the place of a host; `switches` turn the program to another service altogether.
    """

    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    account: tuple[str, ...] = ()
    bases: Mapping[str, str] = field(default_factory=dict)
    switches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Dialogue(Protocol):
    """The side of a conversation that we keep up, for programs that want answers."""

    def opening(self) -> bytes: ...

    def answer(self, event: dict[str, Any]) -> bytes:
        """What to send in return, often nothing."""
        ...

    def farewell(self) -> bytes:
        """Asks it to leave off."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """
    One program. `reader` makes a fresh reader of its events for every call.

    `env` is set for it, `variables` are handed on if the user has them: where its service is, and who pays. `reach`
    are the hosts it needs. `counts` says since when it counts what it spends; one that `names_threads` is told the name
    of each. `tested` is the version all this was seen on. `own_prompt` are the tokens of instructions and tools that it
    adds to each turn, measured on that version.

    Its account: `folder` is its own below the home, which the user may have put elsewhere by `folder_variable`.
    `credentials` are the files that it signs in with; without `token_hosts`, where it renews them, they never come
    back. `identity` are their fields that a renewal leaves as they are, `withheld` top fields that it does not need.
    `settings` are all the settings that it gets.
    """

    name: str
    vendor: str
    tested: str
    program: str
    sign_in: SignIn
    capabilities: Capabilities
    argv: Callable[[Ask], tuple[str, ...]]
    reader: Callable[[], Parse]
    dialogue: Callable[[Ask], Dialogue] | None = None
    meanings: Meanings = field(default_factory=Meanings)
    env: Mapping[str, str] = field(default_factory=dict)
    variables: tuple[str, ...] = ()
    folder: str = ""
    folder_variable: str = ""
    credentials: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    token_hosts: tuple[str, ...] = ()
    settings: tuple[WrittenFile, ...] = ()
    counts: Literal["call", "thread"] = "call"
    names_threads: bool = False
    own_prompt: int = 0
    reach: Reach = field(default_factory=Reach)


def told(what: str, details: Any) -> str:
    """A tool call in a few words: its name and the first text it was given."""
    given = details.values() if isinstance(details, dict) else ()
    first = next((value for value in given if isinstance(value, str) and value), "")
    return f"{what} {first}".strip().replace("\n", " ")
