"""
Which changed files can change what a check does without being a check: its control files. Pure.

A conftest, a shadowed module, a test script of package.json decide about red and green as much as the tests do.
"""

import json
import re
import sys
from pathlib import PurePosixPath
from typing import Literal

from autopilot.evidence.tamper.hidden_exit_codes import CI
from autopilot.evidence.test_files import is_test

Status = Literal["A", "M", "D", "T"]
_NAMES = re.compile(
    r"conftest\.py|\.?pytest\.ini|(?:site|user)customize\.py|[^/]*\.(?:pth|pyc|pyo)|noxfile\.py"
    r"|(?:jest|vitest|karma|ava|playwright|cypress)\.(?:config|conf|setup|workspace)\.[cm]?[jt]sx?|setupTests\.[jt]sx?"
    r"|jest\.config\.json|\.mocharc(?:\.\w+)?|\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.cjs|\.rspec|phpunit\.xml(?:\.dist)?"
    r"|build\.rs|\.nycrc(?:\.\w+)?"
    # What linters, type checkers and coverage go by.
    r"|\.(?:flake8|pylintrc|coveragerc|shellcheckrc|eslintignore|clang-tidy)|\.?(?:ruff\.toml|mypy\.ini|clippy\.toml)"
    r"|\.(?:eslintrc|stylelintrc|jshintrc)(?:\.\w+)?|(?:eslint|stylelint)\.config\.[cm]?[jt]s|biome\.jsonc?"
    r"|\.(?:rubocop|golangci|swiftlint|yamllint|hadolint)\.(?:ya?ml|toml|json)|pyrightconfig\.json|\.?codecov\.ya?ml"
    r"|(?:checkstyle|pmd|spotbugs|detekt)[\w.-]*\.(?:xml|ya?ml)|\.pre-commit-config\.yaml"
    r"|(?:[\w.-]*[._-])?lint(?:er|ing)?(?:[._-][\w.-]*)?\.(?:cfg|ini|toml|ya?ml|json|conf)"
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
# Beside those, in a file that was there.
_LINT_SECTIONS = {
    "pyproject.toml": r"tool\.(?:ruff|mypy|pylint|flake8|pyright|basedpyright|bandit)\b.*",
    "setup.cfg": r"flake8|mypy.*|pylint.*|pycodestyle",
    "tox.ini": r"flake8|pycodestyle",
}
_SCRIPTS = ("scripts", "jest", "mocha", "ava", "vitest", "nyc", "c8", "eslintConfig", "eslintIgnore", "stylelint")
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
        sections = _SECTIONS[name] if before is None else f"{_SECTIONS[name]}|{_LINT_SECTIONS[name]}"
        return _section(sections, before) != _section(sections, after)
    if status != "A" and CI.search(path):
        return True
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
    """The rules of the targets that gates are made of, and of all they need; variables and what is for every target."""
    rules, general = _rules(text or "")
    wanted = [name for name in rules if _TARGETS.fullmatch(name)]
    for name in wanted:
        needed = re.split(r"[\s:|]+", " ".join(line for line in rules[name] if not line[0].isspace()))
        wanted += [need for need in dict.fromkeys(needed) if need in rules and need not in wanted]
    return "\n".join((*general, *(line for name in rules if name in wanted for line in rules[name])))


def _rules(text: str) -> tuple[dict[str, list[str]], list[str]]:
    """Each target with its lines, and the lines that belong to none."""
    rules: dict[str, list[str]] = {}
    general: list[str] = []
    current = [general]
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if not line[0].isspace():
            head = line.partition(":")[0]
            plain = ":" in line and "=" not in line and "%" not in head and not head.startswith(".")
            current = [rules.setdefault(name, []) for name in head.split()] if plain else [general]
        if line.partition(":")[0].rstrip() != ".PHONY":
            for lines in current:
                lines.append(line)
    return rules, general
