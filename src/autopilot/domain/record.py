"""All that is known of a run and of one pass of a phase: ordered entries, never edited, and what they tell."""

from collections.abc import Iterator
from typing import TypeVar

from autopilot.domain.events import (
    AgentAnswered,
    Brief,
    CompletionFinished,
    CompletionStarted,
    Entry,
    Event,
    MergeRefused,
    PhaseFinished,
    PhaseLanded,
    PhaseMerged,
    PhaseOutcome,
    PhaseSkipped,
    PhaseStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    Spec,
    StepFinished,
    StepStarted,
)
from autopilot.domain.phase import Phase, Plan, Task
from autopilot.domain.results import PlanChecked, StepResult, Triaged
from autopilot.domain.run_caps import capped
from autopilot.domain.settings import Limits
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance, Retry

R = TypeVar("R")


class PhaseRecord(Value, frozen=True, kw_only=True):
    """
    One pass of one phase. `start` is the run's first event, `brief` what this pass began with.

    `shown` are planning files of other phases that belong to what is looked at: at a run's end the accepted plans.
    """

    start: RunStarted
    brief: Brief
    entries: tuple[Entry, ...] = ()
    shown: dict[str, str] = {}

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
        """The newest answer to the call: one that had to be asked again counts as it was answered last."""
        answers = (e.event for e in reversed(self.entries) if isinstance(e.event, AgentAnswered))
        return next((answer for answer in answers if answer.call == call), None)

    @property
    def plan(self) -> Plan | None:
        """
        The accepted plan: the newest one plan-check let through.

        Before there is one: the plan this pass was given, if it mends earlier work or only checks what is there.
        """
        for done in reversed(self.finished):
            if isinstance(done.result, PlanChecked) and isinstance(done.verdict, Advance):
                return done.result.plan
        triaged, given = self.find(Triaged), self.brief.plan
        only_checked = triaged is not None and triaged.routing == "verify_only"
        in_force = self.brief.cycle or (only_checked and given is not None and given.existed_before)
        return given if in_force else None

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of this pass: the plan's that are not done, or in a remediation the one its feedback makes."""
        if self.brief.cycle:
            return (remediation_task(self.brief),)
        return tuple(t for t in self.plan.tasks if t.id not in self.brief.done) if self.plan else ()


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


class PassEnd(Value, frozen=True, kw_only=True):
    """A finished pass and what the run knew before it."""

    outcome: PhaseOutcome
    cycle: int
    cycles_limit: int
    threshold: float
    completed_before: bool


class RunRecord(Value, frozen=True, kw_only=True):
    entries: tuple[Entry, ...] = ()

    def of(self, kind: type[R]) -> Iterator[R]:
        return (e.event for e in self.entries if isinstance(e.event, kind))

    @property
    def start(self) -> RunStarted:
        return next(self.of(RunStarted))

    @property
    def spec(self) -> Spec:
        """AMB-23: the specification as it was locked last, at the start or at a resume."""
        return next((resumed.spec for resumed in reversed(tuple(self.of(RunResumed)))), self.start.spec)

    @property
    def limits(self) -> Limits:
        """The limits with the caps as they were given last."""
        limits = self.start.settings.limits
        for resumed in self.of(RunResumed):
            limits = capped(limits, resumed.caps)
        return limits

    def passes(self, phase: str) -> tuple[PhaseFinished, ...]:
        """Every finished pass of the phase."""
        return tuple(f for f in self.of(PhaseFinished) if f.outcome.phase == phase)

    def retried(self, phase: str) -> bool:
        """Whether the phase got another chance after it had failed."""
        return any(phase in resumed.retry for resumed in self.of(RunResumed))

    def standing(self, phase: str) -> tuple[PhaseFinished, ...]:
        """The passes that count: all of them, or those since the phase got another chance."""
        return tuple(f for f in self._since_retry(phase) if isinstance(f, PhaseFinished) and f.outcome.phase == phase)

    def skipped(self, phase: str) -> PhaseSkipped | None:
        skips = (s for s in self._since_retry(phase) if isinstance(s, PhaseSkipped))
        return next((s for s in skips if s.phase == phase), None)

    def _since_retry(self, phase: str) -> tuple[Event, ...]:
        events = tuple(entry.event for entry in self.entries)
        chances = [i for i, e in enumerate(events) if _begins_anew(e, phase)]
        return events[chances[-1] + 1 :] if chances else events

    def landed(self, phase: str) -> PhaseLanded | None:
        return next((p for p in self.of(PhaseLanded) if p.phase == phase), None)

    def merged(self, phase: str) -> PhaseMerged | None:
        """How the phase's work became part of the line, if it did since the phase got its chance."""
        merges = (m for m in self._since_retry(phase) if isinstance(m, PhaseMerged))
        return next((m for m in merges if m.phase == phase), None)

    @property
    def open_passes(self) -> tuple[Brief, ...]:
        """The passes that were started and have not finished, in the order of their start; at most one a phase."""
        found: dict[str, Brief] = {}
        for entry in self.entries:
            if isinstance(entry.event, PhaseStarted):
                found[entry.event.brief.phase.id] = entry.event.brief
            elif isinstance(entry.event, PhaseFinished):
                found.pop(entry.event.outcome.phase, None)
        return tuple(found.values())

    @property
    def open_phase(self) -> Brief | None:
        """The newest pass that was started and has not finished, if any."""
        return next(reversed(self.open_passes), None)

    @property
    def completing(self) -> Brief | None:
        """What the steps behind the last phase began with, if they have begun."""
        return next((started.brief for started in self.of(CompletionStarted)), None)

    @property
    def completion(self) -> CompletionFinished | None:
        return next(self.of(CompletionFinished), None)

    @property
    def end(self) -> Event | None:
        """How the run was left: finished, stopped, or None while it goes on or after a crash."""
        last = self.entries[-1].event if self.entries else None
        return last if isinstance(last, RunFinished | RunStopped) else None


def _begins_anew(event: Event, phase: str) -> bool:
    """Whether from here on earlier passes of the phase no longer count."""
    match event:
        case RunResumed(retry=retry):
            return phase in retry
        case MergeRefused(phase=refused):
            return refused == phase
    return False
