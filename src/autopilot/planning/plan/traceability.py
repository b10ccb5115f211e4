"""The plan's table of which task serves which requirement (PLAN-06)."""

import re
from collections.abc import Sequence

from autopilot.planning.roadmap.fields import requirement_ids
from autopilot.planning.roadmap.markdown import cells, plain

_DIVIDER = re.compile(r"[\s|:-]*-[\s|:-]*$")
_TASK = re.compile(r"(?<![\w.])(\d[\w.]*(?:-[\w.]*\w)*)")


def served(prose: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Requirement ids by task id, from every table with a requirement and a task column."""
    found: dict[str, tuple[str, ...]] = {}
    columns: tuple[int, int] | None = None
    for at, line in enumerate(prose):
        if "|" not in line:
            columns = None
        elif columns is None and at + 1 < len(prose) and "|" in prose[at + 1] and _DIVIDER.match(prose[at + 1]):
            columns = _columns(cells(line))
        elif columns is not None and not _DIVIDER.match(line):
            row = (*cells(line), *("",) * max(columns))
            requirements = requirement_ids(row[columns[0]]) or _word(row[columns[0]])
            for task in _TASK.findall(plain(row[columns[1]])):
                found[task] = (*found.get(task, ()), *requirements)
    return found


def _columns(header: Sequence[str]) -> tuple[int, int] | None:
    names = [plain(name).lower() for name in header]
    requirement = next(
        (at for at, name in enumerate(names) if name.startswith(("requirement", "req", "criteri"))), None
    )
    task = next((at for at, name in enumerate(names) if name.startswith("task")), None)
    return (requirement, task) if requirement is not None and task is not None else None


def _word(cell: str) -> tuple[str, ...]:
    bare = plain(cell)
    return (bare,) if re.fullmatch(r"[\w.-]{2,40}", bare) else ()
