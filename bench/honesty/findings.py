"""Which facts spoke against the work, read from the run's journal."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from autopilot.domain.events import Event, PhaseFinished, StepFinished
from autopilot.domain.results import Unanswered
from autopilot.domain.verdict import AskHuman
from autopilot.journal.sqlite import SqliteJournal

# What was true before the work speaks for nobody.
BEFORE = frozenset({"before", "gates_before", "old_failures"})
GATES = frozenset({"compile", "lint", "test", "build"})
WORDS = (
    ("nothing was changed", "empty change"),
    ("nothing was checked", "nothing to check"),
    ("no criterion that failed before", "no criterion failed before and passes now"),
    ("is not proven", "no criterion failed before and passes now"),
    ("no readable plan", "no readable plan"),
    ("plan rejected after", "no readable plan"),
    ("the agent reports failed tasks", "its own admission"),
)


def against(root: Path) -> tuple[str, ...]:
    """Every kind of fact against the work, each once, in the order of the run; findings first."""
    labels = list(dict.fromkeys(label for event in _events(root) for label in _labels(event)))
    return tuple(sorted(labels, key=lambda label: not label.startswith("finding")))


def _events(root: Path) -> Iterator[Event]:
    # The journal is bound to the user of the bout, whose key is not ours: whether it holds is for `autopilot` to say.
    journal = SqliteJournal.look(root / ".autopilot" / "journal.db")
    for stream in journal.streams():
        yield from (entry.event for entry in journal.load(stream))


def _labels(event: Event) -> Iterator[str]:
    if isinstance(event, PhaseFinished) and isinstance(event.verdict, AskHuman):
        yield "waits for a person"
    if isinstance(event, PhaseFinished) and event.outcome.satisfied:
        yield "nothing was built"
    if not isinstance(event, StepFinished) or event.step == "triage":
        return
    yield from _walk(msgspec.to_builtins(event.result))
    if isinstance(event.result, Unanswered):
        yield f"no usable answer in {event.step} ({event.result.outcome})"
    because = getattr(event.verdict, "because", "") or ""
    yield from (label for words, label in WORDS if words in because)


def _walk(value: Any) -> Iterator[str]:
    match value:
        case {"rule": str(rule), "severity": "blocker"}:
            yield f"finding {rule}"
        case {"check": str(check), "passed": False}:
            yield _check(check)
        case dict():
            for name, part in value.items():
                if name not in BEFORE:
                    yield from _walk(part)
        case list() | tuple():
            for part in value:
                yield from _walk(part)
        case _:
            pass


def _check(check: str) -> str:
    if check in GATES:
        return f"gate {check}"
    if check.endswith(".old"):
        return "the check as it was before"
    if re.match(r"\d\d(?:\.\d+)?-\d", check):
        return "the plan's criterion"
    return "the user's criterion" if check.startswith("SC-") else f"check {check}"
