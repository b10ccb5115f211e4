"""Decides which task is next and how many tries are left."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Literal

import msgspec

from autopilot.domain.answers import FixClaim, WorkClaim
from autopilot.domain.events import StepFinished
from autopilot.domain.evidence import Change, CommandRun, Work
from autopilot.domain.phase import Kind, Plan, Task
from autopilot.domain.results import (
    Batch,
    Debugged,
    Executed,
    Fixed,
    MiniVerified,
    PlanChecked,
    Planned,
    Rated,
    Triaged,
    Unanswered,
    Verified,
)
from autopilot.domain.verdict import SET_ASIDE, Advance, Retry, Stop
from autopilot.history.record import PhaseRecord

Place = tuple[int, int]


def task_order(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """The tasks one after another; ties stay in plan order."""
    return tuple(task for group in sub_waves(tasks) for task in group)


def sub_waves(tasks: Sequence[Task]) -> tuple[tuple[Task, ...], ...]:
    """
    EXEC-W1: groups of tasks that could be carried out at the same time, in order.

    No two tasks of a group touch the same file or need each other. A task never comes before one it depends on, even if
    the plan puts that one into a later wave.
    """
    places: dict[str, Place] = {}
    for task in _sorted(tasks):
        places[task.id] = _place(task, tasks, places)
    groups = sorted(set(places.values()))
    return tuple(tuple(task for task in tasks if places[task.id] == group) for group in groups)


def _sorted(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Dependencies first, then by wave and plan order. Plan-check lets no cycle through; one would keep plan order."""
    known = {task.id: task for task in tasks}
    rank = {task.id: (task.wave, at) for at, task in enumerate(tasks)}
    sorter = TopologicalSorter({task.id: [need for need in task.depends_on if need in known] for task in tasks})
    try:
        sorter.prepare()
    except CycleError:
        return tuple(tasks)
    ordered: list[Task] = []
    ready: set[str] = set()
    while sorter.is_active():
        ready |= set(sorter.get_ready())
        first = min(ready, key=lambda task: rank[task])
        ready.remove(first)
        sorter.done(first)
        ordered.append(known[first])
    return tuple(ordered)


def _place(task: Task, tasks: Sequence[Task], places: Mapping[str, Place]) -> Place:
    """Wave and sub-wave: the task's own wave or that of its latest dependency, behind whatever it must follow there."""
    needed = [places[need] for need in task.depends_on if need in places]
    wave = max([task.wave, *(place[0] for place in needed)])
    rivals = [places[t.id] for t in tasks if t.id in places and t.id != task.id and set(t.files) & set(task.files)]
    ahead = [sub for at, sub in (*needed, *rivals) if at == wave]
    return wave, max(ahead, default=0) + 1


PROSE = (".md", ".rst", ".adoc", ".txt")
Route = Literal["", "research", "plan", "plan_check"]
SHORT_ROUTE = frozenset({"preflight", "triage", "verify", "judge", "judge_divergence"})


def since_plan(record: PhaseRecord) -> tuple[StepFinished, ...]:
    """What happened under the plan now in force."""
    steps = record.finished
    accepted = [i for i, s in enumerate(steps) if isinstance(s.result, PlanChecked) and isinstance(s.verdict, Advance)]
    return steps[accepted[-1] + 1 :] if accepted else steps


def only_checked(record: PhaseRecord) -> bool:
    """Whether the phase is on the short route: its criteria held before any work, and nobody was asked to work yet."""
    triaged = record.find(Triaged)
    short = triaged is not None and triaged.routing == "verify_only"
    return short and all(step.step in SHORT_ROUTE for step in record.finished)


def full_route(record: PhaseRecord) -> Route:
    """Where the work begins, for a phase on the short route that turns out not to be there; empty on the full one."""
    if not only_checked(record):
        return ""
    if record.brief.plan is not None:
        return "plan_check"
    return "plan" if record.brief.skip_research else "research"


def nothing_built(record: PhaseRecord) -> bool:
    """Whether all the work of the phase comes to no change; what a flag asks to improve was built in an earlier run."""
    seen = record.find(Verified)
    return seen is not None and seen.built is False and record.brief.mode not in {"quality", "gaps"}


def newest_plan(record: PhaseRecord) -> Plan | None:
    """The newest proposal since a plan was accepted, else the plan in force, else the one the pass was given."""
    proposals = (s.result.plan for s in reversed(since_plan(record)) if isinstance(s.result, Planned))
    return next((plan for plan in proposals if plan), None) or record.plan or record.brief.plan


def since_replan(record: PhaseRecord) -> tuple[StepFinished, ...]:
    steps = record.counted
    sent_back = [i for i, s in enumerate(steps) if _replanned(s)]
    return steps[sent_back[-1] + 1 :] if sent_back else steps


def _replanned(step: StepFinished) -> bool:
    return isinstance(step.result, Rated) and isinstance(step.verdict, Retry) and step.verdict.step != "verify"


def replans(record: PhaseRecord) -> int:
    return sum(_replanned(s) for s in record.counted)


def debugs(record: PhaseRecord) -> int:
    return sum(isinstance(s.result, Debugged) for s in record.counted)


def own_replans(record: PhaseRecord) -> int:
    """Those of this pass alone, for sums over all passes of a phase."""
    return sum(_replanned(s) for s in record.own_finished)


def own_debugs(record: PhaseRecord) -> int:
    return sum(isinstance(s.result, Debugged) for s in record.own_finished)


def debugs_left(record: PhaseRecord) -> int:
    """AMB-32: three debug attempts in all, and after a re-plan only one."""
    limits = record.start.settings.limits
    left = limits.debug_attempts - debugs(record)
    since = sum(isinstance(s.result, Debugged) for s in since_replan(record))
    return min(left, 1 - since) if replans(record) else left


def plan_rounds(record: PhaseRecord) -> int:
    """How often a plan was proposed and looked at since the start or the last re-plan."""
    steps = since_replan(record)
    unreadable = sum(isinstance(s.result, Planned) and s.result.plan is None for s in steps)
    return unreadable + sum(isinstance(s.result, PlanChecked) for s in steps)


def fixes_of(record: PhaseRecord, task: str) -> int:
    return sum(isinstance(s.result, Fixed) and s.result.work.task == task for s in since_plan(record))


def diff_growing(record: PhaseRecord, task: str) -> bool:
    """
    CORR-04: whether the first fix left a bigger change than it was given, so that a second one would only add to it.

    A task whose first try changed nothing has no size to compare with.
    """
    tries = [s.result for s in since_plan(record) if isinstance(s.result, Executed | Fixed)]
    sizes = [r.work.change.added + r.work.change.removed for r in tries if r.work.task == task]
    return len(sizes) == 1 + 1 and sizes[1] > sizes[0] > 0


def reviews_of(record: PhaseRecord, task: str) -> int:
    """Reviews of the task as it stands: those since it was last worked on."""
    count = 0
    for step in since_plan(record):
        match step.result:
            case Executed(work=work) | Fixed(work=work) if work.task == task:
                count = 0
            case MiniVerified(task=reviewed) if reviewed == task:
                count += 1
            case _:
                pass
    return count


def task_states(record: PhaseRecord) -> dict[str, str]:
    """Each task that is over: `verified`, or `failed` and set aside."""
    states: dict[str, str] = {}
    for step in since_plan(record):
        if not isinstance(step.verdict, Advance):
            continue
        match step.result:
            case Executed(work=work) | Fixed(work=work) if step.verdict.to != "mini_verify":
                states[work.task] = "failed"
            case MiniVerified(task=task):
                states[task] = "failed" if step.verdict.because else "verified"
            case _:
                pass
    return states


def failed_tasks(record: PhaseRecord) -> tuple[str, ...]:
    return tuple(task for task, state in task_states(record).items() if state == "failed")


def why_set_aside(record: PhaseRecord) -> tuple[str, ...]:
    """The reason for each task that was set aside: its work is not in the tree that is verified."""
    reasons: dict[str, str] = {}
    for step in since_plan(record):
        match step.result:
            case Executed(work=Work(task=task)) | Fixed(work=Work(task=task)) | MiniVerified(task=task):
                if isinstance(step.verdict, Advance):
                    reasons[task] = step.verdict.because.removeprefix(SET_ASIDE)
            case _:
                pass
    return tuple(f"task {task} was set aside: {reasons[task]}" for task in failed_tasks(record))


def auto_tasks(record: PhaseRecord) -> tuple[Task, ...]:
    """The tasks for an agent, in the order in which they are carried out."""
    return tuple(task for task in task_order(record.tasks) if task.type == "auto")


def waiting_task(record: PhaseRecord) -> Task:
    """The next task to execute."""
    tried = {s.result.work.task for s in since_plan(record) if isinstance(s.result, Executed)}
    return next(task for task in auto_tasks(record) if task.id not in tried)


def current_task(record: PhaseRecord) -> Task:
    """The task last worked on: what a fix or a review is about."""
    for step in reversed(since_plan(record)):
        if isinstance(step.result, Executed | Fixed):
            wanted = step.result.work.task
            return next(task for task in record.tasks if task.id == wanted)
    raise LookupError(f"no task worked on yet in phase {record.phase.id!r}")


def task_at(record: PhaseRecord, step: str) -> str | None:
    """The id of the task the step is about to work on or look at; None for a step that is about the phase."""
    if step == "execute":
        return waiting_task(record).id
    return current_task(record).id if step in {"fix", "mini_verify"} else None


def task_base(record: PhaseRecord, task: str) -> str:
    """The commit the task's first try started from: what a failed task goes back to."""
    for step in since_plan(record):
        if isinstance(step.result, Executed) and step.result.work.task == task:
            return step.result.work.change.base
    return record.commit


def next_stop(record: PhaseRecord, after: str) -> str:
    """Where to go when the task is over: the next task, or on to verification."""
    tried = {s.result.work.task for s in since_plan(record) if isinstance(s.result, Executed)} | {after}
    return "execute" if any(task.id not in tried for task in auto_tasks(record)) else "verify"


def declared_kinds(record: PhaseRecord) -> tuple[Kind, ...]:
    """What roadmap and config call the phase."""
    return (record.phase.kind, record.start.settings.honesty.kinds.get(record.phase.id, "feature"))


def exempt(record: PhaseRecord, task: Task, change: Change) -> bool:
    """
    Whether the work need not make a criterion hold that failed before.

    Roadmap, config or the accepted plan call it a refactoring, which the tests must guard, or documentation, which
    then must be all it touches.
    """
    kinds = (task.kind, *declared_kinds(record))
    if "refactor" in kinds:
        return record.start.settings.commands.test is not None
    return "docs" in kinds and all(file.path.lower().endswith(PROSE) for file in change.files)


def unproven(record: PhaseRecord, passing: Iterable[str]) -> tuple[str, ...]:
    """
    Tasks of which nothing shows that they were done: no criterion failed before the task and passes now.

    Only for a plan made in this run; what the user planned before may already be there. `passing` are commands: where
    the roadmap asks for the same one, it is run once, under the roadmap's name. Where a completed phase is done anew,
    its criteria hold from the start: there a task has to change something under them.
    """
    if record.brief.cycle or record.plan is None or record.plan.existed_before:
        return ()
    holds = set(passing)
    first_tries = {
        s.result.work.task: s.result.work for s in reversed(since_plan(record)) if isinstance(s.result, Executed)
    }
    return tuple(
        task.id
        for task in auto_tasks(record)
        if task.id not in first_tries
        or not (
            any(not run.passed and run.command in holds for run in first_tries[task.id].before)
            or (record.brief.mode == "force" and first_tries[task.id].change.files)
            or exempt(record, task, first_tries[task.id].change)
        )
    )


def command_runs(record: PhaseRecord) -> Iterator[CommandRun]:
    """Every command of ours that the record tells of, in the order in which it was run."""
    for step in record.finished:
        match step.result:
            case Triaged(checks=checks):
                yield from checks
            case Executed(work=work) | Fixed(work=work) | Debugged(work=work):
                yield from (*work.before, *work.gates_before, *work.after, *work.gates_after, *work.extra)
            case Verified() as seen:
                yield from (*seen.checks, *seen.gates, *seen.extra)
            case _:
                pass


def new_failures(before: Sequence[CommandRun], after: Sequence[CommandRun]) -> tuple[CommandRun, ...]:
    """Gates that fail now and did not fail before: an old failure does not block, a new one does."""
    failed_before = {run.check: run for run in before if not run.passed}
    failing = (run for run in after if not run.passed)
    return tuple(run for run in failing if run.check not in failed_before or worse(failed_before[run.check], run))


def worse(before: CommandRun, after: CommandRun) -> bool:
    """Of two red runs of a test command: the later one fails in tests that did not fail, or no longer says in which."""
    if before.tests is None or after.tests is None:
        return False
    if before.tests.failing:
        return not after.tests.failing or bool(set(after.tests.failing) - set(before.tests.failing))
    return before.tests.executed == 0 and bool(after.tests.failing)


MOST_TASKS = 8


def batched(record: PhaseRecord) -> bool:
    """Not where the user has split the work into plan files: their waves say what comes after what."""
    parts = record.plan.parts if record.plan else ()
    return not parts and len(auto_tasks(record)) > MOST_TASKS


def batch_of(record: PhaseRecord) -> Batch | None:
    """What the one call did; None while it has not been made."""
    done = (s.result.batch for s in since_plan(record) if isinstance(s.result, Executed))
    return next((batch for batch in done if batch), None)


def share(record: PhaseRecord, task: Task, whole: Change) -> tuple[str, ...]:
    """The task's own part of the change: a file of several tasks is the last one's, and so is one nobody named."""
    tasks = auto_tasks(record)
    owners = {file: named.id for named in tasks for file in named.files}
    return tuple(f.path for f in whole.files if owners.get(f.path, tasks[-1].id) == task.id)


def claim_for(record: PhaseRecord, task: Task, claim: WorkClaim) -> WorkClaim:
    """What the batch's claim says of the task. An admission that names no task is the last one's to answer for."""
    tasks = auto_tasks(record)
    named = any(t.id in claim.tasks_failed for t in tasks)
    mine = task.id in claim.tasks_failed if named else task.id == tasks[-1].id
    return msgspec.structs.replace(
        claim,
        tasks_failed=claim.tasks_failed if mine else "",
        commit_shas=(),
        evidence=tuple(e for e in claim.evidence if e.task_id == task.id),
    )


EXHAUSTED = "context_exhausted"
SAVED = "context_exhaustion: partial progress saved to HANDOFF.md"
EXECUTORS = frozenset({"execute", "fix"})
REPORTED = "context_exhaustion"


def ran_dry(step: str, outcome: str) -> bool:
    """Whether a silence means that the executor's context was used up: asking again would end the same way."""
    return step in EXECUTORS and outcome == EXHAUSTED


def says_exhausted(answer: msgspec.Struct) -> bool:
    """Whether whoever did the work says it had to stop for want of context. Believed, since it can only cost them."""
    if not isinstance(answer, WorkClaim | FixClaim):
        return False
    return answer.context_exhausted or any(i.strip().startswith(REPORTED) for i in answer.issues_detected)


def handed_over(record: PhaseRecord) -> bool:
    """Whether the pass ended that way and its work waits to be carried on."""
    last = record.finished[-1] if record.finished else None
    if last is None or not isinstance(last.result, Unanswered) or not isinstance(last.verdict, Stop):
        return False
    return ran_dry(last.step, last.result.outcome)


def tasks_done(record: PhaseRecord) -> tuple[str, ...]:
    """What need not be done again: handed over by earlier passes, or accepted in this one."""
    accepted = tuple(task for task, state in task_states(record).items() if state == "verified")
    return (*record.brief.done, *accepted)
