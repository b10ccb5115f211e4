"""Reads the milestones of a roadmap: their sections, folded blocks and list, and which of them is active."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from autopilot.domain.phase import Milestone, milestone_key
from autopilot.planning.roadmap import ids
from autopilot.planning.roadmap import phase_status as status
from autopilot.planning.roadmap.markdown import Document, plain

ARCHIVED = "archived"
"""The label of a folded block of finished phases whose summary names no version."""

_TITLE = re.compile(
    r"[^\w\n]{0,12}(?:(?:current|active|next|upcoming|completed|archived)\s+)?"
    r"(?:milestone\s*[:#]?\s*(?P<number>v?\d{1,4}(?:\.\d{1,4}){0,3})|(?P<label>v\d{1,4}(?:\.\d{1,4}){0,3}|M\d{1,3}))"
    r"(?![\w+]|\.\w)(?P<rest>.*)$",
    re.IGNORECASE,
)
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[(?P<box>.?)\][ \t]+)?(?P<text>\S.*)$")
_LIST = re.compile(r"\bmilestones\b", re.IGNORECASE)
_FINISHED_LIST = re.compile(r"\b(?:completed|shipped|finished|past|previous|archived?)\b", re.IGNORECASE)
# A mark, or a word that stands apart: `v2.0 Complete Rewrite` has not shipped, `v2.0 Rewrite (complete)` has.
_SHIPPED = re.compile(
    r"[\u2705\u2713\u2714]|\bshipped\b"
    r"|[-\u2014\u2013\u00b7:(] ?(?:completed?|done|released|archived|finished)\b(?! [a-z]{3})",
    re.IGNORECASE,
)
_CURRENT = re.compile(
    r"[\U0001f6a7\U0001f504\u25c6]|^\W*(?:current|active) milestone\b"
    r"|[-\u2014\u2013\u00b7:(] ?(?:in[ -]progress|active|current|executing|started|wip)\b",
    re.IGNORECASE,
)
_HEAD = re.compile(
    r"[*_]{0,2}(?:(?P<when>shipped|completed)|(?P<status>status))[*_]{0,2}:[*_]{0,2}\s*(?P<rest>\S.*)", re.IGNORECASE
)
_DATE = re.compile(r"\b\d{4}-\d\d(?:-\d\d)?\b")
_PHASES = re.compile(
    rf"\bphases?\s+({ids.PATTERN})(?:\s*[-\u2013\u2014]\s*({ids.PATTERN}))?(?![\w.]*\w)", re.IGNORECASE | re.ASCII
)
_MORE = re.compile(
    rf"\s*[,+&]\s*({ids.PATTERN})(?:\s*[-\u2013\u2014]\s*({ids.PATTERN}))?(?![\w.]*\w)(?!\s*plans?\b)", re.ASCII
)
_BEHIND_NAME = re.compile(
    r"\s*\(|\s[-\u2014\u2013]{1,3}\s*(?:SHIPPED|Phases?\b)|\s*[\u2705\u2713\u2714]|\s\u00b7\s", re.IGNORECASE
)
_DETAILS = re.compile(r"<(/?)details\b", re.IGNORECASE)
_SUMMARY = re.compile(r"<summary\b[^>]*>(?P<text>.*?)(?:</summary>|$)", re.IGNORECASE)
_PHASE = re.compile(r"\W{0,12}phase\s+\S*\d", re.IGNORECASE)
_NEAR = 8

Span = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Lines that belong to a milestone: `start` up to but not including `stop`."""

    key: str
    start: int
    stop: int
    folded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestones:
    """Every milestone of a roadmap by its key, in file order."""

    known: dict[str, Milestone] = field(default_factory=dict)
    sections: tuple[Section, ...] = ()
    spans: dict[str, tuple[Span, ...]] = field(default_factory=dict)
    current: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()

    def at(self, line: int) -> str:
        """The key of the milestone whose section holds the line; empty when none does."""
        inside = [section for section in self.sections if section.start <= line < section.stop]
        return max(inside, key=lambda section: section.start).key if inside else ""

    def holding(self, phase_id: str) -> tuple[str, ...]:
        """The milestones whose list says that they have this phase."""
        return tuple(
            label for label, spans in self.spans.items() if any(ids.between(low, phase_id, high) for low, high in spans)
        )

    def shipped(self, label: str) -> bool:
        return label in self.known and self.known[label].shipped

    def active(self, stated: str, used: Sequence[str]) -> str:
        """The one STATE.md names, else the roadmap's own, else the last that is not folded away. Only of those used."""
        open_ones = [label for label in used if not self.shipped(label)]
        folded = {section.key for section in self.sections if section.folded}
        choices = (
            [label for label in used if label == stated],
            [label for label in self.current if label in open_ones],
            [label for label in self.listed if label in open_ones],
            [label for label in used if label not in folded and label in open_ones][-1:],
            list(used)[-1:],
        )
        return next((found[0] for found in choices if found), "")


def key(text: str) -> str:
    """`v1.0`, `V1` and `Milestone v1.0 MVP` are `v1`; `M2` and `Milestone 2` are `m2`. Empty for other text."""
    found = _TITLE.match(text)
    return _key(found) if found else ""


def read(document: Document) -> Milestones:
    reading = _Reading(document)
    reading.read_headings()
    reading.read_folded()
    reading.read_list()
    return Milestones(
        known=reading.known,
        sections=tuple(reading.sections),
        spans={label: tuple(spans) for label, spans in reading.spans.items()},
        current=tuple(dict.fromkeys(reading.current)),
        listed=tuple(dict.fromkeys(reading.listed)),
    )


def _key(found: re.Match[str]) -> str:
    label: str = found["label"] or found["number"]
    return milestone_key(f"m{label}" if label[0].isdigit() else label)


def _label(found: re.Match[str]) -> str:
    label: str = found["label"] or found["number"]
    if label[0].isdigit():
        return f"M{label}"
    return label.upper() if label[0] in "mM" else label.lower()


class _Reading:
    """Collects what headings, folded blocks and lists say of each milestone."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.known: dict[str, Milestone] = {}
        self.sections: list[Section] = []
        self.spans: dict[str, list[Span]] = {}
        self.current: list[str] = []
        self.listed: list[str] = []

    def read_headings(self) -> None:
        headings = self.document.headings
        finished_above: dict[int, bool] = {}
        for at, heading in enumerate(headings):
            finished_above = {level: said for level, said in finished_above.items() if level < heading.level}
            found = _TITLE.match(heading.text)
            if found is None or _PHASE.match(heading.text):
                finished_above[heading.level] = bool(_FINISHED_LIST.search(heading.text) and _LIST.search(heading.text))
                continue
            later = (h for h in headings[at + 1 :] if h.level <= heading.level and not _PHASE.match(h.text))
            stop = next((h.line for h in later), len(self.document.lines) + 1)
            head = self._head(heading.line, headings[at + 1].line if at + 1 < len(headings) else stop)
            finished = bool(head) or any(finished_above.values())
            label = self._note(found, heading.line, f"{heading.text} {head}", finished=finished)
            self.sections.append(Section(key=label, start=heading.line, stop=stop))

    def _head(self, line: int, stop: int) -> str:
        """What a line such as `**Shipped:** 2026-08-14` right below the heading says; empty when none says it."""
        for text in self.document.lines[line : min(stop - 1, line + _NEAR)]:
            said = _HEAD.match(text.strip())
            if said and (_DATE.search(said["rest"]) if said["when"] else status.of_words(said["rest"]) == "completed"):
                return said[0]
        return ""

    def read_folded(self) -> None:
        """`<details>` blocks, where finished milestones are put. One whose summary is a phase's is none."""
        for start, stop in _folded(self.document.lines):
            summary = next(
                (m for text in self.document.lines[start - 1 : start + 3] if (m := _SUMMARY.search(text))), None
            )
            text = plain(re.sub(r"<[^>]*>", "", summary["text"])) if summary else ""
            found = _TITLE.match(text)
            if found:
                label = self._note(found, start, text, finished=False)
            elif _SHIPPED.search(text) and not _PHASE.match(text):
                label = ARCHIVED
                self.known.setdefault(ARCHIVED, Milestone(label=ARCHIVED, name=text, line=start, shipped=True))
            else:
                continue
            self.sections.append(Section(key=label, start=start, stop=stop, folded=True))

    def read_list(self) -> None:
        """The roadmap's own list: `- \u2705 **v1.0 MVP** - Phases 1-4 (shipped 2026-02-25)` below `## Milestones`."""
        headings = self.document.headings
        for at, heading in enumerate(headings):
            if not _LIST.search(heading.text):
                continue
            stop = headings[at + 1].line if at + 1 < len(headings) else len(self.document.lines) + 1
            finished = _FINISHED_LIST.search(heading.text) is not None
            for line in range(heading.line + 1, stop):
                item = _ITEM.match(self.document.lines[line - 1])
                text = plain(item["text"]) if item else ""
                if item and (found := _TITLE.match(text)):
                    ticked = item["box"] in {"x", "X"}
                    label = self._note(found, line, text, finished=finished or ticked, open_box=item["box"] == " ")
                    self.listed.append(label)

    def _note(self, found: re.Match[str], line: int, text: str, *, finished: bool, open_box: bool = False) -> str:
        """Keep what one place says; the first place gives name and line, any of them that it shipped, and when."""
        label, name = _key(found), _name(found["rest"])
        shipped = finished or (bool(_SHIPPED.search(text)) and not open_box)
        when = _DATE.search(text) if shipped else None
        before = self.known.get(label) or Milestone(label=_label(found), name=name, line=line)
        self.known[label] = Milestone(
            label=before.label,
            name=before.name or name,
            line=before.line,
            shipped=before.shipped or shipped,
            when=before.when or (when[0] if when else ""),
        )
        if _CURRENT.search(text) and not shipped:
            self.current.append(label)
        self.spans.setdefault(label, []).extend(_spans(text))
        return label


def _name(rest: str) -> str:
    """`v1.0 MVP (Phases 1-5) - SHIPPED 2026-02-25` is called MVP."""
    return plain(_BEHIND_NAME.split(rest)[0]).strip(" -:\u2014\u2013*_.")


def _spans(text: str) -> Iterator[Span]:
    """`Phases 1-7`, `Phase 8, Phases 1-2`, `Phases 135-138 + 138.1`."""
    for first in _PHASES.finditer(text):
        yield first[1], first[2] or first[1]
        at = first.end()
        while more := _MORE.match(text, at):
            yield more[1], more[2] or more[1]
            at = more.end()


def _folded(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Every outermost `<details>` block: its first line and the line behind it."""
    depth = start = 0
    for line, text in enumerate(lines, start=1):
        for mark in _DETAILS.finditer(text) if "<" in text else ():
            if not mark[1]:
                start = line if depth == 0 else start
                depth += 1
            elif depth:
                depth -= 1
                if depth == 0:
                    yield start, line + 1
    if depth:
        yield start, len(lines) + 1
