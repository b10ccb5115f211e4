"""The pipeline and its gates as rows to read: what `autopilot explain` and the docs print."""

import inspect
from dataclasses import dataclass
from typing import Any

from autopilot.domain.results import heading_of
from autopilot.pipeline import ENDING, PHASE_GATE, PIPELINE, UNANSWERED


@dataclass(frozen=True, slots=True)
class RuleRow:
    name: str
    verdict: str


@dataclass(frozen=True, slots=True)
class StageRow:
    name: str
    heading: str
    what: str
    gate: str
    question: str
    rules: tuple[RuleRow, ...]


def stages() -> tuple[StageRow, ...]:
    """Every step with its gate, those behind the last phase included, then the two gates outside the order."""
    rows = [
        _row(stage.name, heading_of(stage.name) or stage.name.upper(), _what(stage.step), stage.gate)
        for stage in (*PIPELINE, *ENDING)
    ]
    rows.append(_row("any step", "", "An agent gave no usable answer.", UNANSWERED))
    rows.append(_row("phase", "", "A pass of the phase has ended.", PHASE_GATE))
    return tuple(rows)


def _row(name: str, heading: str, what: str, gate: Any) -> StageRow:
    rules = tuple(RuleRow(rule.name, rule.verdict.__name__.replace("_", " ")) for rule in gate.rules)
    return StageRow(name, heading, what, gate.name, gate.question, rules)


def _what(step: object) -> str:
    """A step's module says in one sentence what it does."""
    return (inspect.getdoc(inspect.getmodule(step)) or "").partition("\n")[0]
