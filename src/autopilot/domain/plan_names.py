"""
Names for the plan and the summaries of a phase in the user's folder (DIR-01).

Where the user has numbered plans, as `03-01-PLAN.md`, ours must not look like another one to the tools that count them:
these take every file with `PLAN` in its name for a plan, and a plan without a summary for one still to do. Pure.
"""

import re

from autopilot.domain.attempt import Brief
from autopilot.domain.phase import Plan, PlanOnDisk, padded

PLAN, SUMMARY = "PLAN.md", "SUMMARY.md"
_NUMBERED = re.compile(r"(?P<lead>.+?)-(?P<number>\d+)[A-Z]?-(?:.*-)?PLAN\.md")


def numbered(brief: Brief) -> tuple[PlanOnDisk, ...]:
    """The user's plan files that have a number."""
    return tuple(plan for plan in brief.plan_files if plan.file != PLAN)


def plan_name(brief: Brief, plan: Plan) -> str:
    """What the plan is called in the user's folder; empty where the user's own files are the plan."""
    there = numbered(brief)
    if not there:
        return PLAN
    if plan.existed_before:
        return ""
    if any(not one.done for one in there):
        return f"{padded(brief.phase.id)}-REVISED.md"
    return f"{_next(there, brief.phase.id)}-{PLAN}"


def summary_names(brief: Brief, plan: Plan | None) -> dict[str, tuple[str, ...] | None]:
    """
    The summaries a phase that passed gets, each with the tasks it is about; None for all of them.

    Every numbered plan that was carried out gets one of its own. Where a revised plan took their place, all do.
    """
    there = numbered(brief)
    if not there:
        return {SUMMARY: None}
    parts = {part.file: part.tasks for part in plan.parts} if plan else {}
    found = {one.file: parts.get(one.file) for one in there if not one.done}
    own = plan_name(brief, plan) if plan else ""
    if own.endswith(PLAN):
        found[own] = None
    return {f"{file.removesuffix(PLAN)}{SUMMARY}": tasks for file, tasks in found.items()}


def _next(there: tuple[PlanOnDisk, ...], phase: str) -> str:
    found = [match for one in there if (match := _NUMBERED.fullmatch(one.file))]
    lead = found[-1]["lead"] if found else padded(phase)
    return f"{lead}-{1 + max((int(match['number']) for match in found), default=len(there)):02}"
