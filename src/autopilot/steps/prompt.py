"""Prompt templates: Markdown files beside the steps, filled in with exactly what a role may know."""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from autopilot.domain.codemap import SHOWN_PATH
from autopilot.domain.phase import Criterion, Expectation, Plan, Task
from autopilot.history.record import PhaseRecord

UNMAPPED = "No specific requirements mapped. Derive from phase goal and roadmap."
_HOLE = re.compile(r"\{\{(\w+)\}\}")


def render(template: str, /, **values: str) -> str:
    """Fill `prompts/<template>.md`. A hole without a value is a bug, not an empty line."""
    return _HOLE.sub(lambda hole: values[hole[1]], _template(template)).strip() + "\n"


@cache
def _template(name: str) -> str:
    return (files("autopilot.steps") / "prompts" / f"{name}.md").read_text(encoding="utf-8")


def heading(record: PhaseRecord) -> str:
    """What every role is told: which phase, and what it is for."""
    phase = record.phase
    lines = [f"Phase {phase.id}: {phase.name}", f"Goal: {phase.goal or 'not stated in the roadmap'}"]
    if phase.description and phase.description != phase.goal:
        lines.append(phase.description)
    return "\n".join(lines)


def surroundings(record: PhaseRecord) -> str:
    """SPWN-01, SPWN-04: what there is around the phase, for those who prepare it; paths, never what is in them."""
    brief = record.brief
    lines = []
    if brief.completed_dirs:
        more = f", and {brief.completed_more} earlier ones beside them" if brief.completed_more else ""
        lines.append(f"Phases that are done left their papers in: {', '.join(brief.completed_dirs)}{more}")
    if brief.prior_execution:
        lines.append("prior_execution_exists: true. Work on this phase was begun before; see what is there already.")
    if brief.estimated_tokens:
        lines.append(f"Estimated cost of the phase: {brief.estimated_tokens} tokens. Task types: {brief.task_types}.")
    return "".join(f"{line}\n" for line in lines)


def map_line(record: PhaseRecord) -> str:
    """RMAP-05: where the map of the code is, for those who have one."""
    return (
        f"\nRepo map path: {SHOWN_PATH} (who exports, imports, defines and calls what)."
        if record.brief.repo_map_path
        else ""
    )


def bullets(items: Iterable[str], otherwise: str) -> str:
    return "\n".join(f"- {item}" for item in items) or otherwise


def criteria_lines(criteria: Iterable[Criterion]) -> str:
    """Criteria in the form plans use, so that every role reads the same words."""
    return bullets((criterion_line(c) for c in criteria), "none with a command")


def criterion_line(criterion: Criterion) -> str:
    if criterion.command is None:
        return criterion.text
    wanted = {
        "exit": "" if criterion.expect.number == 0 else f" (expect EXIT:{criterion.expect.number})",
        "count": f" (returns {criterion.expect.number})",
        "at_least": f" (returns at least {criterion.expect.number})",
        "text": f' (expect "{criterion.expect.text}")',
    }[criterion.expect.form]
    return f"{criterion.text} -- verified by: `{criterion.command}`{wanted}"


def all_criteria(record: PhaseRecord) -> tuple[Criterion, ...]:
    """The user's own criteria first, then the plan's; the same command with the same expectation once."""
    return criteria_under(record, record.plan)


def criteria_under(record: PhaseRecord, plan: Plan | None) -> tuple[Criterion, ...]:
    """The same with a plan that is not in force yet."""
    return merged(record.phase.criteria, plan)


def merged(users: tuple[Criterion, ...], plan: Plan | None) -> tuple[Criterion, ...]:
    planned = tuple(c for task in (plan.tasks if plan else ()) for c in task.criteria)
    kept: dict[tuple[str, Expectation | None], Criterion] = {}
    for criterion in (*users, *planned):
        key = (criterion.command, criterion.expect) if criterion.command else (criterion.text, None)
        kept.setdefault(key, criterion)
    return tuple(kept.values())


def task_lines(task: Task) -> str:
    return "\n".join(
        (
            f"Task {task.id}: {task.title}",
            f"Files: {', '.join(task.files) or 'not named'}",
            task.action,
            f"Done when: {task.done}" if task.done else "",
            "Criteria:",
            criteria_lines(task.criteria),
        )
    )
