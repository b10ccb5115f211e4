"""Where a roadmap speaks of a phase: headings, list entries and table rows, each read on its own."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from autopilot.domain.phase import PhaseStatus
from autopilot.planning import ids, status
from autopilot.planning.markdown import Document, cells, plain

Kind = Literal["heading", "entry", "row"]

_DASH = r"\u2014\u2013"
# The id must end there, and what follows must not make it a range (Phases 1-4) or a longer word.
_TITLE = re.compile(
    rf"(?P<id>{ids.PATTERN})(?![\w.]*\w)(?![-{_DASH}]\d)(?!\s+[-{_DASH}]\s+\d+\s*(?:$|[:(*]))"
    rf"\s*(?P<bold>\*\*|__)?\s*(?P<sign>[:.)\uff1a{_DASH}|\u00b7]|--?|\u2192)?(?P<name>.*)$",
    re.ASCII,
)
_LEAD = re.compile(r"(?P<front>(?:[^\w\n]|_){0,12})phase[ \t]+", re.IGNORECASE)
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,4}[.)])[ \t]+(?:\[(?P<box>[^\]]?)\][ \t]+)?(?P<text>\S.*)$")
_ROW_ID = re.compile(
    rf"\W{{0,6}}(?:phase\s+)?(?P<id>{ids.PATTERN})(?:$|(?![\w/-])[.:)]?\s*(?P<name>.*)$)", re.IGNORECASE | re.ASCII
)
# Texts are given with single spaces and runs are bounded: each search stays linear in the line.
_FIELD = re.compile(r"(?:\*\*|__) ?(?:Goal|Depends on|Requirements|Success Criteria|Status|Scope)\b.*$", re.IGNORECASE)
_SUFFIX = re.compile(r" ?[*_]{0,3}\( ?(?:STUB|INSERTED|BACKLOG)\b[^()]*\)[*_]{0,3}", re.IGNORECASE)
_TRAILING = re.compile(
    r" ?[*_]{0,3}\([^()]{0,20}\b(?:completed?|shipped|done|deferred)\b[^()]*\)[*_]{0,3}$"
    r"| [-\u2014\u2013]{1,3} ?(?:completed|shipped) \d{4}-\d\d-\d\d$"
    r"| ?\(\d{1,4}(?:/\d{1,4})? plans?\b[^()]*\)$"
    r"| ?[\u2713\u2714\u2705]{1,4}$",
    re.IGNORECASE,
)
# A list of shipped phases: `Name (2/2 plans) - completed 2026-02-13`.
_COUNTED = re.compile(
    r" ?\(\d{1,4}(?:/\d{1,4})? plans?\b[^()]*\)(?=$| [-\u2014\u2013]{1,3} (?:completed|shipped)\b)", re.IGNORECASE
)
_DATED = re.compile(r"(?:^| )\(?(?:completed|shipped|complete)(?: \d{4}-\d\d[^()]*)?\)?$", re.IGNORECASE)
_DESCRIBED = re.compile(rf" (?:--?|[{_DASH}]{{1,3}}) ")
# What stands where a number should: something with a digit, or one word before a separator.
_NUMBERLIKE = re.compile(rf"([^\s:]*\d[^\s:]*|[^\s:]{{1,16}}(?=\s*(?::|\uff1a|\s[{_DASH}]|\s--?\s)))")
_NO_NUMBER = {"details", "numbering", "overview", "order", "summary", "dependencies", "structure", "status", "list"}
_PHASE_COLUMN = {"phase", "phases", "phase #", "phase name"}
_NUMBER_COLUMN = {"#", "id", "no", "no.", "nr"}
_DIVIDER = re.compile(r"[\s|:-]*-[\s|:-]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One place that names a phase. `status` is None where it says nothing of it; `weak` where it may be prose."""

    id: str
    kind: Kind
    line: int
    name: str
    level: int = 0
    description: str = ""
    status: PhaseStatus | None = None
    boxed: bool = False
    weak: bool = False
    inline_fields: str = ""
    needs: str | None = None
    indent: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The columns of a table of phases. Without a status or dependency column it may be about something else."""

    status: int | None
    needs: int | None
    name: int | None

    @property
    def weak(self) -> bool:
        return self.status is None and self.needs is None


@dataclass(slots=True)
class Unread:
    """Lines that look like a phase but are none we can read, so that nothing vanishes in silence."""

    lines: list[tuple[int, str]] = field(default_factory=list)

    def note(self, line: int, text: str, at: int) -> None:
        found = _NUMBERLIKE.match(text, at)
        if found and found[1].lower() not in _NO_NUMBER:
            self.lines.append((line, text))


def heading(line: int, level: int, text: str, unread: Unread) -> Mention | None:
    """`### Phase 1: Name`, with marks before it and fields lost onto its line (R13)."""
    text = " ".join(text.split())
    lead = _LEAD.match(text)
    if lead is None:
        return None
    title = _TITLE.match(text, lead.end())
    if title is None:
        unread.note(line, text, lead.end())
        return None
    rest = title["name"]
    lost = _FIELD.search(rest)
    name = rest[: lost.start()] if lost else rest
    return Mention(
        id=ids.normalise(title["id"]),
        kind="heading",
        line=line,
        level=level,
        name=_clean(name),
        status=status.of_marks(lead["front"] + " " + name),
        weak=title["sign"] is None,
        inline_fields=lost[0].strip() if lost else "",
    )


def entry(line: int, text: str, unread: Unread) -> Mention | None:
    """`- [ ] **Phase 1: Name** - text`, and the same without box or bold."""
    item = _ITEM.match(text)
    said = " ".join(item["text"].split()) if item else ""
    lead = _LEAD.match(said)
    if item is None or lead is None:
        return None
    title = _TITLE.match(said, lead.end())
    bold = "**" in lead["front"] or "__" in lead["front"]
    marked = bold or item["box"] is not None
    if title is None or not (title["sign"] or title["bold"]):
        if marked:
            unread.note(line, said, lead.end())
        return None
    behind = title["name"]
    name, description = _divide(behind, bold=bold and not title["bold"])
    seen = status.of_box(item["box"]) if item["box"] is not None else None
    return Mention(
        id=ids.normalise(title["id"]),
        kind="entry",
        line=line,
        name=_clean(name),
        description=_described(description),
        status=seen or status.of_marks(f"{lead['front']} {name}") or status.of_description(description, behind),
        boxed=seen is not None,
        weak=not marked,
        indent=len(item["indent"].expandtabs(4)),
    )


def rows(document: Document, header: int) -> Iterator[Mention]:
    """The rows of the table whose header stands on that line, when its first column is the phase."""
    lines = document.lines
    if header >= len(lines) or not _DIVIDER.match(lines[header]):
        return
    table = _table(lines[header - 1])
    if table is None:
        return
    for line in range(header + 2, len(lines) + 1):
        if "|" not in lines[line - 1]:
            return
        if found := _row(line, cells(lines[line - 1]), table):
            yield found


def _table(header: str) -> Table | None:
    names = [plain(cell).lower() for cell in cells(header)]
    first = names[0]
    if len(names) == 1 or not (first in _PHASE_COLUMN or (first in _NUMBER_COLUMN and _PHASE_COLUMN & {*names[1:]})):
        return None
    return Table(
        status=_column(names, "status", "state", "done"),
        needs=_column(names, "depends on", "dependencies", "depends", "blocked by", "needs"),
        name=_column(names, "name", "phase name", "title", "phase", "description", "goal"),
    )


def _column(names: list[str], *wanted: str) -> int | None:
    return next((names.index(name, 1) for name in wanted if name in names[1:]), None)


def _row(line: int, row: tuple[str, ...], table: Table) -> Mention | None:
    found = _ROW_ID.match(plain(row[0]))
    if found is None or len(row) == 1:
        return None
    return Mention(
        id=ids.normalise(found["id"]),
        kind="row",
        line=line,
        name=_clean(found["name"] or _cell(row, table.name)),
        status=status.of_words(plain(_cell(row, table.status))) if table.status is not None else None,
        weak=table.weak,
        needs=_cell(row, table.needs) if table.needs is not None else None,
    )


def _cell(row: tuple[str, ...], at: int | None) -> str:
    return row[at] if at is not None and at < len(row) else ""


def _divide(rest: str, *, bold: bool) -> tuple[str, str]:
    """The name and the one-line description behind it."""
    if bold and (end := re.search(r"\*\*|__", rest)):
        return rest[: end.start()], rest[end.end() :].strip().lstrip("-:\u2014\u2013 ")
    stripped = rest.strip()
    if counted := _COUNTED.search(stripped):
        return stripped[: counted.start()], ""
    bare = _bare(stripped)
    if split := _DESCRIBED.search(bare):
        return bare[: split.start()], bare[split.end() :]
    return bare, ""


def _described(text: str) -> str:
    """The description alone: when it was completed is no goal."""
    return _DATED.sub("", plain(_SUFFIX.sub("", text))).strip().lstrip("\u2705\u2713\u2714 -:\u2014\u2013")


def _clean(name: str) -> str:
    """The name alone: marks of insertion, completion and plan counts gone, unless nothing else is there."""
    return _bare(plain(_SUFFIX.sub("", name)).strip()).strip(" -:\u2014\u2013*")


def _bare(text: str) -> str:
    for _ in range(3):
        text = _TRAILING.sub("", text).strip() or text
    return text
