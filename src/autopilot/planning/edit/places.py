"""Where a phase stands in a roadmap, and where a new one belongs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autopilot.planning.edit.lines import Text
from autopilot.planning.edit.style import is_rule
from autopilot.planning.roadmap import group_mentions as grouping
from autopilot.planning.roadmap import ids, markdown, milestones
from autopilot.planning.roadmap.collect import collect
from autopilot.planning.roadmap.mentions import Kind, Mention

_DETAILS = re.compile(r"<(/?)details\b", re.IGNORECASE)
_ORDERED = re.compile(r"execution\s+order|phases\s+execute|\W*phases?\s+\d[\d.]*\s*\+\s*:", re.IGNORECASE)
_ID = rf"(?<![\w.-])({ids.PATTERN})(?![\w-]|\.\d)"
_ARROW = r"[ \t]*(?:->|=>|-->|\u2192|\u27a1|\u27f6)[ \t]*"
_CHAIN = re.compile(rf"{_ID}(?:{_ARROW}{_ID})+", re.ASCII)
_LABEL = re.compile(r"\s*(?:[-*+]\s+)?(?:\*\*|__)[^*_\n]{2,60}")
_STRUCTURE = re.compile(r"\s*(?:[-*+]\s|\d{1,4}[.)]\s|\||#{1,6}\s|<|>|```|~~~)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Lines `start` up to but not including `stop`; `tail` are the blank lines and rules at its end."""

    start: int
    stop: int
    tail: tuple[str, ...]
    level: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One phase in a chain `1 -> 2 -> 3`: where it stands in its line, and the arrow before or else behind it."""

    line: int
    start: int
    end: int
    id: str
    raw: str
    before: str
    behind: str

    @property
    def arrow(self) -> str:
        return self.behind or self.before


class Survey:
    """A roadmap seen both as its bytes are and as its reader understands it."""

    def __init__(self, content: bytes) -> None:
        self.text = Text(content)
        self.document = markdown.read(content)
        self.found = collect(self.document)
        keyed = grouping.grouped(self.found.mentions, milestones.read(self.document), "")
        self._mentions = {group.id: group.mentions for group in keyed.groups}

    @property
    def lines(self) -> Sequence[str]:
        return self.text.lines

    def raw(self, mention: Mention) -> str:
        return self.lines[mention.line - 1]

    def of(self, phase_id: str, kind: Kind) -> list[Mention]:
        return [m for m in self._mentions.get(phase_id, ()) if m.kind == kind]

    def section(self, title: Mention) -> Section:
        """A phase's section without a footer of the file that follows a rule."""
        stop = min(self.found.bodies[title.line].stop, self.text.stop)
        stop = self.footer(title.line, stop) or stop
        return Section(
            start=title.line, stop=stop, tail=self.tail(title.line + 1, stop), level=min(max(title.level, 1), 6)
        )

    def tail(self, start: int, stop: int) -> tuple[str, ...]:
        at = stop
        while at > start and (not self.lines[at - 2].strip() or is_rule(self.lines[at - 2])):
            at -= 1
        return tuple(self.lines[at - 1 : stop - 1])

    def item(self, entry: Mention) -> range:
        """A list entry's lines with what is indented below it, without the blank lines behind."""
        stop = min(self.found.bodies[entry.line].stop, self.text.stop)
        while stop > entry.line + 1 and not self.lines[stop - 2].strip():
            stop -= 1
        return range(entry.line, max(stop, entry.line + 1))

    def loose(self, entry: Mention) -> bool:
        """Whether a blank line and another entry stand before this one."""
        before = entry.line - 1
        if before < 1 or self.lines[before - 1].strip():
            return False
        return any(self.item(m).stop == before for m in self.found.mentions if m.kind == "entry")

    def spread(self, entry: Mention) -> bool:
        """Whether the entries around this one are set apart by blank lines."""
        stop = self.item(entry).stop
        follows = any(m.line == stop + 1 for m in self.found.mentions if m.kind == "entry")
        return self.loose(entry) or (follows and not self.lines[stop - 1].strip())

    def folded(self, line: int) -> bool:
        """Whether the line lies in a `<details>` block, where shipped work is put."""
        depth = 0
        for text in self.document.lines[: line - 1]:
            for mark in _DETAILS.finditer(text) if "<" in text else ():
                depth = max(0, depth - 1) if mark[1] else depth + 1
        return depth > 0

    def next_heading(self, line: int, level: int) -> int:
        """Where a section may end below the line, outside every `<details>` block; else the end of the file."""
        titles = {mention.line for mention in self.found.mentions if mention.kind == "heading"}
        ends = (h.line for h in self.document.headings if h.level <= level or h.line in titles)
        return next((at for at in ends if at > line and not self.folded(at)), self.text.stop)

    def header(self, row: Mention) -> str:
        """The header of the table the row stands in."""
        at = row.line
        while at > 1 and "|" in self.lines[at - 2]:
            at -= 1
        return self.lines[at - 1]

    def links(self) -> Iterator[Link]:
        """Every phase in the lines that give the order of execution."""
        for at, line in enumerate(self.document.lines, start=1):
            if line != self.lines[at - 1] or not self._gives_order(at):
                continue
            for chain in _CHAIN.finditer(line):
                yield from _chain_links(at, line, chain)

    def _gives_order(self, line: int) -> bool:
        own, above = self.document.lines[line - 1], self.document.lines[line - 2] if line > 1 else ""
        return bool(_ORDERED.search(own) or re.search(r"execution\s+order", above, re.IGNORECASE))

    def footer(self, start: int, stop: int) -> int | None:
        """A rule below a blank line with nothing but prose behind it: `---` and `*Last updated: ...*`."""
        for at in range(stop - 1, start + 1, -1):
            line = self.lines[at - 1]
            if is_rule(line):
                said = any(text.strip() for text in self.lines[at : stop - 1])
                return at if said and not self.lines[at - 2].strip() else None
            if _LABEL.match(line) or _STRUCTURE.match(line):
                return None
        return None


def _chain_links(at: int, line: str, chain: re.Match[str]) -> Iterator[Link]:
    found = list(re.finditer(_ID, line[: chain.end()], re.ASCII))
    found = [one for one in found if one.start() >= chain.start()]
    for place, one in enumerate(found):
        before = line[found[place - 1].end() : one.start()] if place else ""
        behind = line[one.end() : found[place + 1].start()] if place + 1 < len(found) else ""
        yield Link(
            line=at,
            start=one.start(),
            end=one.end(),
            id=ids.normalise(one[1]),
            raw=one[1],
            before=before,
            behind=behind,
        )
