"""Is a phase too big for one pass? SPLT-09 and SPLT-10, after its plan and at the start of a remediation. Pure."""

import re
from collections.abc import Sequence

from autopilot.domain.phase import Plan
from autopilot.domain.record import PhaseRecord
from autopilot.domain.returns import SplitDetails, SubPhase

MOST_COMPLEX, MOST_FILES = 5, 10
MOST_ISSUES, FEWEST_ISSUE_FILES = 3, 4
PART = 3
_FILE = re.compile(r"(?<![\w/.])(?:[\w-]+/)*[\w-]+(?:\.[A-Za-z][A-Za-z0-9]{0,4})+(?![\w/])")


def split_request(record: PhaseRecord) -> SplitDetails | None:
    """None: the pass is small enough. A remediation is measured by its feedback, any other pass by its plan."""
    if record.brief.cycle:
        return _of_feedback(record)
    return _of_plan(record, record.plan) if record.plan else None


def _of_plan(record: PhaseRecord, plan: Plan) -> SplitDetails | None:
    hard = sum(task.complexity == "complex" for task in plan.tasks)
    files = {file for task in plan.tasks for file in task.files}
    if hard > MOST_COMPLEX:
        reason = f"{hard} complex tasks (at most {MOST_COMPLEX})"
    elif len(files) > MOST_FILES:
        reason = f"{len(files)} files to touch (at most {MOST_FILES})"
    else:
        return None
    return _details(record, reason, [f"{task.id} {task.title}" for task in plan.tasks], issues=False)


def _of_feedback(record: PhaseRecord) -> SplitDetails | None:
    issues = record.brief.feedback
    files = {file for issue in issues for file in _FILE.findall(issue)}
    if len(issues) <= MOST_ISSUES or len(files) < FEWEST_ISSUE_FILES:
        return None
    return _details(record, f"{len(issues)} issues in {len(files)} files", issues, issues=True)


def _details(record: PhaseRecord, reason: str, items: Sequence[str], *, issues: bool) -> SplitDetails:
    parts = tuple(
        SubPhase(
            sub_phase_id=f"{record.phase.id}{chr(ord('a') + at)}",
            name=f"{record.phase.name}, part {at + 1}",
            scope="; ".join(items[at * PART : (at + 1) * PART]),
            issues=tuple(items[at * PART : (at + 1) * PART]) if issues else (),
        )
        for at in range(-(-len(items) // PART))
    )
    return SplitDetails(
        reason=reason,
        recommended_sub_phases=parts,
        total_sub_phases=len(parts),
        original_issue_count=len(items) if issues else 0,
    )
