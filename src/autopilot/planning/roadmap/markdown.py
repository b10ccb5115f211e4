"""Markdown text as lines that count: code and comments are blanked, line numbers stay."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt

_NEWLINE = re.compile(r"\r\n?|\n")
_HEADING = re.compile(r" {0,3}(#{1,6})(?!#)(.*)$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_PHASE = re.compile(r"\W{0,8}phase\b", re.IGNORECASE)
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})")
_FRONT_MATTER_LINE = re.compile(r"[ \t#-]|[\w.-]+[ \t]*:")
_LINK = re.compile(r"!?\[([^\]\[]*)\]\([^)(]*\)")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=\S)([^*]*)(?<=\S)\*(?![\w*])")
_MARKS = re.compile(r"\*\*|__|~~|`")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    line: int
    level: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """`lines[0]` is line 1 of the file: what counts as prose, with code and comments blanked."""

    lines: tuple[str, ...]
    headings: tuple[Heading, ...] = ()
    oddities: tuple[tuple[int, str], ...] = ()


def decode(text: str | bytes) -> str:
    """Any bytes as text: BOM dropped, what is not UTF-8 replaced, line ends made one kind."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", errors="replace")
    return _NEWLINE.sub("\n", text.removeprefix("\ufeff").replace("\0", "\ufffd"))


def read(text: str | bytes) -> Document:
    """Never raises; an unclosed fence or comment hides the rest of the file, and is told as an oddity."""
    lines = decode(text).split("\n")
    oddities: list[tuple[int, str]] = []
    _blank_front_matter(lines)
    for first, last in _code(lines):
        if not _closed(lines, first, last):
            oddities.append((first + 1, "a code fence is opened here and never closed: what follows is not read"))
        lines[first:last] = [""] * (last - first)
    oddities += _blank_comments(lines)
    return Document(lines=tuple(lines), headings=tuple(_headings(lines)), oddities=tuple(sorted(oddities)))


def plain(text: str) -> str:
    """Prose without its Markdown: emphasis, code ticks and links gone, spaces single."""
    return " ".join(_EMPHASIS.sub(r"\1", _MARKS.sub("", _LINK.sub(r"\1", text))).split())


def cells(row: str) -> tuple[str, ...]:
    """The cells of a table row; a pipe in a code span or behind a backslash divides nothing."""
    kept = row.replace("\\|", "\0")
    for start, end in reversed(code_spans(kept)):
        kept = kept[:start] + kept[start:end].replace("|", "\0") + kept[end:]
    bare = kept.strip().removeprefix("|").removesuffix("|")
    return tuple(cell.strip().replace("\0", "|") for cell in bare.split("|"))


def code_spans(line: str) -> list[Span]:
    """Where code spans stand: a run of ticks up to the next run of the same length."""
    runs = [found.span() for found in re.finditer("`+", line)]
    by_length: dict[int, list[int]] = {}
    for at, (start, end) in enumerate(runs):
        by_length.setdefault(end - start, []).append(at)
    for places in by_length.values():
        places.reverse()
    spans: list[Span] = []
    at = 0
    while at < len(runs):
        start, end = runs[at]
        later = by_length[end - start]
        while later and later[-1] <= at:
            later.pop()
        if later:
            spans.append((start, runs[later[-1]][1]))
            at = later[-1]
        at += 1
    return spans


def _code(lines: list[str]) -> list[Span]:
    """Line ranges of fenced and indented code, as CommonMark sees them and inside raw HTML as well."""
    if not any("```" in line or "~~~" in line or "    " in line or "\t" in line for line in lines):
        return []
    parser = MarkdownIt("commonmark").disable(["reference", "inline", "text_join"], ignoreInvalid=True)
    found: list[Span] = []
    for token in parser.parse("\n".join(lines)):
        if token.map is None:
            continue
        if token.type in {"fence", "code_block"}:
            found.append((token.map[0], token.map[1]))
        elif token.type == "html_block" and not token.content.lstrip().startswith("<!--"):
            found += _fences(lines, token.map[0], token.map[1])
    return found


def _fences(lines: list[str], first: int, last: int) -> Iterator[Span]:
    """Fences among the lines of a raw HTML block, which CommonMark does not look for."""
    opened: tuple[int, str] | None = None
    for at in range(first, last):
        mark = _FENCE.match(lines[at])
        if mark is None:
            continue
        if opened is None:
            opened = (at, mark[1])
        elif mark[1].startswith(opened[1]):
            yield opened[0], at + 1
            opened = None
    if opened is not None:
        yield opened[0], last


def _closed(lines: list[str], first: int, last: int) -> bool:
    """Whether a fence has its end; indented code needs none."""
    opening = _FENCE.match(lines[first])
    if opening is None or lines[first].startswith("    "):
        return True
    # A fence in a list may report trailing blank lines as its own.
    while last - 1 > first and not lines[last - 1].strip():
        last -= 1
    closing = _FENCE.match(lines[last - 1]) if last - 1 > first else None
    return closing is not None and closing[1].startswith(opening[1])


def _blank_front_matter(lines: list[str]) -> None:
    if lines[0].rstrip() != "---":
        return
    for at, line in enumerate(lines[1:400], start=1):
        if line.rstrip() in {"---", "..."}:
            lines[: at + 1] = [""] * (at + 1)
            return
        if line and not _FRONT_MATTER_LINE.match(line):
            return


def _blank_comments(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Blank `<!-- ... -->`, over lines too, but not inside code spans. A comment never closed hides the rest."""
    opened: int | None = None
    for at, line in enumerate(lines):
        if opened is None and "<!--" not in line:
            continue
        lines[at], inside = _without_comments(line, inside=opened is not None)
        opened = (at if opened is None else opened) if inside else None
    if opened is not None:
        yield opened + 1, "a comment is opened here and never closed: what follows is not read"


def _without_comments(line: str, *, inside: bool) -> tuple[str, bool]:
    kept: list[str] = []
    at = 0
    spans = iter(code_spans(line))
    span = next(spans, None)
    while (found := line.find("-->" if inside else "<!--", at)) >= 0:
        while span is not None and span[1] <= found:
            span = next(spans, None)
        if not inside and span is not None and span[0] <= found:
            kept.append(line[at : span[1]])
            at = span[1]
            continue
        if not inside:
            kept.append(line[at:found])
        at = found + (3 if inside else 4)
        inside = not inside
    if not inside:
        kept.append(line[at:])
    return "".join(kept), inside


def _headings(lines: list[str]) -> Iterator[Heading]:
    for at, line in enumerate(lines):
        if "#" in line[:4] and (found := _HEADING.match(line)):
            yield Heading(line=at + 1, level=len(found[1]), text=found[2].strip().rstrip("#").rstrip())
        elif at and _UNDERLINE.match(line) and (_PHASE.match(lines[at - 1]) or line.lstrip()[:1] == "="):
            # Only `=` always makes a heading: a rule of dashes right below a line is common and means nothing.
            yield Heading(line=at, level=1 if line.lstrip()[0] == "=" else 2, text=lines[at - 1].strip())
