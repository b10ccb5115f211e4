"""Files and names in code a plan takes for granted: it wants them changed or used, so they have to be there."""

import re
from collections.abc import Callable, Iterator

from autopilot.domain.evidence import Finding
from autopilot.domain.phase import Plan, Task
from autopilot.history.record import PhaseRecord
from autopilot.ports.agents import Tools

Named = Callable[[Task], tuple[str, ...]]

_FILE = re.compile(
    r"\b(?:modify|edit|update|extend|change|refactor|delete|remove|rename|existing)\b[^`\n.;]{0,30}"
    r"`(?P<name>[\w./@+-]+\.\w{1,8})`",
    re.IGNORECASE,
)
# In backticks after a word that says it is there; and no plain word, which may be anything.
_NAME = re.compile(
    r"\b(?:[Mm]odify|[Ee]xtend|[Rr]efactor|[Dd]elete|[Rr]emove|[Rr]ename|[Rr]euse|[Ee]xisting)\b[^`\n.;]{0,30}"
    r"`(?P<name>[a-zA-Z]\w*_\w+|[A-Za-z][a-z0-9]+[A-Z]\w*|[A-Z]\w+\.[a-z_]\w*|[A-Za-z_]\w{2,}(?=\(\)))(?:\(\))?`"
)
_ENDING = re.compile(r"[A-Z]\w+\.(?:py|ts|tsx|js|jsx|go|rs|java|md|json|cs|rb|php|vue|css|html|toml|yaml|yml)")


def taken_for_granted(plan: Plan, record: PhaseRecord, tools: Tools) -> tuple[Finding, ...]:
    """What is not there of it. Worth a look and no more: the plan's words may mean something else."""
    files, names = dict(_granted(plan, granted_files)), dict(_granted(plan, granted_names))
    lost = [(path, files[path], "plan-files") for path in tools.facts.absent(record.commit, tuple(files))]
    lost += [(name, names[name], "plan-names") for name in tools.facts.undefined(record.commit, tuple(names))]
    return tuple(_missing(*one) for one in lost)


def granted_files(task: Task) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found["name"].removeprefix("./") for found in _FILE.finditer(task.action)))


def granted_names(task: Task) -> tuple[str, ...]:
    found = dict.fromkeys(found["name"] for found in _NAME.finditer(task.action))
    return tuple(name for name in found if not _ENDING.fullmatch(name))


def _granted(plan: Plan, named: Named) -> Iterator[tuple[str, str]]:
    """Name and task; not what a task before it may have made."""
    made, said = set[str](), ""
    for task in plan.tasks:
        yield from ((name, task.id) for name in named(task) if name not in made and f"`{name}" not in said)
        made |= {name.removeprefix("./") for name in task.files}
        said += task.action


def _missing(name: str, task: str, rule: str) -> Finding:
    what = f"Task {task} takes {name} for granted, which is not there."
    return Finding(rule=rule, where=task, what=what, severity="info")
