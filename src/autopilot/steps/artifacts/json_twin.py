"""The JSON beside each paper: the same typed values, for programs to read."""

import json
from typing import Any

import msgspec

from autopilot.history.record import PhaseRecord


def twin(record: PhaseRecord, **parts: Any) -> str:
    """The record's phase and the parts, as JSON."""
    body = {"phase_id": record.phase.id, "phase_name": record.phase.name, **msgspec.to_builtins(parts)}
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def written_at(record: PhaseRecord, result: object) -> str:
    """When the journal got the result."""
    return next(e.at for e in reversed(record.history) if getattr(e.event, "result", None) == result)
