"""All that is known of a run and of one pass of a phase: ordered entries, never edited, and what they tell."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeVar

import msgspec

from autopilot.domain.events import (
    AgentAnswered,
    CompletionFinished,
    CompletionStarted,
    Entry,
    Event,
    MergeRefused,
    Noted,
    PhaseFinished,
    PhaseLanded,
    PhaseMerged,
    PhaseSkipped,
    PhaseStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    StepFinished,
    StepStarted,
    VerdictGiven,
    WaitEnded,
    WaitStarted,
)
from autopilot.domain.moments import elapsed
from autopilot.domain.passes import Brief, PhaseOutcome, Spec
from autopilot.domain.person import ruling
from autopilot.domain.phase import Phase, Plan, Task
from autopilot.domain.results import PlanChecked, StepResult, Triaged
from autopilot.domain.run_caps import capped
from autopilot.domain.settings import Limits
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance, AskHuman, Retry
from autopilot.domain.waits import Waited, waits_of

R = TypeVar("R")
Stretch = tuple[tuple[tuple[str, int], ...], float]
"""Passes by phase and number that were worked on, and the seconds it took."""


class PhaseRecord(Value, frozen=True, kw_only=True, dict=True):
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

    @cached_property
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
        """
        The tasks of this pass: the plan's that are not done, or in a remediation the one its feedback makes.

        What a person had to look at, and found wanting, they may have to look at again.
        """
        if self.brief.cycle:
            planned = self.brief.plan.tasks if self.brief.plan and self.brief.found else ()
            return (remediation_task(self.brief), *(task for task in planned if task.type != "auto"))
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
    """
    A finished pass and what the run knew before it.

    `loop` is where work that falls short is mended, `turn` this pass's number in it (0: the loop has not begun),
    `cycles_left` how many passes it has left. `stood` is the score the phase stood on before, `gaps_open` how many
    shortcomings a loop of their own could take on behind this one.
    """

    outcome: PhaseOutcome
    cycles_left: int
    threshold: float
    completed_before: bool
    loop: Literal["standard", "quality", "gaps"] = "standard"
    turn: int = 0
    stood: float | None = None
    gaps_open: int = 0


class RunRecord(Value, frozen=True, kw_only=True, dict=True):
    """A value of its entries; what is asked of it again and again is worked out once."""

    entries: tuple[Entry, ...] = ()

    def of(self, kind: type[R]) -> Iterator[R]:
        return (e.event for e in self.entries if isinstance(e.event, kind))

    @cached_property
    def start(self) -> RunStarted:
        return next(self.of(RunStarted))

    @cached_property
    def resumes(self) -> tuple[str, ...]:
        """When the run was taken up again."""
        return tuple(entry.at for entry in self.entries if isinstance(entry.event, RunResumed))

    @cached_property
    def spec(self) -> Spec:
        """AMB-23: the specification as it was locked last, at the start or at a resume."""
        return next((resumed.spec for resumed in reversed(tuple(self.of(RunResumed)))), self.start.spec)

    @cached_property
    def limits(self) -> Limits:
        """The limits with the caps as they were given last."""
        limits = self.start.settings.limits
        for resumed in self.of(RunResumed):
            limits = capped(limits, resumed.caps)
        return limits

    def passes(self, phase: str) -> tuple[PhaseFinished, ...]:
        """Every finished pass of the phase."""
        return tuple(f for f in self._told.get(phase, ()) if isinstance(f, PhaseFinished) and f.outcome.phase == phase)

    def retried(self, phase: str) -> bool:
        """Whether the phase got another chance after it had failed."""
        return any(isinstance(event, RunResumed) for event in self._told.get(phase, ()))

    def standing(self, phase: str) -> tuple[PhaseFinished, ...]:
        """The passes that count: all of them, or those since the phase got another chance; a person's word included."""
        return judged(self._since_retry(phase))

    def verdict_on(self, phase: str) -> VerdictGiven | None:
        """The newest word of a person on the phase."""
        return next((v for v in reversed(self._told.get(phase, ())) if isinstance(v, VerdictGiven)), None)

    def skipped(self, phase: str) -> PhaseSkipped | None:
        return next((s for s in self._since_retry(phase) if isinstance(s, PhaseSkipped)), None)

    def _since_retry(self, phase: str) -> Sequence[Event]:
        told = self._told.get(phase, ())
        chances = [n for n, event in enumerate(told) if _begins_anew(event, phase)]
        return told[chances[-1] + 1 :] if chances else told

    @cached_property
    def _told(self) -> dict[str, list[Event]]:
        """What happened to each phase, in order; to be given another chance is among it."""
        told: dict[str, list[Event]] = {}
        for entry in self.entries:
            for phase in _concerned(entry.event):
                told.setdefault(phase, []).append(entry.event)
        return told

    def landed(self, phase: str) -> PhaseLanded | None:
        return next((p for p in self._told.get(phase, ()) if isinstance(p, PhaseLanded)), None)

    def merged(self, phase: str) -> PhaseMerged | None:
        """How the phase's work became part of the line, if it did since the phase got its chance."""
        return next((m for m in self._since_retry(phase) if isinstance(m, PhaseMerged)), None)

    @cached_property
    def briefs(self) -> tuple[Brief, ...]:
        """What every pass began with, in the order of their start."""
        return tuple(started.brief for started in self.of(PhaseStarted))

    @cached_property
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

    @cached_property
    def at_work(self) -> dict[tuple[str, int], str]:
        """When each pass that is open was started, by phase and number."""
        opened = {(brief.phase.id, brief.number) for brief in self.open_passes}
        begun = ((e.event.brief, e.at) for e in self.entries if isinstance(e.event, PhaseStarted))
        return {(b.phase.id, b.number): at for b, at in begun if (b.phase.id, b.number) in opened}

    @cached_property
    def stretches(self) -> tuple[tuple[Stretch, ...], Stretch]:
        """
        The run's time up to its newest entry: what is over, piece by piece, and what goes on.

        A piece with no pass open, or from where one is to where none is. It is measured by the run's own entries; what
        was before a crash and left none there is known to its passes. While all that is open waits, no time passes.
        """
        over: list[Stretch] = []
        begun, open_now, waiting, seconds = list[tuple[str, int]](), set[str](), dict[str, str](), 0.0
        for entry, after in pairwise((*self.entries, None)):
            assert entry is not None
            was_open = bool(open_now)
            _moved(entry.event, open_now, waiting)
            if was_open != bool(open_now):
                over.append((tuple(begun), seconds))
                begun, seconds = [], 0.0
            if isinstance(entry.event, PhaseStarted):
                begun.append((entry.event.brief.phase.id, entry.event.brief.number))
            lies_still = bool(waiting) and open_now <= set(waiting.values())
            if after is not None and not isinstance(after.event, RunResumed) and not lies_still:
                seconds += elapsed(entry.at, after.at)
        return tuple(over), (tuple(begun), seconds)

    @cached_property
    def waits(self) -> tuple[Waited, ...]:
        """The times in which nobody could be asked for a call."""
        return waits_of(self.entries)

    @property
    def lies_still(self) -> bool:
        """Whether all that is open waits for an agent."""
        waiting = {wait.phase for wait in self.waits if not wait.end}
        return bool(waiting) and {brief.phase.id for brief in self.open_passes} <= waiting

    @property
    def completing(self) -> Brief | None:
        """What the steps behind the last phase began with, if they have begun."""
        return next((started.brief for started in self.of(CompletionStarted)), None)

    @property
    def completion(self) -> CompletionFinished | None:
        return next(self.of(CompletionFinished), None)

    @property
    def end(self) -> Event | None:
        """
        How the run was left: finished, stopped, or None while it goes on, after a crash, or with a verdict to heed.

        What is noted after the end does not open a run again.
        """
        last = next((e.event for e in reversed(self.entries) if not isinstance(e.event, Noted)), None)
        return last if isinstance(last, RunFinished | RunStopped) else None


def judged(events: Iterable[Event]) -> tuple[PhaseFinished, ...]:
    """The ends of all passes, each with what a person made of it, if it waited for one."""
    ends: list[PhaseFinished] = []
    for event in events:
        if isinstance(event, PhaseFinished):
            ends.append(event)
        elif isinstance(event, VerdictGiven):
            last = next((n for n, end in reversed(tuple(enumerate(ends))) if end.outcome.phase == event.phase), None)
            if last is not None:
                ends[last] = ruled(ends[last], event)
    return tuple(ends)


def ruled(finished: PhaseFinished, word: VerdictGiven) -> PhaseFinished:
    """The end of a pass with a person's word on it; one that did not wait for any stays as it is."""
    if not isinstance(finished.verdict, AskHuman):
        return finished
    return msgspec.structs.replace(finished, verdict=ruling(word.verdict, word.issues))


def _moved(event: Event, open_now: set[str], waiting: dict[str, str]) -> None:
    """Keep up what is open, and by call the phases that wait."""
    match event:
        case PhaseStarted(brief=brief):
            open_now.add(brief.phase.id)
            _waits_no_more(waiting, brief.phase.id)
        case PhaseFinished(outcome=outcome):
            open_now.discard(outcome.phase)
            _waits_no_more(waiting, outcome.phase)
        case WaitStarted(call=call, phase=phase):
            waiting[call] = phase
        case WaitEnded(call=call):
            waiting.pop(call, None)


def _waits_no_more(waiting: dict[str, str], phase: str) -> None:
    for call in [call for call, whose in waiting.items() if whose == phase]:
        del waiting[call]


def _concerned(event: Event) -> tuple[str, ...]:
    """The phases an event of the run is about. From a second chance on earlier passes no longer count."""
    match event:
        case RunResumed(retry=retry):
            return retry
        case PhaseFinished(outcome=outcome):
            parts = outcome.split_details.recommended_sub_phases if outcome.split_details else ()
            return (outcome.phase, *(part.sub_phase_id for part in parts if outcome.status == "split_request"))
        case PhaseSkipped() | PhaseLanded() | PhaseMerged() | MergeRefused() | VerdictGiven():
            return (event.phase,)
    return ()


def _begins_anew(event: Event, phase: str) -> bool:
    """Whether from here on earlier passes of the phase no longer count: another chance, or a split it is part of."""
    if isinstance(event, PhaseFinished):
        return event.outcome.phase != phase
    return isinstance(event, RunResumed | MergeRefused)
