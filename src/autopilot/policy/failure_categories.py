"""The ten ways a phase can fail (TAX-01), and which reported failures name none of them."""

import re
from collections.abc import Iterable
from typing import get_args

from autopilot.domain.answers import Categorised, Category
from autopilot.domain.evidence import CommandRun, Finding
from autopilot.domain.results import Verified
from autopilot.policy.execution import broke_down, violation

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
