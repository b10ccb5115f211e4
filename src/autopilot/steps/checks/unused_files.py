"""What a change shows at a glance: new files nobody uses (WIRE-01, WIRE-02), files the task never named (PVRF-01i)."""

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from autopilot.domain.evidence import Change, Finding
from autopilot.domain.phase import Plan, Task
from autopilot.ports.agents import Tools

SOURCES = frozenset(
    {
        ".py", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".vue", ".svelte", ".go", ".rs", ".java", ".kt", ".swift",
        ".rb", ".php", ".c", ".cc", ".cpp", ".h", ".hpp", ".cs", ".scala", ".ex", ".dart", ".lua", ".css", ".scss",
        ".less",
    }
)  # fmt: skip
ENTRY_POINTS = frozenset(
    {"index", "main", "app", "mod", "lib", "setup", "manage", "conftest", "__init__", "__main__", "wsgi", "asgi"}
)
STANDALONE_FOLDERS = frozenset(
    {"bin", "scripts", "test", "tests", "__tests__", "spec", "specs", "e2e", "migrations", "config", "data", "examples"}
)
TEST_NAME = re.compile(r"(?:^test_|_tests?$|_spec$|\.(?:test|spec|stories|config|d)$)|(?:Test|Tests|Spec)$")


def noticed(task: Task, change: Change, tools: Tools, plan: Plan | None) -> tuple[Finding, ...]:
    """Worth telling whoever looks at the work; none of it blocks."""
    return (*astray(task, change), *orphans(change, tools, plan))


def orphans(change: Change, tools: Tools, plan: Plan | None) -> tuple[Finding, ...]:
    """WIRE-01, WIRE-02: new source files of the change that nothing refers to and that the plan does not excuse."""
    new = tuple(path for path in newcomers(change) if not excused(path, plan))
    return tuple(_orphan(path) for path in (tools.facts.unreferenced(change.commit, new) if new else ()))


def newcomers(change: Change) -> Iterator[str]:
    return (f.path for f in change.files if f.status == "A" and not standalone(f.path))


def standalone(path: str) -> bool:
    """A file that stands for itself: no source, an entry point, a test, a script, a configuration, a declaration."""
    pure = PurePosixPath(path)
    if pure.suffix.lower() not in SOURCES or STANDALONE_FOLDERS & {part.lower() for part in pure.parts[:-1]}:
        return True
    return pure.stem.lower() in ENTRY_POINTS or bool(TEST_NAME.search(pure.stem))


def excused(path: str, plan: Plan | None) -> bool:
    """A line of the accepted plan calls the file standalone; an executor cannot excuse itself."""
    lines = plan.text.splitlines() if plan else ()
    return any(path in line and "standalone" in line.lower() for line in lines)


def _orphan(path: str) -> Finding:
    what = f"ORPHANED FILE: {path} -- zero imports, no standalone justification."
    return Finding(rule="WIRE-01", where=path, what=what, severity="warning")


def astray(task: Task, change: Change) -> Iterator[Finding]:
    """PVRF-01i. A task that names no file at all cannot be left."""
    for file in change.files if task.files else ():
        if not _named(file.path, task.files):
            what = f"not among the files of task {task.id}"
            yield Finding(rule="scope", where=file.path, what=what, severity="warning")


def _named(path: str, names: Iterable[str]) -> bool:
    """As a file, below a named folder, or by a pattern."""
    bare = (name.removeprefix("./").rstrip("/") for name in names)
    return any(path == name or path.startswith(f"{name}/") or fnmatchcase(path, name) for name in bare)
