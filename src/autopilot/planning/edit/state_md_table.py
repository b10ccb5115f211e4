"""The `By Phase` table of STATE.md: a row put in for a new phase, or taken out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from autopilot.planning.edit import style
from autopilot.planning.edit.lines import Change, Text
from autopilot.planning.edit.style import NewPhase
from autopilot.planning.roadmap import ids, markdown
from autopilot.planning.roadmap.markdown import cells, plain

_BY_PHASE = re.compile(r"\W*by phase\b", re.IGNORECASE)
_DIVIDER = re.compile(r"[\s|:-]*-[\s|:-]*$")
_STATUS = {"status", "state", "done"}
_NEAR = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    line: int
    id: str
    header: str


def add(content: bytes, new: NewPhase) -> bytes:
    """With a row behind the nearest phase before the new one, where the table tells the status of phases."""
    text = Text(content)
    rows = list(_rows(content))
    earlier = [row for row in rows if ids.sort_key(row.id) < ids.sort_key(new.id)]
    if not earlier or any(row.id == new.id for row in rows):
        return content
    near = max(earlier, key=lambda row: ids.sort_key(row.id))
    if not _STATUS & {plain(name).lower() for name in cells(near.header)}:
        return content
    raw = text.lines[near.line - 1]
    line = style.row(raw, near.header, new, style.raw_id(raw))
    return text.changed([Change(line=near.line + 1, lines=(line,))])


def remove(content: bytes, phase_id: str) -> bytes:
    return Text(content).changed([Change(line=row.line, drop=1) for row in _rows(content) if row.id == phase_id])


def _rows(content: bytes) -> Iterator[_Row]:
    """The rows of the first table below the words `By Phase`."""
    lines = markdown.read(content).lines
    title = next((at for at, line in enumerate(lines) if _BY_PHASE.match(line)), None)
    if title is None:
        return
    header = next((at for at in range(title + 1, min(title + _NEAR, len(lines))) if "|" in lines[at]), None)
    if header is None or header + 1 >= len(lines) or not _DIVIDER.match(lines[header + 1]):
        return
    for at in range(header + 2, len(lines)):
        if "|" not in lines[at]:
            return
        found = style.raw_id(lines[at])
        if found:
            yield _Row(line=at + 1, id=ids.normalise(found), header=lines[header])
