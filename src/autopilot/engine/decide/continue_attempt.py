"""Decides where a new pass of a failed phase continues the one before it, so that no step is paid for twice."""

from autopilot.domain.attempt import Continuation
from autopilot.domain.errors import TOO_MUCH
from autopilot.domain.phase import Plan
from autopilot.domain.results import Unanswered
from autopilot.domain.verdict import Stop
from autopilot.engine.decide.next_move import Spawn
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.policy.roadmap_changes import is_same
from autopilot.policy.task_progress import auto_tasks, handed_over, since_plan, since_replan, tasks_done

NAMEABLE = ("research", "plan", "plan_check", "execute", "verify", "judge", "judge_divergence", "rate")
"""The steps that a person can name. The others are detours of these, or cost nothing."""
PLANNING = frozenset({"plan", "plan_check"})


def continuation(spawn: Spawn, run: RunRecord, passes: tuple[PhaseRecord, ...]) -> Continuation | None:
    """How the pass to start continues the last one; None when it starts from the beginning."""
    last = passes[-1] if passes else None
    if last is None or not ended_in_a_stop(last) or not is_same_work(spawn, passes):
        return None
    wanted = run.retry_from(spawn.phase.id)
    if wanted:
        return from_step(last, wanted)
    return at_failure(last, asked=wanted is not None)


def ended_in_a_stop(record: PhaseRecord) -> bool:
    return bool(record.finished) and isinstance(record.finished[-1].verdict, Stop)


def is_same_work(spawn: Spawn, passes: tuple[PhaseRecord, ...]) -> bool:
    """Whether the last pass started from the commit that this one starts from, for the same reason."""
    brief = passes[-1].brief
    # Passes of older versions started from the commit of the pass they continued.
    base = next((p.brief.base for p in reversed(passes) if not p.brief.done), "")
    alike = base == spawn.base and is_same(brief.phase, spawn.phase)
    return alike and bool(brief.cycle) == bool(spawn.cycle) and brief.mode == spawn.mode


def promised_plan(spawn: Spawn, run: RunRecord, passes: tuple[PhaseRecord, ...]) -> Plan | None:
    """The accepted plan of a pass that cannot be continued because the line has moved: all of it is carried out."""
    last = passes[-1] if passes else None
    if last is None or spawn.cycle or last.brief.cycle or not is_same(last.brief.phase, spawn.phase):
        return None
    wanted = run.retry_from(spawn.phase.id)
    silent = ended_in_a_stop(last) and isinstance(last.finished[-1].result, Unanswered)
    return last.plan if silent or wanted not in {None, "research", *PLANNING} else None


def at_failure(record: PhaseRecord, *, asked: bool) -> Continuation | None:
    """
    Where the pass failed. Without a person's word only a step that nobody answered is taken up again.

    A verdict on the work stands: asking the same reviewer once more about the same work is for a person to decide.
    """
    last = record.finished[-1]
    if isinstance(last.result, Unanswered):
        steps = len(record.finished) - silences(record)
        if handed_over(record):
            return handed(record, steps, last.step)
        unusable = last.result.detail if last.result.outcome in {"bad_output", TOO_MUCH} else ""
        return Continuation(number=record.brief.number, steps=steps, step=last.step, unusable=unusable, fresh=asked)
    if not asked or last.step not in NAMEABLE:
        return None
    if last.step in PLANNING:
        because = last.verdict.because if isinstance(last.verdict, Stop) else ""
        return by_person(record, len(record.finished), "plan", f"REVISION REQUIRED. {because}")
    return by_person(record, len(record.finished) - 1, last.step)


def from_step(record: PhaseRecord, step: str) -> Continuation | None:
    """
    From the named step on. Reviews start with the newest one; planning and the tasks are redone as a whole.

    None when the pass never came to that step.
    """
    last = record.finished[-1]
    if step == last.step and isinstance(last.result, Unanswered):
        return at_failure(record, asked=True)
    planning = step in {"research", *PLANNING}
    within = since_plan(record) if step == "execute" else since_replan(record) if planning else record.finished
    begin = len(record.finished) - len(within)
    places = [place for place, done in enumerate(within, start=begin) if done.step == step]
    if not places:
        return None
    return by_person(record, places[0 if planning or step == "execute" else -1], step)


def silences(record: PhaseRecord) -> int:
    """How many times in a row the last step got no usable answer."""
    count = 0
    for done in reversed(record.finished):
        if done.step != record.finished[-1].step or not isinstance(done.result, Unanswered):
            break
        count += 1
    return count


def by_person(record: PhaseRecord, steps: int, step: str, because: str = "") -> Continuation:
    return Continuation(number=record.brief.number, steps=steps, step=step, because=because, fresh=True)


def handed(record: PhaseRecord, steps: int, step: str) -> Continuation:
    """CTXE-01r: the next executor gets the tasks that are left."""
    done, plan = tasks_done(record), record.plan
    return Continuation(
        number=record.brief.number,
        steps=steps,
        step=step,
        done=done,
        tasks=sum(task.type == "auto" for task in plan.tasks) if plan else len(auto_tasks(record)),
        handed_over=True,
    )
