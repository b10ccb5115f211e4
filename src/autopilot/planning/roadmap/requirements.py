"""REQUIREMENTS.md to requirements, and which phase each belongs to."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from autopilot.domain.phase import Roadmap
from autopilot.domain.value import Value
from autopilot.planning.roadmap import ids, markdown
from autopilot.planning.roadmap import phase_status as status
from autopilot.planning.roadmap.fields import requirement_ids
from autopilot.planning.roadmap.markdown import Document, Heading, cells, plain

Scope = Literal["in", "deferred", "out"]

_ID = r"(?P<id>[A-Za-z0-9]+(?:\.\d+)*(?:-[A-Za-z0-9]+(?:\.\d+)*)+|R\d{1,4}|REQ\d{1,4})"
_ITEM = re.compile(
    rf"\s*[-*+][ \t]+(?:\[(?P<box>.?)\][ \t]+)?(?P<bold>\*\*|__|`|\[)?{_ID}(?P<end>(?:[^\w.-].*)?)$", re.ASCII
)
_HEADED = re.compile(rf"{_ID}(?:\s*[:.]|\s+[-\u2014\u2013])\s*(?P<text>\S.*)$", re.ASCII)
_PHASE = re.compile(rf"(?:phase\s*)?(?P<id>{ids.PATTERN})(?![\w.]*\w)", re.IGNORECASE | re.ASCII)
_SUFFIX = re.compile(
    rf"\s[-\u2014\u2013]+\s*(?:v[\d.]+\s+)?Phase\s+(?P<id>{ids.PATTERN})\W*$", re.IGNORECASE | re.ASCII
)
_DEFERRED = re.compile(r"future|later|deferred|backlog|nice to have", re.IGNORECASE)
_LATER = re.compile(r"\bv[2-9]\b", re.IGNORECASE)
_VERSION = re.compile(r"\bv\d", re.IGNORECASE)
_FIRST_VERSION = re.compile(r"\bv[01](?:\.\d+)*\b|active|functional|validated", re.IGNORECASE)
_OUT = re.compile(r"out of scope|non-goals|excluded", re.IGNORECASE)
_SECTION = 2  # headings of this level and above open a version, deeper ones a category
_BULLET = re.compile(r"(?:[-+]|\*(?!\*)|\d{1,4}[.)])(?:\s|$)|[|#>]")
_MAX_CONTINUED = 50
_DIVIDER = re.compile(r"[\s|:-]*-[\s|:-]*$")


class Requirement(Value, frozen=True, kw_only=True):
    """`phases` are normalised ids; `all` stands for every phase. `done` is what its check-box or table says."""

    id: str
    text: str
    category: str = ""
    scope: Scope = "in"
    done: bool = False
    status: str = ""
    phases: tuple[str, ...] = ()
    line: int = 0


class Trace(Value, frozen=True, kw_only=True):
    """One row of a traceability table."""

    requirement: str
    phases: tuple[str, ...]
    status: str = ""


def read(text: str | bytes) -> tuple[Requirement, ...]:
    """Every requirement once, in file order. A file without ids has none, and that is no error."""
    document = markdown.read(text)
    traced: dict[str, Trace] = {}
    for trace in _traces(document):
        traced.setdefault(trace.requirement, trace)
    found: dict[str, Requirement] = {}
    for requirement in _stated(document):
        found.setdefault(requirement.id, _joined(requirement, traced.get(requirement.id)))
    return tuple(found.values())


def of_phase(requirements: Sequence[Requirement], roadmap: Roadmap, phase_id: str) -> tuple[Requirement, ...]:
    """
    What the phase must deliver.

    For each requirement the traceability table counts, then the roadmap's `Requirements` line, then the suffix of its
    text. What the roadmap names but the file does not describe is kept with an empty text.
    """
    own = ids.normalise(phase_id)
    phase = next((phase for phase in roadmap.phases if phase.id == own), None)
    named = phase.requirements if phase else ()
    described = {requirement.id: requirement for requirement in requirements}
    held = [r for r in requirements if own in r.phases or "all" in r.phases or (not r.phases and r.id in named)]
    missing = [Requirement(id=name, text="") for name in named if name not in described]
    return (*held, *missing)


def mapping(requirements: Sequence[Requirement], roadmap: Roadmap) -> Mapping[str, tuple[str, ...]]:
    """Requirement ids of each phase."""
    return {p.id: tuple(r.id for r in of_phase(requirements, roadmap, p.id)) for p in roadmap.phases}


def _joined(requirement: Requirement, trace: Trace | None) -> Requirement:
    if trace is None:
        return requirement
    return Requirement(
        id=requirement.id,
        text=requirement.text,
        category=requirement.category,
        scope=requirement.scope,
        done=requirement.done or status.of_words(trace.status) == "completed",
        status=trace.status,
        phases=trace.phases or requirement.phases,
        line=requirement.line,
    )


def _stated(document: Document) -> Iterator[Requirement]:
    headings = {heading.line: heading for heading in document.headings}
    scope: Scope = "in"
    category = ""
    current = False
    for number in range(1, len(document.lines) + 1):
        heading = headings.get(number)
        if heading is None:
            yield from _item(document.lines, number, scope, category)
        elif headed := _titled(heading, scope, category):
            yield headed
        elif heading.level > _SECTION:
            category = plain(heading.text)
        else:
            scope, category = _scope(heading.text, current=current), ""
            current = current or _VERSION.search(heading.text) is not None


def _titled(heading: Heading, scope: Scope, category: str) -> Requirement | None:
    """`### REQ-01: Title`."""
    found = _HEADED.match(plain(heading.text))
    if found is None or not any(sign.isdigit() for sign in found["id"]):
        return None
    return Requirement(id=found["id"], text=found["text"], scope=scope, category=category, line=heading.line)


def _item(lines: Sequence[str], number: int, scope: Scope, category: str) -> Iterator[Requirement]:
    """`- [ ] **AUTH-01**: text`, with the lines that continue it."""
    found = _ITEM.match(lines[number - 1])
    if found is None or not (found["bold"] or found["box"] is not None or found["end"].lstrip().startswith(":")):
        return
    if not _is_id(found["id"]):
        return
    said = " ".join([found["end"], *_continued(lines, number)])
    text = plain(said.lstrip("*_`] ").lstrip(":\u2014\u2013- "))
    suffix = _SUFFIX.search(text)
    box = found["box"]
    yield Requirement(
        id=found["id"],
        text=text,
        scope=scope,
        category=category,
        done=box is not None and status.of_box(box) == "completed",
        phases=(ids.normalise(suffix["id"]),) if suffix else (),
        line=number,
    )


def _is_id(word: str) -> bool:
    """`REFINE-PROMPTS` and `FR-1.1` are ids, `Multi-dialect` is a word."""
    return word.isupper() or any(sign.isdigit() for sign in word)


def _continued(lines: Sequence[str], number: int) -> Iterator[str]:
    """Indented lines below an item, or the rest of a bold id whose line was broken."""
    for line in lines[number : number + _MAX_CONTINUED]:
        bare = line.strip()
        if not bare or _BULLET.match(bare) or not (line[0] in " \t" or bare.startswith("**:")):
            return
        yield bare


def _scope(heading: str, *, current: bool) -> Scope:
    """`current` is whether a version was named before; the first one named is the one being built."""
    if _OUT.search(heading):
        return "out"
    if _FIRST_VERSION.search(heading):
        return "in"
    return "deferred" if _DEFERRED.search(heading) or (current and _LATER.search(heading)) else "in"


def _traces(document: Document) -> Iterator[Trace]:
    """Rows of tables that map requirements to phases, in either direction."""
    header: list[str] | None = None
    lines = document.lines
    for at, line in enumerate(lines):
        if "|" not in line:
            header = None
        elif header is None and at + 1 < len(lines) and "|" in lines[at + 1] and _DIVIDER.match(lines[at + 1]):
            header = [plain(name).lower() for name in cells(line)]
        elif header is not None and not _DIVIDER.match(line):
            yield from _row(header, cells(line))


def _row(header: Sequence[str], row: Sequence[str]) -> Iterator[Trace]:
    requirement = _column(header, row, ("requirement", "req", "id"))
    phase = _column(header, row, ("phase",))
    if requirement is None or phase is None:
        return
    phases = _phases(plain(phase))
    said = plain(_column(header, row, ("status", "state")) or "")
    for name in requirement_ids(requirement) or _word(requirement):
        yield Trace(requirement=name, phases=phases, status=said)


def _column(header: Sequence[str], row: Sequence[str], names: Sequence[str]) -> str | None:
    at = next((at for at, name in enumerate(header) if name.startswith(tuple(names)) and at < len(row)), None)
    return None if at is None else row[at]


def _phases(cell: str) -> tuple[str, ...]:
    """`Phase 1`, `1`, `Phase 1: Name`, `Phase 1, Phase 2`, `All phases`; anything else names none."""
    if re.match(r"all\b", cell, re.IGNORECASE):
        return ("all",)
    pieces = re.split(r"[,;&+]|\band\b", cell)
    found = [_PHASE.match(piece.strip()) for piece in pieces]
    return tuple(dict.fromkeys(ids.normalise(one["id"]) for one in found if one))


def _word(cell: str) -> tuple[str, ...]:
    bare = plain(cell)
    return (bare,) if re.fullmatch(r"[A-Za-z][\w.]{0,20}\d", bare, re.ASCII) else ()
