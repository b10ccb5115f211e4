"""Reads STATE.md: where the project is and which phases it calls done. Alone it never decides that work is skipped."""

import re
from collections.abc import Iterator
from typing import Any

from autopilot.domain.value import Value
from autopilot.planning.plan import front_matter
from autopilot.planning.roadmap import ids, markdown
from autopilot.planning.roadmap import phase_status as status
from autopilot.planning.roadmap.markdown import cells, plain

_FIELD = re.compile(
    r"\s*(?:[-*]\s+)?(?:\*\*)?(?P<label>Phase|Plan|Status|Progress|Last activity|Milestone)(?:\*\*)?:(?:\*\*)?"
    r"\s*(?P<rest>\S.*)$",
    re.IGNORECASE,
)
_PHASE = re.compile(
    rf"(?:phase\s+)?(?P<id>{ids.PATTERN})(?:\s+of\s+(?P<total>\d+))?[^(]*(?:\((?P<name>[^()]*)\))?",
    re.IGNORECASE | re.ASCII,
)
_FIELD_ROW = re.compile(r"\s*\|\s*\*\*(?P<label>Milestone|Status)\*\*\s*\|\s*(?P<rest>[^|]*\S)\s*\|", re.IGNORECASE)
_COUNTED = re.compile(r"\s+(total_phases|completed_phases):\s*(\d{1,4})\s*$")
_STATUS_OF = re.compile(
    rf"(?:phase\s+(?P<id>{ids.PATTERN})\s+)?(?:phase\s+)?(?:completed?|done|verified)\b(?!.*\b(?:plan|milestone)\b)",
    re.IGNORECASE | re.ASCII,
)
_TOP = 60
_PERCENT = re.compile(r"(\d{1,3})\s*%")
_DIVIDER = re.compile(r"[\s|:-]*-[\s|:-]*$")


class StatedPhase(Value, frozen=True, kw_only=True):
    """One row of the `By Phase` table, in either layout."""

    id: str
    cells: dict[str, str]


class StatedDone(Value, frozen=True, kw_only=True):
    """A phase that the file calls done, and where. `name` is empty where the file gives none."""

    id: str
    line: int
    says: str
    name: str = ""


class StatedPosition(Value, frozen=True, kw_only=True):
    """`all_done`: the file counts as many completed phases as there are in its milestone, `total`."""

    phase: str = ""
    phase_name: str = ""
    plan: str = ""
    status: str = ""
    percent: int | None = None
    milestone: str = ""
    stopped_at: str = ""
    phases: tuple[StatedPhase, ...] = ()
    done: tuple[StatedDone, ...] = ()
    total: int = 0
    all_done: bool = False
    progress_line: int = 0


def read(text: str | bytes) -> StatedPosition:
    """Whatever is missing is empty; nothing is an error."""
    clean = markdown.decode(text)
    matter, _ = front_matter.read(clean.split("\n"))
    lines = markdown.read(clean).lines
    said: dict[str, str] = {}
    places: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if found := _FIELD.match(line) or _FIELD_ROW.match(line):
            label = found["label"].lower()
            places.setdefault(label, number)
            said.setdefault(label, plain(found["rest"]))
    phase = _PHASE.match(said.get("phase", ""))
    percent = _PERCENT.search(said.get("progress", ""))
    return StatedPosition(
        phase=ids.normalise(phase["id"]) if phase else "",
        phase_name=(phase["name"] or "").strip() if phase else "",
        plan=said.get("plan", ""),
        status=said.get("status", "") or next(iter(matter.get("status", ())), ""),
        percent=int(percent[1]) if percent else None,
        milestone=next(iter(matter.get("milestone", ())), "") or said.get("milestone", ""),
        stopped_at=next(iter(matter.get("stopped_at", ())), ""),
        phases=_table(lines),
        done=tuple(_done(lines, phase["id"] if phase else "", said.get("status", ""), places.get("status", 0))),
        **_progress(clean.split("\n")),
    )


def _progress(lines: list[str]) -> dict[str, Any]:
    """The counts of the front matter's `progress` block."""
    held = {found[1]: (int(found[2]), at) for at, line in enumerate(lines[:_TOP], 1) if (found := _COUNTED.match(line))}
    total, done = held.get("total_phases", (0, 0)), held.get("completed_phases", (0, 0))
    return {"total": total[0], "all_done": 0 < total[0] == done[0], "progress_line": done[1]}


def _done(lines: tuple[str, ...], phase: str, said: str, line: int) -> Iterator[StatedDone]:
    """What the status of the current phase and the rows of a table of phases call done."""
    named = _STATUS_OF.match(said)
    if named and (about := named["id"] or phase):
        yield StatedDone(id=ids.normalise(about), line=line, says=said[:80])
    header: list[str] = []
    for at, text in enumerate(lines):
        if "|" not in text:
            header = []
        elif not header and at + 1 < len(lines) and _DIVIDER.match(lines[at + 1]) and "|" in lines[at + 1]:
            header = [plain(cell).lower() for cell in cells(text)]
        elif header and header[0] == "phase" and "status" in header and not _DIVIDER.match(text):
            row = [plain(cell) for cell in cells(text)]
            column = header.index("status")
            number = _PHASE.match(row[0])
            if number and column < len(row) and status.of_words(row[column]) == "completed":
                name = row[header.index("name")] if "name" in header else row[0][number.end("id") :]
                yield StatedDone(
                    id=ids.normalise(number["id"]), line=at + 1, says=row[column][:80], name=name.strip(" .:")
                )


def _table(lines: tuple[str, ...]) -> tuple[StatedPhase, ...]:
    found: list[StatedPhase] = []
    header: list[str] = []
    for at, line in enumerate(lines):
        if "|" not in line:
            header = []
        elif not header and at + 1 < len(lines) and _DIVIDER.match(lines[at + 1]) and "|" in lines[at + 1]:
            header = [plain(cell).lower() for cell in cells(line)]
        elif header and header[0] == "phase" and not _DIVIDER.match(line):
            row = [plain(cell) for cell in cells(line)]
            number = _PHASE.match(row[0])
            if number:
                named = dict(zip(header[1:], row[1:], strict=False))
                found.append(StatedPhase(id=ids.normalise(number["id"]), cells=named))
    return tuple(found)
