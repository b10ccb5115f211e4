"""How much room each part of the page may take, so that the whole stays small whatever a run was like."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from markupsafe import Markup

from autopilot.views.report.markup import el, size, words

T = TypeVar("T")

PAGE = 4_800_000
"""Bytes of a whole page."""


class Purse:
    """Bytes that may still be spent."""

    def __init__(self, left: int) -> None:
        self.left = max(left, 0)

    def pays(self, markup: Markup) -> bool:
        """Whether there is room for it; then it is taken."""
        cost = size(markup)
        if cost > self.left:
            return False
        self.left -= cost
        return True

    def share(self, of: int) -> "Purse":
        """A purse with one part of what is left; what it does not spend has to be given back."""
        part = Purse(self.left // max(of, 1))
        self.left -= part.left
        return part

    def back(self, other: "Purse") -> None:
        self.left += other.left
        other.left = 0


def affordable(things: Iterable[T], draw: Callable[[T], Markup], purse: Purse) -> tuple[list[Markup], int]:
    """The first of them that there is room for, drawn, and how many were left out."""
    drawn: list[Markup] = []
    left_out = 0
    for thing in things:
        if left_out:
            left_out += 1
            continue
        markup = draw(thing)
        if purse.pays(markup):
            drawn.append(markup)
        else:
            left_out = 1
    return drawn, left_out


def chosen(costs: Sequence[int], ranks: Sequence[int], room: int) -> frozenset[int]:
    """Places of what fits into the room, the lowest ranks first, early ones before late ones."""
    picked: set[int] = set()
    for place in sorted(range(len(costs)), key=lambda n: (ranks[n], n)):
        if costs[place] <= room:
            picked.add(place)
            room -= costs[place]
    return frozenset(picked)


def left_out(count: int, what: str) -> Markup:
    """Says what is not shown; nothing where all is."""
    told = f"{count:,} {what} are left out to keep this page small; the journal has them."
    return el("p", words(told), class_="left-out") if count else Markup()
