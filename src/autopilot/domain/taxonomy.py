"""The ten ways a phase can fail (TAX-01), and which reported failures name none of them."""

from collections.abc import Iterable
from typing import get_args

from autopilot.domain.answers import Categorised, Category
from autopilot.domain.evidence import CommandRun

CATEGORIES: tuple[str, ...] = get_args(Category)
GATE_CATEGORIES: dict[str, Category] = {
    "compile": "compilation_failure", "lint": "lint_failure", "build": "build_failure",
}  # fmt: skip


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
    """SBOX-04: what a failing command of ours is a case of."""
    if run.exit_code is None:
        return "tool_failure"
    return GATE_CATEGORIES.get(run.check, "acceptance_criteria_unmet")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
