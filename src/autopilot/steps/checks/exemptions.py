"""What the roadmap, the user's config or the accepted plan permits; an executor or debugger can permit nothing."""

import re
from collections.abc import Iterator

from autopilot.domain.evidence import Change, Finding
from autopilot.domain.phase import Plan, Task
from autopilot.history.record import PhaseRecord
from autopilot.ports.agents import Tools, Variant

_PATH = re.compile(r"[\w@./-]*[\w/-]\.\w+|\bMakefile\b")


def judged(record: PhaseRecord, tools: Tools, commit: str) -> Variant:
    """The tree that is judged: the commit without the changes to control files that nobody permitted."""
    if commit == record.brief.base:
        return Variant(commit=commit)
    whole = tools.workspace.change(record.brief.base, commit)
    return tools.facts.variant("control", whole, control_files(record))


def control_files(record: PhaseRecord) -> tuple[str, ...]:
    """Named in full by a task of the plan, by name in the roadmap, or by a pattern in the config."""
    planned = (path for task in contract_tasks(record) for path in task.files if "*" not in path)
    return (*planned, *users_word(record))


def users_word(record: PhaseRecord) -> tuple[str, ...]:
    """What the user permits, whatever the plan says: by name in the roadmap, or by a pattern in the config."""
    return (*record.start.settings.honesty.control_files, *_in_roadmap(record))


def _in_roadmap(record: PhaseRecord) -> Iterator[str]:
    """What a command of a criterion runs is asked for, not given up."""
    phase = record.phase
    text = "\n".join((phase.goal, phase.description, *(criterion.text for criterion in phase.criteria)))
    for criterion in phase.criteria:
        text = text.replace(criterion.command or "\n", "\n")
    for word in _PATH.findall(text):
        yield from (word, f"*/{word}")


def changed_tests(record: PhaseRecord, task: Task | None = None) -> tuple[str, ...]:
    """The tests whose expectation may change: the task's own, or for what is no task of the plan everybody's."""
    tasks = contract_tasks(record)
    own = [t for t in tasks if task is None or t.id == task.id] or tasks
    return tuple(change.path for t in own for change in t.changes_tests if change.reason)


def contract_tasks(record: PhaseRecord) -> tuple[Task, ...]:
    plan: Plan | None = record.plan or record.brief.plan
    return plan.tasks if plan else ()


def left_out(variant: Variant) -> tuple[Finding, ...]:
    what = "controls the checks, and neither roadmap nor config nor plan names it: they were run without this change"
    return tuple(Finding(rule="control-file", where=path, what=what, severity="warning") for path in variant.paths)


def between(tools: Tools, change: Change, start: str, end: str) -> Change:
    """The change as it is judged."""
    same = (start, end) == (change.base, change.commit)
    return change if same else tools.workspace.change(start, end)


def exceptions(record: PhaseRecord) -> str:
    """What the plan asked to be excused from: shown to those who judge the work, in words for a prompt."""
    lines = []
    for task in contract_tasks(record):
        lines += [
            f"- task {task.id} changes what {change.path} expects. Reason: {change.reason or 'none given'}"
            for change in task.changes_tests
        ]
        if task.kind != "feature":
            lines.append(f"- task {task.id} is declared {task.kind}: none of its criteria need have failed before")
    return "\n".join(("The plan excuses itself; look whether it may:", *lines, "")) if lines else ""
