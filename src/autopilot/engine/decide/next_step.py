"""What happens next in a phase: the one answer, from the record alone, so a resumed run decides as the first did."""

from dataclasses import dataclass
from typing import Literal, assert_never

from autopilot.domain.results import Bumped, Debugged, Executed, Fixed, Mended, MiniVerified, StepResult
from autopilot.domain.verdict import END, Advance, AskHuman, Retry, Stop, Verdict
from autopilot.history.record import PhaseRecord
from autopilot.pipeline import LAST, PIPELINE, Stage, stage_named
from autopilot.policy.oversize import split_due
from autopilot.policy.task_progress import task_base


@dataclass(frozen=True, slots=True)
class Run:
    """Perform this step; `n` counts its executions in the phase, remediations included."""

    stage: Stage
    n: int


@dataclass(frozen=True, slots=True)
class Finish:
    status: Literal["completed", "failed", "needs_human_verification", "split_request"]
    reason: str
    rollback: bool = False


Move = Run | Finish


def next_move(record: PhaseRecord) -> Move:
    if len(record.counted) >= record.start.settings.limits.steps_per_phase:
        return Finish("failed", f"{len(record.counted)} steps and no end in sight", rollback=True)
    if (split := split_due(record)) is not None:
        return Finish("split_request", split.reason)
    goal = destination(record)
    if isinstance(goal, Finish):
        return goal
    before = record.brief.earlier.get(goal, 0) + sum(step.step == goal for step in record.own_finished)
    return Run(stage_named(goal), before + 1)


def destination(record: PhaseRecord) -> Finish | str:
    """The step the last verdict leads to, or the end."""
    if not record.own_finished:
        return record.brief.continues.step if record.brief.continues else PIPELINE[0].name
    last = record.finished[-1]
    match last.verdict:
        case Advance(to=to, because=because):
            return _ahead(last.step, to, because)
        case Retry(step=step):
            return step
        case AskHuman(question=question):
            return Finish("needs_human_verification", question)
        case Stop(because=because, rollback=rollback):
            return Finish("failed", because, rollback)
        case _ as never:
            assert_never(never)


def _ahead(step: str, to: str | None, because: str) -> Finish | str:
    if to == END:
        return Finish("completed", because)
    if to is None and step == LAST:
        return Finish("completed", "every gate passed")
    order = [stage.name for stage in PIPELINE]
    return to or order[order.index(step) + 1]


def tip(record: PhaseRecord, result: StepResult, verdict: Verdict) -> str:
    """The commit a finished step leaves as the work so far; a task set aside leaves what was there before it."""
    given_up = isinstance(verdict, Advance) and bool(verdict.because)
    match result:
        case Executed(work=work) | Fixed(work=work):
            return work.change.base if given_up else work.change.commit
        case MiniVerified(task=task):
            return task_base(record, task) if given_up else record.commit
        case Debugged(work=work):
            return work.change.commit
        case Mended(work=work):
            return work.change.commit if isinstance(verdict, Advance) else record.commit
        case Bumped(change=change) if change is not None:
            return change.commit if isinstance(verdict, Advance) else record.commit
        case _:
            return record.commit
