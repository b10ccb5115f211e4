"""Defines one call to an agent: the question, the call and the reply."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar, get_args

import msgspec

from autopilot.domain.evidence import Change, Finding, Usage
from autopilot.domain.phase import Task
from autopilot.domain.process import Try
from autopilot.domain.value import Value

Role = Literal[
    "research", "plan", "plan_check", "execute", "mini_verify", "debug", "verify", "judge", "judge_divergence", "rate",
    "question", "gray_areas", "follow_up", "integration", "audit", "fix", "extract",
]  # fmt: skip
ROLES: tuple[str, ...] = get_args(Role)
REVIEWERS: frozenset[str] = frozenset(
    {"plan_check", "mini_verify", "verify", "judge", "judge_divergence", "rate", "integration", "audit"}
)

Access = Literal["read", "run", "write"]
"""What a role needs of its workspace: to look at it, to run its commands as well, or to change it."""
READERS: frozenset[str] = frozenset(
    {"plan_check", "judge_divergence", "question", "gray_areas", "follow_up", "extract"}
)

Outcome = Literal[
    "ok", "bad_output", "rate_limited", "usage_limited", "auth", "overloaded", "context_exhausted", "limit_hit",
    "timeout", "cancelled", "crashed",
]  # fmt: skip


class PhaseRef(Value, frozen=True, kw_only=True):
    """`dir` is the phase's planning folder, relative to the workspace."""

    id: str
    name: str
    type: str
    dir: str


class TaskRef(Value, frozen=True, kw_only=True):
    id: str
    title: str
    files: tuple[str, ...] = ()


class Thread(Value, frozen=True, kw_only=True):
    """A conversation an agent can go on with. `usage` is all it has cost so far: some agents count from its start."""

    id: str
    usage: Usage = Usage()


class Call(Value, frozen=True, kw_only=True):
    """
    One question to one agent, asked in `folder`.

    `id` is `<run>/<phase>/<step>/<n>` and stays the same when a resumed run asks again; `attempt` counts the times
    this role was put to this task (or phase), so that written answers can be matched without counting calls.

    `tries` counts how often this very call was put: agents that were not to be had did not answer it. After
    `idle_seconds` without a sign of life it may be ended; 0: never.

    `thread` is the conversation to go on with, a new one without. `turns` and `usd` are caps of this call, which an
    agent that can keep them keeps by itself.
    """

    id: str
    role: Role
    prompt: str
    answer_schema: dict[str, Any]
    phase: PhaseRef
    task: TaskRef | None = None
    attempt: int = 1
    tries: int = 1
    model: str | None = None
    seconds: int = 3600
    idle_seconds: float = 0.0
    folder: str = "."
    thread: Thread | None = None
    turns: int | None = None
    usd: float | None = None


class Reply(Value, frozen=True, kw_only=True):
    """
    What came back. `answer` is the JSON text of the answer object, None when there was none.

    `text` is the end of what the agent printed, `lines` how many lines the whole of it had; the whole lies in the
    transcript. `commands` are facts only where the adapter `observes` what the agent runs; otherwise they are what the
    agent says. `usage` is what this call cost, whatever its `thread` had cost before. `issues` is what was wrong with
    what the program printed, apart from the answer. `seconds` is how long the program ran, where one did: it may have
    begun before the call was taken up. `tries` is what it tried to reach.
    """

    outcome: Outcome
    answer: str | None = None
    text: str = ""
    lines: int = 0
    usage: Usage = Usage()
    commands: tuple[str, ...] = ()
    observes: bool = False
    resets_at: str | None = None
    thread: Thread | None = None
    model: str | None = None
    issues: tuple[str, ...] = ()
    seconds: float = 0.0
    tries: tuple[Try, ...] = ()

    @property
    def contacted(self) -> frozenset[str]:
        """The hosts that the program was allowed to reach, and reached."""
        return frozenset(known.host for known in self.tries if known.verdict == "allowed")


def access_of(role: str) -> Access:
    """Reviewers that have to see things run may run them; none of them changes a file."""
    if role in READERS:
        return "read"
    return "run" if role in REVIEWERS else "write"


A = TypeVar("A", bound=msgspec.Struct)


class Objection(Value, frozen=True, kw_only=True):
    """Something wrong with an answer that can be read: what its agent is told once, and the issue it leaves."""

    reminder: str
    issue: str


Objections = Callable[[Mapping[str, Any]], tuple[Objection, ...]]
"""What is wrong with the answer's JSON object, if anything."""


def no_objections(answer: Mapping[str, Any]) -> tuple[Objection, ...]:  # noqa: ARG001 - the signature of the type above
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[A]):
    """
    What a step wants of an agent: who is asked, in which words, and the type of the answer.

    An answer with `objections` is asked for once more; the second is taken, and what is wrong with it told.
    """

    role: Role
    prompt: str
    answer: type[A]
    task: Task | None = None
    objections: Objections = no_objections


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Generic[A]):
    """
    `wrote` holds the planning files the role may write (path to text), as the agent left them.

    `seconds` is what we measured, `observed` the commands we saw the agent run: None where it cannot be watched.
    """

    value: A
    wrote: Mapping[str, str]
    seconds: float = 0.0
    observed: tuple[str, ...] | None = None
    issues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked(Generic[A]):
    """A claim, and beside it what really changed."""

    value: A
    change: Change
    findings: tuple[Finding, ...]


class Asking(Protocol):
    """
    Puts questions to agents. An answer already in the journal is taken from there: nothing is asked twice.

    Both raise `NoAnswer` when no usable answer came, also not after one repair.
    """

    def ask(self, question: Question[A]) -> Answered[A]:
        """Ask on a disposable checkout of the work so far, showing only the planning files the role may see."""
        ...

    def work(self, question: Question[A], message: str, onto: str) -> Worked[A]:
        """Have an agent change the work so far in its clone, and commit the whole as one commit on top of `onto`."""
        ...


def schema_of(answer: type[Any]) -> dict[str, Any]:
    """The JSON Schema of an answer, derived from its type."""
    return msgspec.json.schema(answer)
