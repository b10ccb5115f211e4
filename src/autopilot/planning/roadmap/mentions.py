"""Where a roadmap speaks of a phase: headings, list entries and table rows, each read on its own."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from autopilot.domain.phase import PhaseStatus
from autopilot.planning.roadmap import ids
from autopilot.planning.roadmap import phase_status as status
from autopilot.planning.roadmap.markdown import Document, cells, plain

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
_STRUCK = re.compile(r"[^\w\n~]{0,12}~~[^\w\n~]{0,12}phase\b", re.IGNORECASE)
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
_DESCRIBED = re.compile(rf" (?:--?|[{_DASH}]{{1,3}}|\u00b7) ")
# What stands where a number should: something with a digit, or one word before a separator.
_NUMBERLIKE = re.compile(rf"([^\s:]*\d[^\s:]*|[^\s:]{{1,16}}(?=\s*(?::|\uff1a|\s[{_DASH}]|\s--?\s)))")
_NO_NUMBER = {"details", "numbering", "overview", "order", "summary", "dependencies", "structure", "status", "list"}
_PHASE_COLUMN = {"phase", "phases", "phase #", "phase name"}
_NUMBER_COLUMN = {"#", "id", "no", "no.", "nr"}
_DIVIDER = re.compile(r"[\s|:-]*-[\s|:-]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """
    One place that names a phase. `status` is None where it says nothing of it; `weak` where it may be prose.

    `words` is what it says of the status, `milestone` the cell of a table's milestone column, `successor` the phase
    that takes the place of this one.
    """

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
    words: str = ""
    milestone: str = ""
    successor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The columns of a table of phases. Without a status or dependency column it may be about something else."""

    status: int | None
    needs: int | None
    name: int | None
    milestone: int | None = None

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
    text, struck = _unstruck(" ".join(text.split()))
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
        status=status.of_marks(f"{lead['front']} {title['sign'] or ''} {name}") or struck,
        weak=title["sign"] is None and struck is None,
        inline_fields=lost[0].strip() if lost else "",
        words=text,
        successor=status.successor(name),
    )


def entry(line: int, text: str, unread: Unread) -> Mention | None:
    """`- [ ] **Phase 1: Name** - text`, and the same without box or bold."""
    item = _ITEM.match(text)
    said, struck = _unstruck(" ".join(item["text"].split()) if item else "")
    lead = _LEAD.match(said)
    if item is None or lead is None:
        return None
    title = _TITLE.match(said, lead.end())
    bold = "**" in lead["front"] or "__" in lead["front"]
    marked = bold or item["box"] is not None or struck is not None
    if title is None or not (title["sign"] or title["bold"] or struck):
        if marked:
            unread.note(line, said, lead.end())
        return None
    behind = title["name"]
    name, description = _divide(behind, bold=bold and not title["bold"])
    seen = status.of_box(item["box"]) if item["box"] is not None else None
    aside = _aside(status.out_of_the_way(f"{title['sign'] or ''} {behind}"), struck, seen)
    return Mention(
        id=ids.normalise(title["id"]),
        kind="entry",
        line=line,
        name=_clean(name),
        description=_described(description),
        status=aside
        or seen
        or status.of_marks(f"{lead['front']} {name}")
        or status.of_description(description, behind),
        boxed=seen is not None and aside is None,
        weak=not marked,
        indent=len(item["indent"].expandtabs(4)),
        words=f"[{item['box']}]" if seen is not None and aside is None else said,
        successor=status.successor(behind),
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
        milestone=_column(names, "milestone"),
    )


def _column(names: list[str], *wanted: str) -> int | None:
    return next((names.index(name, 1) for name in wanted if name in names[1:]), None)


def _row(line: int, row: tuple[str, ...], table: Table) -> Mention | None:
    found = _ROW_ID.match(plain(row[0]))
    if found is None or len(row) == 1:
        return None
    struck: PhaseStatus | None = "cancelled" if row[0].strip().startswith("~~") else None
    words = plain(_cell(row, table.status))
    means = status.of_words(words) if table.status is not None else None
    return Mention(
        id=ids.normalise(found["id"]),
        kind="row",
        line=line,
        name=_clean(found["name"] or _cell(row, table.name)),
        status=struck if struck and means in {None, "not_started"} else means,
        weak=table.weak,
        needs=_cell(row, table.needs) if table.needs is not None else None,
        words=words,
        milestone=plain(_cell(row, table.milestone)),
        successor=status.successor(words),
    )


def _aside(said: PhaseStatus | None, struck: PhaseStatus | None, box: PhaseStatus | None) -> PhaseStatus | None:
    """Whether an entry is out of the way. A ticked box stays done, struck out or with a part of it deferred."""
    if box == "completed":
        return said if said in {"superseded", "cancelled"} else None
    return said or struck


def _unstruck(text: str) -> tuple[str, PhaseStatus | None]:
    """The text without the marks of a phase struck out, and what they mean where no word says more."""
    if not _STRUCK.match(text):
        return text, None
    return text.replace("~~", ""), "cancelled"


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
    return _bare(_standing(plain(_SUFFIX.sub("", name)).strip())).strip(" -:\u2014\u2013*")


def _standing(name: str) -> str:
    """The name without a word such as `- SUPERSEDED by Phase 2.1` behind it."""
    return status.OUT_OF_THE_WAY.sub("", name).strip() or name


def _bare(text: str) -> str:
    for _ in range(3):
        text = _TRAILING.sub("", text).strip() or text
    return text
