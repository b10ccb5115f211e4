"""Lines of a screen as pieces of text with a style, cut and put together by the cells they fill."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size


class Span(NamedTuple):
    """`style` in rich's words; empty: as the terminal writes."""

    text: str
    style: str = ""


class Marks(NamedTuple):
    """The few letters beyond words: for terminals that have them, and for those that do not."""

    completed: str
    failed: str
    running: str
    waiting: str
    held: str
    line: str
    bar: str
    more: str


UNICODE = Marks("✓", "✗", "▶", "·", "!", "─", "│", "…")
ASCII = Marks("+", "x", ">", ".", "!", "-", "|", "...")
Line = list[Span]


def plain(text: str, style: str = "") -> Line:
    return [Span(text, style)]


def width_of(line: Iterable[Span]) -> int:
    return sum(cell_len(span.text) for span in line)


def cut(line: Iterable[Span], width: int, more: str = "") -> Line:
    """The line as far as it fits, ended by `more` where something is left out; empty pieces are left out."""
    pieces = [span for span in line if span.text]
    if width_of(pieces) <= width:
        return pieces
    shown: Line = []
    more = set_cell_size(more, max(0, min(width, cell_len(more))))
    room = max(0, width - cell_len(more))
    for span in pieces:
        shown.append(Span(set_cell_size(span.text, min(room, cell_len(span.text))), span.style))
        room -= cell_len(span.text)
        if room <= 0:
            break
    last = shown.pop() if shown else Span("")
    return [span for span in (*shown, Span(f"{last.text}{more}", last.style)) if span.text]


def fit(text: str, width: int) -> str:
    """Exactly so many cells; what is cut off is shown by dots."""
    return set_cell_size(text if cell_len(text) <= width else f"{set_cell_size(text, width - 3)}...", width)


def padded(line: Iterable[Span], width: int) -> Line:
    shown = cut(line, width)
    return [*shown, Span(" " * (width - width_of(shown)))]


def spread(left: Line, right: Line, width: int) -> Line:
    """One part at each edge; the right one stays whole, or is left out where it would take half the line."""
    room = width - width_of(right) - 1
    return [*padded(left, room), Span(" "), *right] if width_of(right) and room * 2 >= width else left


def beside(left: Sequence[Line], right: Sequence[Line], width: int, marks: Marks) -> list[Line]:
    """Two columns with a line between them."""
    tall = max(len(left), len(right))
    rows = ((left[n] if n < len(left) else [], right[n] if n < len(right) else []) for n in range(tall))
    return [[*padded(one, width), Span(f" {marks.bar} ", "dim"), *other] for one, other in rows]


def rule(title: str, width: int, marks: Marks) -> Line:
    text = f"{title} " if title else ""
    return [Span(text, "bold"), Span(marks.line * max(0, width - cell_len(text)), "dim")]


def flow(items: Iterable[Line], width: int, indent: str = "  ", gap: str = "  ") -> list[Line]:
    """The items one after the other, over as many lines as that takes."""
    lines: list[Line] = []
    for item in items:
        if lines and width_of(lines[-1]) + len(gap) + width_of(item) <= width:
            lines[-1] += [Span(gap), *item]
        else:
            lines.append([Span(indent), *item])
    return lines
