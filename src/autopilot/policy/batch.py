"""Batch mode (PVRF-01h): many tasks carried out in one call, then taken apart into one commit a task. Pure."""

import msgspec

from autopilot.domain.answers import WorkClaim
from autopilot.domain.evidence import Change
from autopilot.domain.phase import Task
from autopilot.domain.results import Batch, Executed
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import auto_tasks, since_plan

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
