"""All that is known of a run and of one pass of a phase: ordered entries, never edited, and what they tell."""

from collections.abc import Iterator
from typing import TypeVar

from autopilot.domain.events import (
    AgentAnswered,
    Brief,
    Entry,
    Event,
    PhaseFinished,
    PhaseLanded,
    PhaseSkipped,
    PhaseStarted,
    RunFinished,
    RunStarted,
    RunStopped,
    StepFinished,
    StepStarted,
)
from autopilot.domain.phase import Phase, Plan, Task
from autopilot.domain.results import PlanChecked, StepResult
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance, Retry

R = TypeVar("R")


class PhaseRecord(Value, frozen=True, kw_only=True):
    """One pass of one phase. `start` is the run's first event, `brief` what this pass began with."""

    start: RunStarted
    brief: Brief
    entries: tuple[Entry, ...] = ()

    @property
    def phase(self) -> Phase:
        return self.brief.phase

    @property
    def finished(self) -> tuple[StepFinished, ...]:
        return tuple(e.event for e in self.entries if isinstance(e.event, StepFinished))

    @property
    def commit(self) -> str:
        """The tip of this pass's work: what the last finished step left, or the base."""
        return self.finished[-1].commit if self.finished else self.brief.base

    @property
    def open_step(self) -> StepStarted | None:
        """The step that was started and never finished, if any."""
        for entry in reversed(self.entries):
            if isinstance(entry.event, StepFinished):
                return None
            if isinstance(entry.event, StepStarted):
                return entry.event
        return None

    def results(self, kind: type[R]) -> Iterator[R]:
        return (f.result for f in self.finished if isinstance(f.result, kind))

    def find(self, kind: type[R]) -> R | None:
        """The newest result of that kind, or None."""
        return next((f.result for f in reversed(self.finished) if isinstance(f.result, kind)), None)

    def latest(self, kind: type[R]) -> R:
        """The newest result of that kind. Its absence is a bug in the pipeline's order."""
        found = self.find(kind)
        if found is None:
            raise LookupError(f"no {kind.__name__} yet in phase {self.phase.id!r}")
        return found

    def last(self) -> StepResult:
        return self.finished[-1].result

    def attempts(self, step: str) -> int:
        return sum(f.step == step for f in self.finished)

    def complaint(self) -> str | None:
        """Why the last gate sent work back, if it did."""
        last = self.finished[-1].verdict if self.finished else None
        return last.because if isinstance(last, Retry) else None

    def answered(self, call: str) -> AgentAnswered | None:
        return next(
            (e.event for e in self.entries if isinstance(e.event, AgentAnswered) and e.event.call == call), None
        )

    @property
    def plan(self) -> Plan | None:
        """The accepted plan: the newest one plan-check let through, else the one this pass was given."""
        for done in reversed(self.finished):
            if isinstance(done.result, PlanChecked) and isinstance(done.verdict, Advance):
                return done.result.plan
        return self.brief.plan if self.brief.cycle else None

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of this pass: the plan's, or in a remediation the one task its feedback makes."""
        if self.brief.cycle:
            return (remediation_task(self.brief),)
        return self.plan.tasks if self.plan else ()


def remediation_task(brief: Brief) -> Task:
    """REMD-01: a remediation does only what its feedback asks for; every criterion of the plan must go on holding."""
    plan = brief.plan
    criteria = tuple(c for task in plan.tasks for c in task.criteria) if plan else ()
    return Task(
        id=f"{brief.phase.id}-R{brief.cycle}",
        title=f"remediation {brief.cycle}",
        action="\n".join(f"- {item}" for item in brief.feedback),
        criteria=criteria,
    )


class RunRecord(Value, frozen=True, kw_only=True):
    entries: tuple[Entry, ...] = ()

    def of(self, kind: type[R]) -> Iterator[R]:
        return (e.event for e in self.entries if isinstance(e.event, kind))

    @property
    def start(self) -> RunStarted:
        return next(self.of(RunStarted))

    def passes(self, phase: str) -> tuple[PhaseFinished, ...]:
        return tuple(f for f in self.of(PhaseFinished) if f.outcome.phase == phase)

    def skipped(self, phase: str) -> PhaseSkipped | None:
        return next((s for s in self.of(PhaseSkipped) if s.phase == phase), None)

    def landed(self, phase: str) -> PhaseLanded | None:
        return next((p for p in self.of(PhaseLanded) if p.phase == phase), None)

    @property
    def open_phase(self) -> Brief | None:
        """The pass that was started and has not finished, if any."""
        for entry in reversed(self.entries):
            if isinstance(entry.event, PhaseFinished):
                return None
            if isinstance(entry.event, PhaseStarted):
                return entry.event.brief
        return None

    @property
    def end(self) -> Event | None:
        """How the run was left: finished, stopped, or None while it goes on or after a crash."""
        last = self.entries[-1].event if self.entries else None
        return last if isinstance(last, RunFinished | RunStopped) else None
