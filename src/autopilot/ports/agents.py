"""What a step may touch, and what adapters must be. Real and scripted versions live in their own packages."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

import msgspec

from autopilot.domain.agent_call import Asking, Call, Reply
from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import Entry, Event
from autopilot.domain.evidence import Change, CommandRun, FileTexts, Finding
from autopilot.domain.phase import Criterion, PhaseFiles, PhaseType, Plan
from autopilot.domain.results import StepResult
from autopilot.domain.settings import Commands
from autopilot.domain.value import Value
from autopilot.domain.verdict import Verdict
from autopilot.domain.visual import Looking, NotLooking
from autopilot.history.record import PhaseRecord, RunRecord

A = TypeVar("A", bound=msgspec.Struct)


class Agent(Protocol):
    """A coding agent. One call, one process or less; it never raises for what an agent may do wrong."""

    def call(self, call: Call, started: Callable[[int], None]) -> Reply: ...


class Journal(Protocol):
    """Append-only streams of entries."""

    def load(self, stream: str) -> tuple[Entry, ...]: ...

    def append(self, stream: str, number: int, event: Event) -> Entry:
        """On disk when this returns. `number` must be the stream's length, so that two writers cannot both succeed."""
        ...

    def streams(self) -> tuple[str, ...]:
        """Every stream in the order of its first entry."""
        ...


class Landing(Value, frozen=True, kw_only=True):
    landed: bool
    note: str = ""


class Merging(Value, frozen=True, kw_only=True):
    """Two lines of work in one commit; None, with the paths both of them changed, when they do not go together."""

    commit: str | None
    conflicts: tuple[str, ...] = ()


class Taken(Value, frozen=True, kw_only=True):
    """
    What an agent left below `.planning/` against what was laid there: path to text, None for a file it removed.

    `refused` names, with the reason, what was not read: links, pipes, devices, files too big or with a second name.
    """

    changes: dict[str, str | None] = {}
    refused: tuple[str, ...] = ()


class Workspace(Protocol):
    """Autopilot's own repository, agents' clones, disposable checkouts, landing. `files` are laid over a tree."""

    def clone(self, commit: str, files: Mapping[str, str]) -> str:
        """The folder an agent works in: `commit`, clean, with `.planning/` replaced by `files`."""
        ...

    def seal(self, folder: str, base: str, message: str) -> Change:
        """Commit durably what changed in the folder on top of `base`; `.planning` and `.autopilot` are left out."""
        ...

    def portion(self, whole: Change, paths: Collection[str], onto: str, message: str) -> Change:
        """Commit durably on top of `onto` what `whole` did to those paths."""
        ...

    def reopen(self) -> str | None:
        """
        The agent's folder as it was left, nothing reset: for a step cut off after its agent had answered.

        None when it is no longer there as a whole (a cleared cache): then the agent must be asked again.
        """
        ...

    def sealed(self, base: str, step: str) -> Change | None:
        """The commit an earlier, cut-off try of the step already made on `base`, found by its trailer."""
        ...

    def keep_interrupted(self, folder: str, base: str, step: str) -> str | None:
        """Keep half-done work under `refs/autopilot/interrupted/`; the ref's name, or None when there is none."""
        ...

    def planning_changes(self, folder: str) -> Taken:
        """
        What the agent did below `.planning/` of the folder since the folder was laid out, by whatever process.

        Read without following anything out of it.
        """
        ...

    def checkout(self, commit: str, files: Mapping[str, str]) -> AbstractContextManager[str]:
        """A separate, disposable checkout; gone afterwards."""
        ...

    def taken_up(self, folder: str) -> AbstractContextManager[str]:
        """A checkout that an earlier process made and somebody still works in, as it is; gone afterwards."""
        ...

    def change(self, base: str, commit: str) -> Change: ...

    def read(self, commit: str, path: str) -> str | None:
        """The text of a file in the commit; None when there is no such regular file."""
        ...

    def tree(self, commit: str) -> str:
        """The git tree of the commit without `.planning` and `.autopilot`: what a fact is about."""
        ...

    def file_sha256(self, path: str) -> str | None:
        """The hash of a file as it is in the user's checkout now; None when it is not there."""
        ...

    def dirty(self) -> tuple[str, ...]:
        """What is uncommitted in the user's checkout, `.planning` and `.autopilot` left out."""
        ...

    def planning_files(self) -> dict[str, str]:
        """The user's planning files as they were when the run started."""
        ...

    def commit_planning(self, commit: str, files: Mapping[str, str], message: str) -> str:
        """Where `.planning` is tracked, a commit of the files on top of `commit`; otherwise `commit` itself."""
        ...

    def commit_files(self, commit: str, files: Mapping[str, str], message: str) -> Change:
        """Commit texts durably on top of `commit`, without any checkout."""
        ...

    def write_planning(self, files: Mapping[str, str]) -> tuple[str, ...]:
        """Write artifacts into the user's `.planning/`; a file changed meanwhile is left, ours goes beside it."""
        ...

    def diff(self, base: str, commit: str) -> str: ...

    def texts(self, base: str, commit: str) -> tuple[FileTexts, ...]:
        """Every changed file as it was and as it is, read without a checkout; big and binary ones without text."""
        ...

    def wanted_texts(self, commit: str, wanted: Callable[[str], bool]) -> dict[str, str]:
        """The text files of the commit whose paths are wanted, up to a bound in number and size."""
        ...

    def revert(self, commit: str, base: str, message: str) -> str:
        """A commit on top of `commit` that brings the tree of `base` back; history is kept."""
        ...

    def branch(self, name: str, commit: str) -> str:
        """Point a branch of the user's repository at the commit; a taken name gets a suffix. The name used."""
        ...

    def merge(self, onto: str, commit: str, message: str) -> Merging:
        """Join the commit to `onto` durably, without any checkout; both stay in its history."""
        ...

    def land(self, commit: str) -> Landing:
        """Fast-forward the user's branch if that is possible without touching anything of theirs."""
        ...


class Diagnostics(Protocol):
    """
    Papers below `.autopilot/`. Each call may be repeated: what is there already is not written twice.

    Writing raises `StorageFailed`; whoever calls says so and goes on.
    """

    def write(self, name: str, text: str) -> None:
        """Replace the file of that name in `diagnostics/`."""
        ...

    def learn(self, entry: str) -> None:
        """Add to what this run has learnt."""
        ...

    def learnings(self) -> str:
        """What this run has learnt so far; empty when nothing."""
        ...


# "suite": all of the tests, so that new ones are left out; of "tests" the new ones stay.
Part = Literal["control", "tests", "suite", "sources"]


class Variant(Value, frozen=True, kw_only=True):
    """A commit beside the work: `paths` are in it as they were before. Without any it is the work itself."""

    commit: str
    paths: tuple[str, ...] = ()


class Canary(Value, frozen=True, kw_only=True):
    """
    A run beside a test that must fail: it passes when the command went red.

    `direct`: the command itself names the test runner, so nothing of the project stands between the two.
    """

    run: CommandRun
    direct: bool


class Receipts(Protocol):
    """Writes down what a phase was decided by. The same records give the same texts."""

    def files(
        self,
        record: PhaseRecord,
        run: RunRecord,
        outcome: PhaseOutcome,
        verdict: Verdict,
        earlier: tuple[PhaseRecord, ...] = (),
    ) -> dict[str, str]:
        """
        The receipt of the pass the phase stands on, by file name, its signature included if there is one.

        `earlier` are the passes whose work that one continues, oldest first.
        """
        ...


class FactMaker(Protocol):
    """Runs commands on disposable checkouts and writes down what happened."""

    def check(self, commit: str, criteria: Sequence[Criterion], files: Mapping[str, str]) -> tuple[CommandRun, ...]:
        """One fact a runnable criterion, with `files` laid over the checkout; the others are left out."""
        ...

    def repeated(
        self, commit: str, criteria: Sequence[Criterion], files: Mapping[str, str], times: int
    ) -> tuple[CommandRun, ...]:
        """The criteria so many times more, gates left out; of each the first red run, or the last."""
        ...

    def gates(self, commit: str, commands: Commands) -> tuple[CommandRun, ...]: ...

    def again(self, commit: str, command: str) -> CommandRun:
        """The test gate once more, whatever it said before; from now on a pass is what it said."""
        ...

    def canary(self, commit: str, command: str) -> Canary | None:
        """None when no test can be written for the command."""
        ...

    def variant(self, part: Part, change: Change, kept: Sequence[str]) -> Variant:
        """
        The change's commit with its control files, tests or sources as they were at its base.

        What `kept` names, by path or pattern, stays as the change left it.
        """
        ...

    def as_before(self, change: Change, commands: Sequence[str], kept: Sequence[str]) -> Variant:
        """The change's commit with the tests, and every check that the commands run, as they were at its base."""
        ...

    def recall(self, runs: Iterable[CommandRun]) -> None:
        """Facts made earlier in this run, as the journal has them: those that passed are not made again."""
        ...

    def unreferenced(self, commit: str, paths: Sequence[str]) -> tuple[str, ...]:
        """Those of the paths that no other file of the commit mentions by name."""
        ...

    def related(self, commit: str, paths: Sequence[str]) -> tuple[str, ...]:
        """The few files of the commit to read before changing the paths: themselves, their users, their neighbours."""
        ...

    def known(self, commit: str, text: str) -> tuple[str, ...]:
        """RMAP-07: what the text names that the commit already has, and where; nothing without a repository map."""
        ...

    def mapped(self, commit: str) -> int | None:
        """How many files the repository map of the commit has; None without a map."""
        ...

    def absent(self, commit: str, paths: Sequence[str]) -> tuple[str, ...]:
        """Those of the paths that the commit has neither as a file nor as a folder; nothing without a map."""
        ...

    def undefined(self, commit: str, names: Sequence[str]) -> tuple[str, ...]:
        """Those of the names in code that the commit neither defines nor imports; nothing without a map."""
        ...

    def content(self, change: Change, kind: PhaseType, claimed: Collection[str]) -> tuple[Finding, ...]:
        """
        What is wrong inside the files of the change, by the phase's type; what was so before it does not block.

        `claimed` are files the work was to bring.
        """
        ...

    def tampering(self, base: str, commit: str) -> tuple[Finding, ...]:
        """What in the change makes checks prove less than they did, by the rules of `policy/facts/tamper_rules.py`."""
        ...

    def tree(self, commit: str) -> str: ...


class Planning(Protocol):
    """Planning text to values."""

    def plan(self, text: str, tests: Mapping[str, str]) -> Plan:
        """Raises `ConfigInvalid` for what cannot be read as a plan with at least one task."""
        ...

    def phase_files(self, files: Mapping[str, str], phase: str, tests: Mapping[str, str]) -> PhaseFiles:
        """What the files of a phase's folder are, by their names, and the plan they make."""
        ...

    def problems(self, plan: Plan, record: PhaseRecord) -> tuple[Finding, ...]:
        """The mechanical part of plan-check."""
        ...


Listener = Callable[[str, Entry], None]
"""Told of every entry right after it is on disk: the stream and the entry. Listeners show; they never decide."""


class Clock(Protocol):
    def now(self) -> str:
        """UTC, ISO 8601 with milliseconds and a Z."""
        ...

    def monotonic(self) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """
    Everything outside the process, handed to a step. No globals, no context variables.

    `learnings` is what the run has learnt so far, for those who plan and build.
    """

    agents: Asking
    workspace: Workspace
    facts: FactMaker
    planning: Planning
    clock: Clock
    learnings: str = ""
    looks: Looking = field(default_factory=NotLooking)


class Step(Protocol):
    def __call__(self, record: PhaseRecord, tools: Tools) -> StepResult: ...
