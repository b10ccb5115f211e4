"""Assigns a failure to one of ten categories (TAX-01)."""

import re
from collections.abc import Iterable
from typing import get_args

from autopilot.domain.answers import Categorised, Category
from autopilot.domain.evidence import CommandRun, Finding
from autopilot.domain.results import Verified

# From here on a shell tells of a command that could not be started or was ended by a signal.
NOT_STARTED = 126
_PARTS = re.compile(r"\s*(?:&&|\|\||[;|\n])\s*")
_SEARCH = re.compile(
    r"^(?:!\s*)?(?:(?:git\s+)?grep|egrep|fgrep|zgrep|rg|ag|test|\[\[?|ls|wc|cat|head|tail|find|stat|file|true|false|:|"
    r"echo|printf|sort|uniq|cut|tr|cd|jq|diff|cmp)(?:\s|$)"
)
_OUT_OF_BOUNDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("installs packages for the whole machine", re.compile(
        r"\b(?:npm|pnpm)\s+(?:i|install|add)\b[^;&|]*\s(?:-g|--global)\b|\byarn\s+global\s+add\b|"
        r"\bpip3?\s+install\b[^;&|]*\s--(?:user|break-system-packages)\b|\bsudo\b|\b(?:apt|apt-get|brew|dnf|yum)\s+install\b"
    )),
    ("writes outside the project", re.compile(
        r"(?<![<>=-])>{1,2}\s*(?:~|\$HOME|/(?!dev/(?:null|stdout|stderr|tty)\b|tmp/))|\brm\s+-\w+\s+(?:~|\$HOME|/(?!tmp/))"
    )),
    ("reaches into the network", re.compile(
        r"\b(?:curl|wget)\b[^;&|]*\bhttps?://(?!localhost\b|127\.0\.0\.1\b|0\.0\.0\.0\b|\[::1\])"
    )),
)  # fmt: skip
_REFUSED: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("the sandbox refused a write", re.compile(r"Read-only file system|\bEROFS\b")),
    ("the sandbox refused the network", re.compile(
        r"Network is unreachable|Could not resolve host|Temporary failure in name resolution|"
        r"\bENETUNREACH\b|\bEAI_AGAIN\b"
    )),
)  # fmt: skip


def executes(command: str) -> bool:
    """Whether the command runs something of the project, and does not only look for text or files."""
    return any(part and not _SEARCH.match(part) for part in _PARTS.split(command.strip()))


def strongest(runs: Iterable[CommandRun]) -> CommandRun | None:
    """
    SBOX-02: of several runs about one criterion the one that tells most.

    Execution before search, and of equals the one that failed: a pass never hides a failure of its own kind.
    """
    return min(runs, key=lambda run: (not executes(run.command), run.passed), default=None)


def violation(run: CommandRun) -> str:
    """SBOX-03: how the command leaves its bounds, by its own text or by what it was refused; empty when it does not."""
    parts = _PARTS.split(run.command.strip())
    done = " ; ".join(part for part in parts if not _SEARCH.match(part) or ">" in part)
    asked = (what for what, pattern in _OUT_OF_BOUNDS if pattern.search(done))
    refused = (what for what, pattern in _REFUSED if not run.passed and pattern.search(run.output))
    return next(iter((*asked, *refused)), "")


def broke_down(run: CommandRun) -> bool:
    """SBOX-04: cut off, killed, or never started; a command that ran and said no is none."""
    return not run.passed and (run.exit_code is None or run.exit_code < 0 or run.exit_code >= NOT_STARTED)


CATEGORIES: tuple[str, ...] = get_args(Category)
GATE_CATEGORIES: dict[str, Category] = {
    "compile": "compilation_failure", "lint": "lint_failure", "build": "build_failure",
}  # fmt: skip
# What a command that broke down was about, by the programs it names.
COMMAND_CATEGORIES: tuple[tuple[re.Pattern[str], Category], ...] = (
    (re.compile(r"\b(?:\w*lint\w*|ruff|flake8|clippy|shellcheck)\b"), "lint_failure"),
    (re.compile(r"\b(?:tsc|javac|rustc|gcc|clang|swiftc|mypy|pyright|py_compile|compileall|compile|cargo check)\b"),
     "compilation_failure"),
    (re.compile(r"\b(?:build|make|cmake|ninja|webpack|rollup|esbuild|gradlew?|mvn)\b"), "build_failure"),
)  # fmt: skip


def known(named: Iterable[Categorised]) -> tuple[Categorised, ...]:
    """The entries whose category is one of the ten."""
    return tuple(entry for entry in named if entry.category in CATEGORIES)


def unclassified(failures: Iterable[str], named: Iterable[Categorised]) -> tuple[str, ...]:
    """VRFY-05a: every failure without a category, and every entry whose category is none of the ten."""
    entries = tuple(named)
    placed = tuple(_plain(entry.failure) for entry in known(entries))
    bare = (f for f in failures if not any(_plain(f) in p or p in _plain(f) for p in placed if p))
    strange = (e.failure or e.category for e in entries if e.category not in CATEGORIES)
    return tuple(dict.fromkeys((*bare, *strange)))


def category_of(run: CommandRun) -> Category:
    """SBOX-03, SBOX-04: what a failing command of ours is a case of."""
    if run.check in GATE_CATEGORIES:
        return GATE_CATEGORIES[run.check]
    if violation(run):
        return "scope_creep"
    if not broke_down(run):
        return "acceptance_criteria_unmet"
    return next((category for named, category in COMMAND_CATEGORIES if named.search(run.command)), "tool_failure")


def failure_categories(seen: Verified) -> tuple[Categorised, ...]:
    """VRFY-05b: every failure of a verification that has a category: those we found, then those the verifier named."""
    gates = (run for run in seen.gates if run.check not in seen.old_failures)
    runs = ((r.what, category_of(r)) for r in (*seen.checks, *gates) if not r.passed)
    content = ((f"{f.where}: {f.what}", _content_category(f)) for f in seen.broken)
    ours = (Categorised(failure=what, category=category) for what, category in (*runs, *content))
    return (*ours, *known(seen.opinion.failure_categories if seen.opinion else ()))


def _content_category(finding: Finding) -> Category:
    return "build_failure" if finding.rule == "PTV-03" else "acceptance_criteria_unmet"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
