"""All that is known of a run and of one pass of a phase: ordered entries, never edited, and what they tell."""

from collections.abc import Iterator
from functools import cached_property
from typing import Literal, TypeVar

from autopilot.domain.attempt import Brief, PhaseOutcome, Spec
from autopilot.domain.errors import TOO_MUCH
from autopilot.domain.events import (
    AgentAnswered,
    CompletionFinished,
    CompletionStarted,
    Entry,
    Event,
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
    WaitStarted,
)
from autopilot.domain.phase import Phase, Plan, Task
from autopilot.domain.results import PlanChecked, StepResult, Triaged, Unanswered
from autopilot.domain.settings import Limits, capped
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance, Retry
from autopilot.history.run_index import Chronicle, Times
from autopilot.history.waits import Waited, waits_of

R = TypeVar("R")


class PhaseRecord(Value, frozen=True, kw_only=True, dict=True):
    """
    One pass of one phase. `start` is the run's first event, `brief` what this pass began with.

    `shown` are planning files of other phases that belong to what is looked at: at a run's end the accepted plans.
    `kept` are the entries of the pass that this one continues, up to where it takes over.
    """

    start: RunStarted
    brief: Brief
    entries: tuple[Entry, ...] = ()
    shown: dict[str, str] = {}
    kept: tuple[Entry, ...] = ()

    @property
    def phase(self) -> Phase:
        return self.brief.phase

    @property
    def history(self) -> tuple[Entry, ...]:
        """What this pass rests on: the entries it kept, then its own."""
        return (*self.kept, *self.entries)

    @cached_property
    def finished(self) -> tuple[StepFinished, ...]:
        """The finished steps of this pass, those of the pass it continues included."""
        return tuple(e.event for e in self.history if isinstance(e.event, StepFinished))

    @property
    def own_finished(self) -> tuple[StepFinished, ...]:
        return tuple(e.event for e in self.entries if isinstance(e.event, StepFinished))

    @property
    def counted(self) -> tuple[StepFinished, ...]:
        """The finished steps that count toward limits on tries: all, or those since a person asked for a retry."""
        continues = self.brief.continues
        return self.own_finished if continues and continues.fresh else self.finished

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
        """Why the last gate sent work back, if it did. An answer that could not be used is no reason of a gate."""
        if self.brief.continues and self.brief.continues.because and not self.own_finished:
            return self.brief.continues.because
        last = next((s.verdict for s in reversed(self.finished) if not isinstance(s.result, Unanswered)), None)
        return last.because if isinstance(last, Retry) else None

    @property
    def unusable(self) -> str:
        """What was wrong with the last answer of the step that is asked again; empty if nothing was."""
        if self.brief.continues and not self.own_finished:
            return self.brief.continues.unusable
        last = self.finished[-1].result if self.finished else None
        return last.detail if isinstance(last, Unanswered) and last.outcome in {"bad_output", TOO_MUCH} else ""

    @property
    def swollen(self) -> bool:
        """Whether the last try at this step left more than may be committed: its folder is as it was."""
        last = self.finished[-1].result if self.finished else None
        return isinstance(last, Unanswered) and last.outcome == TOO_MUCH

    def answered(self, call: str) -> AgentAnswered | None:
        """The newest answer to the call: one that had to be asked again counts as it was answered last."""
        answers = (e.event for e in reversed(self.entries) if isinstance(e.event, AgentAnswered))
        return next((answer for answer in answers if answer.call == call), None)

    @property
    def plan(self) -> Plan | None:
        """
        The accepted plan: the newest one plan-check let through.

        Before there is one: the plan this pass was given, if it was accepted before, if the pass fixes earlier work, or
        if it only checks what is there.
        """
        if plans := self._let_through():
            return plans[-1]
        triaged, given = self.find(Triaged), self.brief.plan
        only_checked = triaged is not None and triaged.routing == "verify_only"
        users = only_checked and given is not None and given.existed_before
        return given if self.brief.cycle or self.brief.is_promised or users else None

    @property
    def replaced_plans(self) -> tuple[Plan, ...]:
        """The plans of this phase that were accepted before the one in force. What they ask for must still hold."""
        given = (self.brief.plan,) if self.brief.plan and self.brief.is_promised else ()
        plans = {plan.sha256: plan for plan in (*self.brief.accepted_before, *given, *self._let_through())}
        return tuple(plan for sha256, plan in plans.items() if self.plan and sha256 != self.plan.sha256)

    def _let_through(self) -> tuple[Plan, ...]:
        """The plans that plan-check let through in this pass, in order."""
        steps = ((step.result, step.verdict) for step in self.finished)
        return tuple(r.plan for r, verdict in steps if isinstance(r, PlanChecked) and isinstance(verdict, Advance))

    @property
    def tasks(self) -> tuple[Task, ...]:
        """
        The tasks of this pass: the plan's that are not done, or in a remediation the one its feedback makes.

        What a person had to look at, and found wanting, they may have to look at again.
        """
        if self.brief.cycle:
            planned = self.brief.plan.tasks if self.brief.plan and self.brief.found else ()
            return (remediation_task(self.brief), *(task for task in planned if task.type != "auto"))
        plan = self.plan
        return tuple(task for task in plan.tasks if task.id not in self.brief.done_under(plan)) if plan else ()


def kept_entries(brief: Brief, continued: PhaseRecord) -> tuple[Entry, ...]:
    """What a pass keeps of the one it continues: everything up to the end of the last step that still counts."""
    assert brief.continues is not None
    history = continued.history
    ends = [0, *(at for at, entry in enumerate(history, start=1) if isinstance(entry.event, StepFinished))]
    return history[: ends[brief.continues.steps]]


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
    shortcomings a loop of their own could take on behind this one. `marked_done`: the roadmap says the phase is done.
    """

    outcome: PhaseOutcome
    cycles_left: int
    threshold: float
    completed_before: bool
    loop: Literal["standard", "quality", "gaps"] = "standard"
    turn: int = 0
    stood: float | None = None
    gaps_open: int = 0
    marked_done: bool = False


class RunRecord(Value, frozen=True, kw_only=True, dict=True):
    """A value of its entries; what is asked of it again and again is worked out once."""

    entries: tuple[Entry, ...] = ()

    def grown(self, entries: tuple[Entry, ...]) -> "RunRecord":
        """The run with more entries behind those it has; what these tell is not worked out again."""
        record = RunRecord(entries=entries)
        new = entries[len(self.entries) :]
        record.__dict__["chronicle"] = self.chronicle.after(new)
        if "times" in self.__dict__:
            record.__dict__["times"] = self.times.after(new)
        return record

    @cached_property
    def chronicle(self) -> Chronicle:
        return Chronicle().after(self.entries)

    @cached_property
    def times(self) -> Times:
        return Times().after(self.entries)

    def places(self, kind: type[Event]) -> tuple[int, ...]:
        """Where among the entries events of that kind are."""
        return self.chronicle.places.get(kind, ())

    def of(self, kind: type[R]) -> Iterator[R]:
        found = (self.entries[at].event for at in self.chronicle.places.get(kind, ()))
        return (event for event in found if isinstance(event, kind))

    @cached_property
    def start(self) -> RunStarted:
        """What the run began with, and what it took of a roadmap that was edited since."""
        taken = next((resumed.roadmap for resumed in reversed(tuple(self.of(RunResumed))) if resumed.roadmap), None)
        return next(self.of(RunStarted)).going_by(taken)

    @cached_property
    def resumes(self) -> tuple[str, ...]:
        """When the run was taken up again."""
        return tuple(self.entries[at].at for at in self.places(RunResumed))

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

    def begun(self, phase: str) -> tuple[Brief, ...]:
        """What the passes of the phase began with, in order."""
        return self.chronicle.begun.get(phase, ())

    def passes(self, phase: str) -> tuple[PhaseFinished, ...]:
        """Every finished pass of the phase."""
        return tuple(
            f for f in self.chronicle.told.get(phase, ()) if isinstance(f, PhaseFinished) and f.outcome.phase == phase
        )

    def retried(self, phase: str) -> bool:
        """Whether the phase got another chance after it had failed."""
        return any(isinstance(event, RunResumed) for event in self.chronicle.told.get(phase, ()))

    def retry_from(self, phase: str) -> str | None:
        """
        The step from which a person wants the phase retried; empty for the one that failed.

        None when no person asked for it.
        """
        resumed = (e for e in reversed(self.chronicle.told.get(phase, ())) if isinstance(e, RunResumed))
        newest = next(resumed, None)
        return newest.steps.get(phase) if newest else None

    def standing(self, phase: str) -> tuple[PhaseFinished, ...]:
        """The passes that count: all of them, or those since the phase got another chance; a person's word included."""
        return self.chronicle.standing.get(phase, ())

    def verdict_on(self, phase: str) -> VerdictGiven | None:
        """The newest word of a person on the phase."""
        return next((v for v in reversed(self.chronicle.told.get(phase, ())) if isinstance(v, VerdictGiven)), None)

    def skipped(self, phase: str) -> PhaseSkipped | None:
        return next((s for s in self.chronicle.since.get(phase, ()) if isinstance(s, PhaseSkipped)), None)

    def landed(self, phase: str) -> PhaseLanded | None:
        """Since the phase got its last chance: one that was found to be there already has landed before its work."""
        return next((p for p in reversed(self.chronicle.since.get(phase, ())) if isinstance(p, PhaseLanded)), None)

    @property
    def unlanded(self) -> tuple[PhaseLanded, ...]:
        """The landings that are still to come, in the order of the line; a later one brings earlier ones along."""
        landings = tuple(self.of(PhaseLanded))
        done = max((n for n, landing in enumerate(landings) if landing.landed), default=-1)
        return tuple({landing.phase: landing for landing in landings[done + 1 :]}.values())

    def merged(self, phase: str) -> PhaseMerged | None:
        """How the phase's work became part of the line, if it did since the phase got its chance."""
        return next((m for m in self.chronicle.since.get(phase, ()) if isinstance(m, PhaseMerged)), None)

    @cached_property
    def briefs(self) -> tuple[Brief, ...]:
        """What every pass began with, in the order of their start."""
        return tuple(started.brief for started in self.of(PhaseStarted))

    @cached_property
    def open_passes(self) -> tuple[Brief, ...]:
        """The passes that were started and have not finished, in the order of their start; at most one a phase."""
        return tuple(brief for brief, _ in self.chronicle.at_work.values())

    @property
    def open_phase(self) -> Brief | None:
        """The newest pass that was started and has not finished, if any."""
        return next(reversed(self.open_passes), None)

    @cached_property
    def at_work(self) -> dict[tuple[str, int], str]:
        """When each pass that is open was started, by phase and number."""
        return {(brief.phase.id, brief.number): at for brief, at in self.chronicle.at_work.values()}

    @cached_property
    def waits(self) -> tuple[Waited, ...]:
        """The times in which nobody could be asked for a call."""
        return waits_of(self.entries) if self.places(WaitStarted) else ()

    @property
    def lies_still(self) -> bool:
        """Whether all that is open waits for an agent."""
        return self.times.lies_still

    @property
    def completions(self) -> tuple[Brief, ...]:
        """What the steps behind the last phase began with; more than one where the run was resumed after its end."""
        return tuple(started.brief for started in self.of(CompletionStarted))

    @property
    def completing(self) -> Brief | None:
        """The newest of them, if they have begun."""
        return next(reversed(self.completions), None)

    @property
    def completion(self) -> CompletionFinished | None:
        """What the newest of them came to; None while it goes on."""
        begun, done = self.places(CompletionStarted), self.places(CompletionFinished)
        event = self.entries[done[-1]].event if done and done[-1] > max(begun, default=-1) else None
        return event if isinstance(event, CompletionFinished) else None

    @property
    def end(self) -> Event | None:
        """
        How the run was left: finished, stopped, or None while it goes on, after a crash, or with a verdict to heed.

        What is noted or landed after the end does not open a run again.
        """
        last = next((e.event for e in reversed(self.entries) if not isinstance(e.event, Noted | PhaseLanded)), None)
        return last if isinstance(last, RunFinished | RunStopped) else None
