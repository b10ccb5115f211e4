"""Defines a program to run and the result of running it."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Literal, Protocol, TypeVar

import msgspec

from autopilot.domain.value import Value

A = TypeVar("A", bound=msgspec.Struct)
# A private folder for a while, by its path; whatever happens to us, it does not stay.
Room = Callable[[], AbstractContextManager[str]]

# Tools that look for their data by a variable, and where it is below the home folder when that is not set.
TOOL_DATA: dict[str, str | None] = {
    "RUSTUP_HOME": ".rustup",
    "NVM_DIR": ".nvm",
    "PYENV_ROOT": ".pyenv",
    "RBENV_ROOT": ".rbenv",
    "ASDF_DATA_DIR": ".asdf",
    "VOLTA_HOME": ".volta",
    "GOROOT": None,
    "JAVA_HOME": None,
}


class Talk(Protocol):
    """A conversation with a running program: told all it prints as it comes, says what to send and when it is over."""

    @property
    def over(self) -> bool:
        """The program has said all that is wanted of it: what still runs may be ended."""
        ...

    @property
    def replies(self) -> bool:
        """Whether it will have more to send, so that the program's input stays open."""
        ...

    def heard(self, piece: bytes) -> bytes:
        """Take a piece of standard output; what to send, often nothing."""
        ...

    def farewell(self) -> bytes:
        """What asks the program to leave off by itself, empty where nothing does."""
        ...


class Try(Value, frozen=True, kw_only=True):
    """
    What a confined program tried to reach, and what came of it, counted.

    `reason` says by which rule it was refused, or what failed. The host is as the program named it, however strange.
    """

    host: str
    port: int
    verdict: Literal["allowed", "refused", "failed"]
    reason: str = ""
    count: int = 1
    sent: int = 0
    received: int = 0


class Job(Value, frozen=True, kw_only=True):
    """
    One program to run to its end. `env` is the whole environment; `mark` names the job in its children's.

    `talk` listens while it runs; the job may then end before the program does.

    `inherited` are open files the program gets under the same numbers. `leaves` says how what it started ends: by a
    search for its mark, by itself when it is asked to stop, or not at all because nothing can outlive the program.

    `asked` tells one question from another where the job is held beyond our life; its input does where it is empty.
    `held_open` are files that somebody must have open while the program is at work.

    `hosts` are all it may reach where it is confined, as `host:port`, `host` for port 443, or `*.suffix`.

    After `idle_s` seconds in which it printed nothing and changed nothing in `cwd` it is ended; 0: never. One that
    `may_be_silent` is held to that only once it has printed something.

    `home` is a private folder that a confined program may write to as its home; without one it gets an empty home.
    """

    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str] = {}
    stdin: bytes = b""
    timeout_s: float = 60.0
    mark: str = ""
    max_output: int = 4_000_000
    inherited: tuple[int, ...] = ()
    held_open: tuple[int, ...] = ()
    asked: str = ""
    leaves: Literal["strays", "asked", "nothing"] = "strays"
    talk: Talk | None = None
    idle_s: float = 0.0
    may_be_silent: bool = False
    hosts: tuple[str, ...] = ()
    home: str = ""


KILLERS = {1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 9: "SIGKILL", 15: "SIGTERM"}
"""Signals that others send to end a program. The rest, as SIGSEGV, a program brings upon itself."""


def killer(exit_code: int | None) -> str:
    """The signal that ended a program from outside, empty for any other end. Shells and sandboxes report 128 more."""
    code = exit_code or 0
    return KILLERS.get(-code, "") or KILLERS.get(code - 128, "")


class Ran(Value, frozen=True, kw_only=True):
    """
    How a job ended. `exit_code` is None when we ended it, at its time limit or once its talk was over.

    A signal shows as its negative. `idle`: we ended it because it gave no sign of life. `cut_off` says what went wrong
    on our side: the sandbox did not start, or the process that held the program was killed. `tries` is what it tried to
    reach, where somebody stood in between.
    """

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    seconds: float
    idle: bool = False
    cut_off: str = ""
    tries: tuple[Try, ...] = ()

    @property
    def contacted(self) -> frozenset[str]:
        """The hosts that were allowed and answered."""
        return frozenset(known.host for known in self.tries if known.verdict == "allowed")

    @property
    def interruption(self) -> str:
        """Why this end says nothing about the program; empty when the program ended by itself or at its limit."""
        signal = killer(self.exit_code)
        return self.cut_off or (f"killed from outside by {signal}" if signal else "")


class Processes(Protocol):
    """Starts programs that cannot outlive us, and leaves none behind."""

    def run(self, job: Job, started: Callable[[int], None] | None = None) -> Ran:
        """Run to the end. Raises `AgentUnavailable` when the program does not exist."""
        ...

    def sweep(self, mark: str) -> int:
        """Kill every process still carrying the mark, wait until it is gone, and say how many there were."""
        ...


class Keeping(Protocol):
    """Holds agents' calls beyond the life of the process that made them, for a while."""

    def place(self, call: str, asked: str) -> str | None:
        """The folder a call works in that an earlier process began with this very question; None where none is held."""
        ...

    def release(self, call: str) -> None:
        """End the call if it still goes on, and forget it."""
        ...


class NotKeeping:
    """Implements `Keeping` where every call ends with the process that made it."""

    def place(self, call: str, asked: str) -> str | None:  # noqa: ARG002 - the protocol's signature
        return None

    def release(self, call: str) -> None:
        """There is nothing to forget."""


class Sandbox(Protocol):
    """
    Runs a shell command confined to one folder. `tier` says by what: bubblewrap, landlock, seatbelt, or none.

    `label` is what facts carry: the tier, and what is known of how well it holds on this machine.
    """

    @property
    def tier(self) -> str: ...

    @property
    def label(self) -> str: ...

    def run(self, command: str, folder: str, timeout_s: float) -> Ran: ...


OF_THE_USER = frozenset({"host", "address", "loopback"})
"""Refusals that the user can lift by a line of their config; the others are rules."""
HERE = re.compile(r"(127(\.[0-9]+){3}|localhost|\[::1\])(:[0-9]+)?")
NOT_SHARED = (
    "It is on this machine, whose loopback confined programs do not share. "
    "Once it is listed, programs that use HTTP_PROXY reach it; others, such as database clients, need --open-network."
)


def host_line(host: str) -> str:
    """The line of `[network]` in the user's config.toml that allows it."""
    return f'hosts = ["{host}"]'


def is_here(place: str) -> bool:
    return HERE.fullmatch(place) is not None


def refused(tries: Iterable[Try]) -> dict[str, int]:
    """The hosts that were refused and could be allowed, with how often; once each."""
    found: dict[str, int] = {}
    for known in tries:
        if known.verdict == "refused" and known.reason in OF_THE_USER and known.host and known.port:
            host = f"[{known.host}]" if ":" in known.host else known.host
            place = host if known.port == 443 else f"{host}:{known.port}"  # noqa: PLR2004 - the usual port
            found[place] = found.get(place, 0) + known.count
    return found


def refusals(tries: Iterable[Try], who: str, line: Callable[[str], str] = host_line) -> Iterator[str]:
    for host in refused(tries):
        allow = f"add it to the list in [network] of your config.toml: {line(host)}"
        more = f". {NOT_SHARED}" if is_here(host) else ""
        yield f"{who} was refused {host}. To allow it, {allow}{more}"
