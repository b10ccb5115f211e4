"""A step's tools without the world: facts by the commands that hold, agents by what they are to answer."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import msgspec

from autopilot.domain.agent_call import Answered, Question, Worked
from autopilot.domain.evidence import Change, CommandRun, FileChange, Finding
from autopilot.domain.phase import Criterion, PhaseType, Plan
from autopilot.domain.settings import Commands
from autopilot.history.record import PhaseRecord
from autopilot.journal.clock import TickingClock
from autopilot.planning.plan.problems import PlanReader
from autopilot.ports.agents import Canary, Part, Tools, Variant, Workspace
from support.records import SPEC, TREE, change, ran

A = TypeVar("A", bound=msgspec.Struct)


@dataclass(slots=True)
class SaidFacts:
    """Every command in `holding` passes, on every tree; what was asked for is kept."""

    holding: frozenset[str] = frozenset()
    orphans: frozenset[str] = frozenset()
    lacking: frozenset[str] = frozenset()
    places: Mapping[str, str] = field(default_factory=dict)
    inside: tuple[Finding, ...] = ()
    tampered: tuple[Finding, ...] = ()
    asked: list[tuple[str, tuple[str, ...], dict[str, str]]] = field(default_factory=list)

    def check(self, commit: str, criteria: Sequence[Criterion], files: Mapping[str, str]) -> tuple[CommandRun, ...]:
        commands = tuple((c.id, c.command) for c in criteria if c.command and not c.behavioural)
        self.asked.append((commit, tuple(command for _, command in commands), dict(files)))
        return tuple(ran(name, passed=command in self.holding, command=command) for name, command in commands)

    def repeated(
        self, commit: str, criteria: Sequence[Criterion], files: Mapping[str, str], times: int
    ) -> tuple[CommandRun, ...]:
        return ()

    def gates(self, commit: str, commands: Commands) -> tuple[CommandRun, ...]:
        return tuple(ran(name, passed=c in self.holding, command=c) for name, c in commands.configured())

    def again(self, commit: str, command: str) -> CommandRun:
        return ran("test", passed=command in self.holding, command=command)

    def canary(self, commit: str, command: str) -> Canary | None:
        return None

    def variant(self, part: Part, change: Change, kept: Sequence[str]) -> Variant:
        return Variant(commit=change.commit)

    def as_before(self, change: Change, commands: Sequence[str], kept: Sequence[str]) -> Variant:
        return Variant(commit=change.commit)

    def recall(self, runs: Iterable[CommandRun]) -> None:
        """Every command holds or fails as it was told to."""

    def unreferenced(self, commit: str, paths: Sequence[str]) -> tuple[str, ...]:
        return tuple(path for path in paths if path in self.orphans)

    def related(self, commit: str, paths: Sequence[str]) -> tuple[str, ...]:
        return tuple(paths)

    def known(self, commit: str, text: str) -> tuple[str, ...]:
        return tuple(place for name, place in self.places.items() if name in text)

    def mapped(self, commit: str) -> int | None:
        return len(self.places) or None

    def absent(self, commit: str, paths: Sequence[str]) -> tuple[str, ...]:
        return tuple(path for path in paths if path in self.lacking)

    def undefined(self, commit: str, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in self.lacking)

    def content(self, change: Change, kind: PhaseType, claimed: Collection[str]) -> tuple[Finding, ...]:
        return self.inside

    def tampering(self, base: str, commit: str) -> tuple[Finding, ...]:
        return self.tampered

    def tree(self, commit: str) -> str:
        return TREE


@dataclass(slots=True)
class SaidAgents:
    """Answers every question of a role with the value for it; a question without one is an error."""

    values: Mapping[str, msgspec.Struct] = field(default_factory=dict)
    wrote: Mapping[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def ask(self, question: Question[A]) -> Answered[A]:
        self.asked.append(question.role)
        return Answered(value=cast("A", self.values[question.role]), wrote=self.wrote, seconds=1.0)

    def work(self, question: Question[A], message: str, onto: str) -> Worked[A]:
        self.asked.append(message)
        return Worked(value=cast("A", self.values[question.role]), change=change(onto, "new"), findings=())


@dataclass(slots=True)
class SaidPlanning:
    """The real reader of plans, with findings of our own choice."""

    findings: tuple[Finding, ...] = ()

    def plan(self, text: str, tests: Mapping[str, str]) -> Plan:
        return PlanReader().plan(text, tests)

    def problems(self, plan: Plan, record: PhaseRecord) -> tuple[Finding, ...]:
        return self.findings


@dataclass(slots=True)
class SaidWorkspace:
    """The few things a step asks about the user's checkout."""

    sha256: str | None = SPEC.sha256
    changed: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    differs: str = ""

    def diff(self, base: str, commit: str) -> str:
        return self.differs

    def file_sha256(self, path: str) -> str | None:
        return self.sha256

    def dirty(self) -> tuple[str, ...]:
        return self.changed

    def planning_files(self) -> dict[str, str]:
        return dict(self.files)

    def change(self, base: str, commit: str) -> Change:
        files = tuple(FileChange(path=path, status="A") for path in self.new)
        return msgspec.structs.replace(change(base, commit), files=files)

    def tree(self, commit: str) -> str:
        return f"tree of {commit}"


def tools(**more: Any) -> Tools:
    parts: dict[str, Any] = {
        "agents": SaidAgents(),
        "workspace": cast("Workspace", SaidWorkspace()),
        "facts": SaidFacts(),
        "planning": SaidPlanning(),
        "clock": TickingClock(),
        **more,
    }
    return Tools(**parts)
