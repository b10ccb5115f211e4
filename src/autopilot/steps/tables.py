"""The forms papers share: Markdown tables that nothing written in them can break, and JSON beside the prose."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from autopilot.domain.record import PhaseRecord


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [" | ".join(head), "|".join("---" for _ in head)]
    lines += [" | ".join(_cell(cell) for cell in row) for row in rows]
    return "\n".join(f"|{line}|" if line.startswith("---") else f"| {line} |" for line in lines)


def _cell(value: object) -> str:
    return " ".join(str(value).replace("|", "\\|").split())


def twin(record: PhaseRecord, **parts: Any) -> str:
    """What a paper says, from the same typed values, for programs to read."""
    body = {"phase_id": record.phase.id, "phase_name": record.phase.name, **msgspec.to_builtins(parts)}
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def written_at(record: PhaseRecord, result: object) -> str:
    """When the journal got the result."""
    return next(e.at for e in reversed(record.entries) if getattr(e.event, "result", None) == result)
