"""The pipeline and the rules of its gates, printed from the tables the program goes by."""

import json
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Protocol


class RuleRow(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def verdict(self) -> str: ...


class StageRow(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def heading(self) -> str: ...
    @property
    def what(self) -> str: ...
    @property
    def gate(self) -> str: ...
    @property
    def question(self) -> str: ...
    @property
    def rules(self) -> Sequence[RuleRow]: ...


_WIDTH = 80


def explain(stages: Sequence[StageRow], *, as_json: bool = False) -> str:
    if as_json:
        return json.dumps({"stages": [_plain(stage) for stage in stages]}, ensure_ascii=False)
    gates = {stage.gate: stage for stage in stages if stage.gate}
    blocks = [_pipeline(stages), *(_gate(stage) for stage in gates.values())]
    return "\n\n".join(blocks)


def _plain(stage: StageRow) -> dict[str, object]:
    rules = [{"name": rule.name, "verdict": rule.verdict} for rule in stage.rules]
    return {
        "name": stage.name,
        "heading": stage.heading,
        "what": stage.what,
        "gate": stage.gate,
        "question": stage.question,
        "rules": rules,
    }


def _pipeline(stages: Sequence[StageRow]) -> str:
    rows = [("step", "shown as", "what it does"), *((s.name, s.heading or "-", s.what) for s in stages)]
    note = "A gate stands behind each step. Its table is read from the top; the first row that applies decides."
    return "\n".join(["The pipeline", "", *_columns(rows), "", *wrap(note, _WIDTH)])


def _gate(stage: StageRow) -> str:
    title = f"{stage.gate}: {stage.question}"
    rows = [("when", "then"), *((rule.name, rule.verdict) for rule in stage.rules)]
    return "\n".join([*wrap(title, _WIDTH), "", *_columns(rows)])


def _columns(rows: Sequence[tuple[str, ...]]) -> Iterable[str]:
    """Aligned columns; the last one wraps below itself."""
    widths = [min(max(len(row[n]) for row in rows), 44) for n in range(len(rows[0]) - 1)]
    margin = 2 + sum(width + 2 for width in widths)
    for row in rows:
        cells = [wrap(cell, width) or [""] for cell, width in zip(row, [*widths, _WIDTH - margin], strict=True)]
        for line in range(max(map(len, cells))):
            shown = [cell[line] if line < len(cell) else "" for cell in cells]
            padded = [text.ljust(width) for text, width in zip(shown, widths, strict=False)]
            yield f"  {'  '.join([*padded, shown[-1]])}".rstrip()
