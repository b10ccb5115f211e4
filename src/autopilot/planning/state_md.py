"""STATE.md to values: where the project says it stands. A hint for people, never a reason to skip work."""

import re

from autopilot.domain.value import Value
from autopilot.planning import front_matter, ids, markdown
from autopilot.planning.markdown import cells, plain

_FIELD = re.compile(
    r"\s*(?:[-*]\s+)?(?:\*\*)?(?P<label>Phase|Plan|Status|Progress|Last activity)(?:\*\*)?:(?:\*\*)?\s*(?P<rest>\S.*)$",
    re.IGNORECASE,
)
_PHASE = re.compile(
    rf"(?:phase\s+)?(?P<id>{ids.PATTERN})(?:\s+of\s+(?P<total>\d+))?[^(]*(?:\((?P<name>[^()]*)\))?",
    re.IGNORECASE | re.ASCII,
)
_PERCENT = re.compile(r"(\d{1,3})\s*%")
_DIVIDER = re.compile(r"[\s|:-]*-[\s|:-]*$")


class StatedPhase(Value, frozen=True, kw_only=True):
    """One row of the `By Phase` table, in either layout."""

    id: str
    cells: dict[str, str]


class StatedPosition(Value, frozen=True, kw_only=True):
    phase: str = ""
    phase_name: str = ""
    plan: str = ""
    status: str = ""
    percent: int | None = None
    milestone: str = ""
    stopped_at: str = ""
    phases: tuple[StatedPhase, ...] = ()


def read(text: str | bytes) -> StatedPosition:
    """Whatever is missing is empty; nothing is an error."""
    clean = markdown.decode(text)
    matter, _ = front_matter.read(clean.split("\n"))
    lines = markdown.read(clean).lines
    said: dict[str, str] = {}
    for line in lines:
        if found := _FIELD.match(line):
            said.setdefault(found["label"].lower(), plain(found["rest"]))
    phase = _PHASE.match(said.get("phase", ""))
    percent = _PERCENT.search(said.get("progress", ""))
    return StatedPosition(
        phase=ids.normalise(phase["id"]) if phase else "",
        phase_name=(phase["name"] or "").strip() if phase else "",
        plan=said.get("plan", ""),
        status=said.get("status", "") or next(iter(matter.get("status", ())), ""),
        percent=int(percent[1]) if percent else None,
        milestone=next(iter(matter.get("milestone", ())), ""),
        stopped_at=next(iter(matter.get("stopped_at", ())), ""),
        phases=_table(lines),
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
