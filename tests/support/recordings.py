"""Runs that were written down, entry by entry."""

from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from autopilot.domain.events import Entry, Event

FEAST = Path(__file__).parents[1] / "data" / "runs" / "feast.jsonl"
Told = tuple[str, Entry]


class _Row(msgspec.Struct):
    stream: str
    number: int
    at: str
    event: dict[str, Any]


@cache
def feast() -> tuple[Told, ...]:
    """
    A real run of four phases, two at a time, with longer times than it took.

    One task of phase 2 is mended at the second try; phase 3 fails, and phase 4 goes on beside it.
    """
    rows = (msgspec.json.decode(line, type=_Row) for line in FEAST.read_bytes().splitlines())
    return tuple(
        (row.stream, Entry(number=row.number, at=row.at, event=msgspec.convert(row.event, Event))) for row in rows
    )
