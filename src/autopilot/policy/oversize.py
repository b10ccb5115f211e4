"""Is a phase too big for one pass? SPLT-09 and SPLT-10, after its plan and at the start of a remediation. Pure."""

import re
from collections.abc import Sequence

from autopilot.domain.attempt import SplitDetails, SubPhase
from autopilot.domain.phase import Complexity, Plan, Task
from autopilot.domain.results import Planned
from autopilot.domain.verdict import Advance
from autopilot.history.record import PhaseRecord

MOST_COMPLEX, MOST_FILES = 5, 10
MOST_ISSUES, FEWEST_ISSUE_FILES = 3, 4
PART = 3
LETTERS = 26
_RANK: dict[Complexity, int] = {"simple": 0, "medium": 1, "complex": 2}
_FILE = re.compile(r"(?<![\w/.])(?:[\w-]+/)*[\w-]+(?:\.[A-Za-z][A-Za-z0-9]{0,4})+(?![\w/])")


def split_request(record: PhaseRecord) -> SplitDetails | None:
    """None: the pass is small enough. A remediation is measured by its feedback, any other pass by its plan."""
    if record.brief.cycle:
        return _of_feedback(record)
    return _of_plan(record, record.plan) if record.plan else None


def split_due(record: PhaseRecord) -> SplitDetails | None:
    """
    Whether the pass is to end here because it is too big: behind its plan, or before a remediation begins.

    A part is never split again (AMB-11), nor a plan the user has written, revised or not, nor work that has begun.
    """
    if record.brief.parent:
        return None
    given = record.brief.plan
    users = given is not None and given.existed_before
    last = record.finished[-1] if record.finished else None
    if last is None:
        found = _of_feedback(record) if record.brief.cycle else None
    elif isinstance(last.result, Planned) and isinstance(last.verdict, Advance) and record.commit == record.brief.base:
        found = _of_plan(record, last.result.plan) if last.result.plan and not users else None
    else:
        found = None
    return found if found and found.total_sub_phases > 1 else None


def _of_plan(record: PhaseRecord, plan: Plan) -> SplitDetails | None:
    hard = sum(task.complexity == "complex" for task in plan.tasks)
    files = {file for task in plan.tasks for file in task.files}
    if hard > MOST_COMPLEX:
        reason = f"{hard} complex tasks (at most {MOST_COMPLEX})"
    elif len(files) > MOST_FILES:
        reason = f"{len(files)} files to touch (at most {MOST_FILES})"
    else:
        return None
    parts = _parts(len(plan.tasks))
    held = [plan.tasks[part] for part in parts]
    names = [f"{record.phase.id}{chr(ord('a') + at)}" for at in range(len(parts))]
    return SplitDetails(
        reason=reason,
        recommended_sub_phases=tuple(
            SubPhase(
                sub_phase_id=names[at],
                name=f"{record.phase.name}, part {at + 1}",
                scope="; ".join(f"{task.id} {task.title}" for task in tasks),
                estimated_complexity=max((task.complexity or "medium" for task in tasks), key=_RANK.__getitem__),
                after=tuple(names[n] for n in range(at) if _needs(tasks, held[n])),
            )
            for at, tasks in enumerate(held)
        ),
        total_sub_phases=len(parts),
    )


def _parts(items: int) -> list[slice]:
    """Up to three each, as long as there are at least two parts, and letters for all of them."""
    size = max(1, PART if items > PART else -(-items // 2), -(-items // LETTERS))
    return [slice(at, at + size) for at in range(0, items, size)]


def _needs(tasks: Sequence[Task], earlier: Sequence[Task]) -> bool:
    """By what the plan says of its tasks: a later wave, or a task that is named."""
    named = {need for task in tasks for need in task.depends_on}
    later = max(task.wave for task in tasks) > min(task.wave for task in earlier)
    return later or bool(named & {task.id for task in earlier})


def _of_feedback(record: PhaseRecord) -> SplitDetails | None:
    issues = record.brief.feedback
    files = {file for issue in issues for file in _FILE.findall(issue)}
    if len(issues) <= MOST_ISSUES or len(files) < FEWEST_ISSUE_FILES:
        return None
    parts = [issues[part] for part in _parts(len(issues))]
    return SplitDetails(
        reason=f"{len(issues)} issues in {len(files)} files",
        recommended_sub_phases=tuple(
            SubPhase(
                sub_phase_id=f"{record.phase.id}{chr(ord('a') + at)}",
                name=f"{record.phase.name}, part {at + 1}",
                scope="; ".join(part),
                issues=part,
            )
            for at, part in enumerate(parts)
        ),
        total_sub_phases=len(parts),
        original_issue_count=len(issues),
    )
