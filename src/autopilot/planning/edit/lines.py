"""A file as lines that can be put in and taken out while every other byte stays as it is."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_NEWLINE = re.compile(r"(\r\n?|\n)")
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Take `drop` lines out from `line` on (the first is 1), and put `lines` in their place."""

    line: int
    drop: int = 0
    lines: tuple[str, ...] = ()


class Text:
    """Lines apart from what ends them. A file that ends with a line end has an empty last line."""

    def __init__(self, content: bytes) -> None:
        text = content.decode("utf-8", "surrogateescape")
        self._bom = _BOM if text.startswith(_BOM) else ""
        pieces = _NEWLINE.split(text.removeprefix(_BOM))
        self._lines, self._ends = pieces[::2], pieces[1::2]

    @property
    def lines(self) -> Sequence[str]:
        return self._lines

    @property
    def stop(self) -> int:
        """The line number behind the last line that is there: where something put at the end of the file goes."""
        return len(self._lines) + (self._lines[-1] != "")

    def changed(self, changes: Iterable[Change]) -> bytes:
        """All changes at once, each by the line numbers of this text; of two at one line the first stays first."""
        lines, ends = list(self._lines), list(self._ends)
        in_order = sorted(changes, key=lambda change: change.line)
        for change in in_order[::-1]:
            at = change.line - 1
            if change.drop == len(change.lines):
                lines[at : at + change.drop] = change.lines
                continue
            _drop(lines, ends, at, change.drop)
            _put(lines, ends, at, change.lines)
        pieces = [piece for pair in zip(lines, [*ends, ""], strict=True) for piece in pair]
        return (self._bom + "".join(pieces)).encode("utf-8", "surrogateescape")


def _drop(lines: list[str], ends: list[str], at: int, count: int) -> None:
    """The last line of a file goes together with the line end before it."""
    if count == 0:
        return
    if at + count < len(lines):
        del lines[at : at + count], ends[at : at + count]
    elif at == 0:
        lines[:], ends[:] = [""], []
    else:
        del lines[at:], ends[at - 1 :]


def _put(lines: list[str], ends: list[str], at: int, new: Sequence[str]) -> None:
    near = ends[min(max(at - 1, 0), len(ends) - 1)] if ends else "\n"
    place = min(at, len(ends))
    lines[at:at] = new
    ends[place:place] = [near] * len(new)
