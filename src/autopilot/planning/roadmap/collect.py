"""Find every place of a roadmap that names a phase, and the lines that belong to it."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from autopilot.planning.roadmap import fields, mentions
from autopilot.planning.roadmap.markdown import Document, Heading
from autopilot.planning.roadmap.mentions import Mention, Unread

_PHASES_HEADING = re.compile(r"\b(?:phases|roadmap|milestones?)\b", re.IGNORECASE)
_NO_PROSE = re.compile(r"(?:[-+*]|\d{1,4}[.)])\s|[|#<>]")
_MAX_CONTINUED = 20
_BLOCK_END = re.compile(r"\s*</details>", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Mentions in file order, each with the lines that follow it, and lines that only look like one."""

    mentions: tuple[Mention, ...]
    bodies: dict[int, range]
    unread: tuple[tuple[int, str], ...]


def collect(document: Document) -> Found:
    unread = Unread()
    titles = list(_titles(document.headings, unread))
    bodies = _sections(document, titles)
    free = _outside(document, bodies.values())
    entries = list(_entries(document, free, unread))
    for mention, body in entries:
        bodies[mention.line] = body
    tables = list(_rows(document, free))
    everything = sorted([*titles, *(mention for mention, _ in entries), *tables], key=lambda mention: mention.line)
    kept = tuple(_countable(everything, document.headings))
    known = {mention.id for mention in kept}
    unread.lines += [
        (mention.line, mention.name or mention.id)
        for mention in everything
        if mention.weak and mention.kind == "entry" and mention.id not in known
    ]
    return Found(mentions=kept, bodies=bodies, unread=tuple(sorted(unread.lines)))


def _titles(headings: Sequence[Heading], unread: Unread) -> Iterator[Mention]:
    """Phase headings. One without a separator (`#### Phase 1 results`) inside a phase's section is a sub-heading."""
    level = 0
    for heading in headings:
        found = mentions.heading(heading.line, heading.level, heading.text, unread)
        if found and not (found.weak and 0 < level < heading.level):
            level = heading.level
            yield found
        elif heading.level <= level:
            level = 0


def _sections(document: Document, titles: Sequence[Mention]) -> dict[int, range]:
    """R5: a section ends at the next phase heading, a heading of the same or a higher level, or `</details>`."""
    phase_lines = {title.line for title in titles}
    ends = [(heading.line, 0 if heading.line in phase_lines else heading.level) for heading in document.headings]
    ends += [(line, 0) for line, text in enumerate(document.lines, start=1) if "<" in text and _BLOCK_END.match(text)]
    levels = {title.line: title.level for title in titles}
    sections: dict[int, range] = {}
    opened: int | None = None
    for line, level in sorted(ends):
        if opened is not None and level <= levels[opened]:
            sections[opened] = range(opened + 1, line)
            opened = None
        if line in levels:
            opened = line
    if opened is not None:
        sections[opened] = range(opened + 1, len(document.lines) + 1)
    return sections


def _outside(document: Document, sections: Iterable[range]) -> list[int]:
    """The lines in no phase's section: where a list or table may speak of phases."""
    covered = bytearray(len(document.lines) + 2)
    for section in sections:
        covered[section.start : section.stop] = b"\1" * len(section)
    for heading in document.headings:
        covered[heading.line] = 1
    return [line for line in range(1, len(document.lines) + 1) if not covered[line]]


def _entries(document: Document, free: Sequence[int], unread: Unread) -> Iterator[tuple[Mention, range]]:
    """List entries with what is indented below them; an entry inside another phase's entry is none."""
    taken = 0
    for line in free:
        text = document.lines[line - 1]
        if line < taken or "hase" not in text.lower():
            continue
        said = " ".join([text, *_continued(document.lines, line)])
        if found := mentions.entry(line, said, unread):
            taken = _body_end(document.lines, line, found.indent)
            yield found, range(line + 1, taken)


def _continued(lines: Sequence[str], line: int) -> Iterator[str]:
    """The rest of an entry written over several lines: indented text below it, up to a list, a label or a gap."""
    for text in lines[line : line + _MAX_CONTINUED]:
        bare = text.strip()
        if not bare or not text[0].isspace() or _NO_PROSE.match(bare) or fields.starts_field(bare):
            return
        yield bare


def _body_end(lines: Sequence[str], line: int, indent: int) -> int:
    for at in range(line, len(lines)):
        text = lines[at].expandtabs(4)
        if text.strip() and len(text) - len(text.lstrip()) <= indent:
            return at + 1
    return len(lines) + 1


def _rows(document: Document, free: Sequence[int]) -> Iterator[Mention]:
    """The rows of each table; lines with pipes that follow each other are one table, so each is read once."""
    before = -1
    for line in free:
        if "|" not in document.lines[line - 1]:
            continue
        if line != before + 1:
            yield from mentions.rows(document, line)
        before = line


def _countable(everything: Sequence[Mention], headings: Sequence[Heading]) -> Iterator[Mention]:
    """
    Weak mentions count where nothing better exists.

    A heading without a separator counts for a phase no one else names; a plain bullet below `## Phases`, or, like a
    table without a status, when the file has no phases else.
    """
    strong = {mention.id for mention in everything if not mention.weak}
    starts = [heading.line for heading in headings]
    for mention in everything:
        above = bisect_right(starts, mention.line)
        alone = mention.kind == "heading" and mention.id not in strong
        listed = mention.kind == "entry" and above and _PHASES_HEADING.search(headings[above - 1].text)
        if not mention.weak or not strong or alone or listed:
            yield mention
