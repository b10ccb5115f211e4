"""Files a plan takes for granted: those it wants changed or removed, so that they have to be there."""

import re
from collections.abc import Iterator

from autopilot.domain.evidence import Finding
from autopilot.domain.phase import Plan, Task
from autopilot.domain.protocols import Tools
from autopilot.domain.record import PhaseRecord

_GRANTED = re.compile(
    r"\b(?:modify|edit|update|extend|change|refactor|delete|remove|rename|existing)\b[^`\n.;]{0,30}"
    r"`(?P<path>[\w./@+-]+\.\w{1,8})`",
    re.IGNORECASE,
)


def missing_files(plan: Plan, record: PhaseRecord, tools: Tools) -> tuple[Finding, ...]:
    """Worth a look and no more: the plan's words may mean something else."""
    granted = dict(_granted(plan))
    return tuple(_missing(path, granted[path]) for path in tools.facts.absent(record.commit, tuple(granted)))


def taken_for_granted(task: Task) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found["path"].removeprefix("./") for found in _GRANTED.finditer(task.action)))


def _granted(plan: Plan) -> Iterator[tuple[str, str]]:
    """Path and task; not what a task before it may have made."""
    made = set[str]()
    for task in plan.tasks:
        yield from ((path, task.id) for path in taken_for_granted(task) if path not in made)
        made |= {name.removeprefix("./") for name in task.files}


def _missing(path: str, task: str) -> Finding:
    what = f"Task {task} takes {path} for granted, which is not there."
    return Finding(rule="plan-files", where=task, what=what, severity="info")
