"""
Which changed files can change what a check does without being a check: its control files. Pure.

A conftest, a shadowed module, a test script of package.json decide about red and green as much as the tests do.
"""

import json
import re
import sys
from pathlib import PurePosixPath
from typing import Literal

from autopilot.evidence.test_files import is_test

Status = Literal["A", "M", "D", "T"]
_NAMES = re.compile(
    r"conftest\.py|\.?pytest\.ini|(?:site|user)customize\.py|[^/]*\.(?:pth|pyc|pyo)|noxfile\.py"
    r"|(?:jest|vitest|karma|ava|playwright|cypress)\.(?:config|conf|setup|workspace)\.[cm]?[jt]sx?|setupTests\.[jt]sx?"
    r"|jest\.config\.json|\.mocharc(?:\.\w+)?|\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.cjs|\.rspec|phpunit\.xml(?:\.dist)?"
    r"|build\.rs|\.nycrc(?:\.\w+)?"
)
_FOLDERS = frozenset({"node_modules", ".husky", ".githooks", ".cargo"})
_RUNNERS = frozenset({"pytest", "_pytest", "pluggy", "py", "nose", "hypothesis", "coverage", "xdist", "mock"})
# Python's own test package; a folder of that name is a project's tests.
_NO_SHADOW = frozenset({"test", "__main__"})
_SHADOWED = (frozenset(sys.stdlib_module_names) | _RUNNERS) - _NO_SHADOW
_SECTIONS = {
    "pyproject.toml": r"tool\.(?:pytest|tox|nox|coverage|hatch\.envs)\b.*",
    "setup.cfg": r"tool:pytest|tool:tox|coverage:.*",
    "tox.ini": r"pytest|tox|testenv.*|tool:pytest",
}
_SCRIPTS = ("scripts", "jest", "mocha", "ava", "vitest", "nyc", "c8")
_MAKEFILES = frozenset({"makefile", "gnumakefile", "justfile"})
_STARTERS = r"(?:bash|sh|dash|zsh|source|\.|python3?(?:\.\d+)?|node|ruby|perl|php)"
_LIKE_A_CHECK = re.compile(r"(?:^|[/_.-])(?:tests?|checks?|verif\w*|specs?|ci|lint|smoke|accept\w*)(?:[/_.-]|$)|\.sh$")
_TARGETS = re.compile(r"(?:test|check|lint|build|compile|verify|ci)[\w.-]*")


def is_control(path: str, status: Status, before: str | None, after: str | None) -> bool:
    """Whether the change to the file is one to what controls the checks; the texts are None where there is no file."""
    pure = PurePosixPath(path)
    if _NAMES.fullmatch(pure.name) or _FOLDERS & set(pure.parts[:-1]) or (status == "A" and shadows(path)):
        return True
    name = pure.name.lower()
    if name in _SECTIONS:
        return _section(_SECTIONS[name], before) != _section(_SECTIONS[name], after)
    if before is None:
        # Without an old version there is nothing that the checks were controlled by.
        return False
    if name == "package.json":
        return _scripts(before) != _scripts(after)
    return name in _MAKEFILES and _targets(before) != _targets(after)


def needs_text(path: str) -> bool:
    """Whether what is in the file decides."""
    name = PurePosixPath(path).name.lower()
    return name in _SECTIONS or name == "package.json" or name in _MAKEFILES


def shadows(path: str) -> bool:
    """A module at the top of the project that is imported in place of Python's own or the test runner's."""
    parts = PurePosixPath(path).parts
    if len(parts) == 1:
        return path.endswith(".py") and parts[0].removesuffix(".py") in _SHADOWED
    return parts[0] in _SHADOWED and parts[1:] == ("__init__.py",)


def named_in(path: str, commands: tuple[str, ...]) -> bool:
    """
    A script that a gate starts by name. Tests are looked after as tests.

    A program under construction that a gate compiles or starts is none: only what looks like a check counts.
    """
    if is_test(path) or not _LIKE_A_CHECK.search(path):
        return False
    started = re.compile(
        rf"(?:^|[;&|(!]|\b(?:then|do))\s*(?:{_STARTERS}\s+(?:-\w+\s+)*)?(?:\./)?{re.escape(path)}(?![\w/-])"
    )
    return any(started.search(command) for command in commands)


def _section(name: str, text: str | None) -> str:
    """The lines of every section of that name, blank ones and comments left out."""
    kept, inside = [], False
    wanted = re.compile(rf"\[\[?\s*(?:{name})\s*\]\]?")
    for line in (text or "").splitlines():
        bare = line.strip()
        if line.startswith("["):
            inside = wanted.match(bare) is not None
        if inside and bare and not bare.startswith(("#", ";")):
            kept.append(bare)
    return "\n".join(kept)


def _scripts(text: str | None) -> object:
    """The parts of a package.json that runners read; a file that cannot be read is all of it."""
    try:
        data = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text
    return {key: data.get(key) for key in _SCRIPTS} if isinstance(data, dict) else text


def _targets(text: str | None) -> str:
    """The recipes of the targets that gates are made of, and the variables they may use."""
    kept, inside = [], False
    for line in (text or "").splitlines():
        if line and not line[0].isspace() and not line.startswith("#"):
            head = line.partition(":")[0]
            inside = bool(_TARGETS.fullmatch(head.strip())) or "=" in line
        if inside and line.strip():
            kept.append(line)
    return "\n".join(kept)
