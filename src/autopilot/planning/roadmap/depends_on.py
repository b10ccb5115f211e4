"""What a `Depends on` line says: phase ids, ranges, all earlier phases, or nothing."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autopilot.planning.roadmap import ids
from autopilot.planning.roadmap.markdown import plain

_FLAGS = re.IGNORECASE | re.ASCII
_NOTHING = re.compile(
    r"(?:(?:nothing|none|n/?a|no|nil|independent|tbd|standalone|first phase)\b|[-\u2013\u2014]+\W*$)", _FLAGS
)
_ALL = re.compile(
    r"\b(?:all|every)\s+(?:of\s+the\s+)?(?:previous|prior|earlier|preceding|other|above)?\s*phases?\b", _FLAGS
)
_STOP = re.compile(r"\.(?:\s|$)|\bNOT\b|\bnot\s+on\b|\bindependent\s+of\b|\bexcept\b|\bwithout\b")
_END = r"(?![\w])(?!\.\d)"
_FIRST = re.compile(rf"\bphases?\s*#?\s*({ids.PATTERN}){_END}", _FLAGS)
_NEXT = re.compile(rf"\s*(?:,|;|&|\+|/|\band\b)+(?:\s*and\b)?\s*(?:phases?\s*)?#?({ids.PATTERN}){_END}", _FLAGS)
_RANGE = re.compile(rf"\s*(?:-|\u2013|\u2014|\.\.|\bto\b|\bthrough\b)\s*(?:phase\s*)?({ids.PATTERN}){_END}", _FLAGS)
_BARE = re.compile(rf"\s*#?({ids.PATTERN})(?![\w.])(?:-[a-z][\w-]*)?\s*$", re.ASCII)


@dataclass(frozen=True, slots=True)
class Range:
    low: str
    high: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """`parts` are normalised ids and ranges in the order written; `understood` is False for free text."""

    parts: tuple[str | Range, ...] = ()
    all_earlier: bool = False
    understood: bool = True

    def resolve(self, known: "Known", own: str) -> tuple[str, ...]:
        """The ids needed, each once; ids not known are kept."""
        wanted: list[str] = list(known.before(own)) if self.all_earlier else []
        for part in self.parts:
            wanted += known.within(part) if isinstance(part, Range) else (part,)
        return tuple(dict.fromkeys(wanted))


class Known:
    """Every phase of the roadmap in file order, with what looking them up needs worked out once."""

    def __init__(self, phases: Sequence[str]) -> None:
        self._phases = tuple(phases)
        self._places = {phase: at for at, phase in enumerate(phases)}
        self._keys = [(ids.prefix(phase), ids.sort_key(phase)) for phase in phases]

    def before(self, phase: str) -> tuple[str, ...]:
        return self._phases[: self._places.get(phase, 0)]

    def within(self, span: Range) -> tuple[str, ...]:
        """The phases of a range; its two ends when it holds none of ours."""
        stem, low, high = ids.prefix(span.low), ids.sort_key(span.low), ids.sort_key(span.high)
        held = (
            phase
            for phase, (prefix, key) in zip(self._phases, self._keys, strict=True)
            if prefix == stem and low <= key <= high
        )
        return tuple(held) or (span.low, span.high)


def needs(text: str) -> Needs:
    """R15. `Nothing` and `None` are looked for before any id; reasons in parentheses are no dependencies."""
    bare = plain(without_parentheses(text)).strip(" .;,")
    if not bare or _NOTHING.match(bare):
        return Needs()
    stop = _STOP.search(bare)
    clause = bare[: stop.start()] if stop else bare
    if _ALL.search(clause):
        return Needs(all_earlier=True)
    parts = tuple(_after_the_word(clause)) or _listed(clause)
    return Needs(parts=tuple(dict.fromkeys(parts)), understood=bool(parts))


def without_parentheses(text: str) -> str:
    """The text outside parentheses; one never closed takes the rest with it."""
    kept: list[str] = []
    depth = 0
    for piece in re.split(r"([()\uff08\uff09])", text):
        if piece in {"(", "\uff08"}:
            depth += 1
        elif piece in {")", "\uff09"}:
            depth = max(0, depth - 1)
        elif depth == 0:
            kept.append(piece)
    return " ".join(kept)


def _after_the_word(clause: str) -> Iterator[str | Range]:
    at = 0
    while first := _FIRST.search(clause, at):
        found: re.Match[str] | None = first
        plural = first[0].lower().startswith("phases")
        while found:
            yield from _one(clause, found, plural=plural)
            at = found.end()
            if span := _RANGE.match(clause, at):
                at = span.end()
            found = _NEXT.match(clause, at)


def _one(clause: str, found: re.Match[str], *, plural: bool) -> Iterator[str | Range]:
    span = _RANGE.match(clause, found.end())
    if span is None or not _spans(found[1], span[0], span[1], plural=plural):
        yield ids.normalise(found[1])
    else:
        yield Range(ids.normalise(found[1]), ids.normalise(span[1]))


def _spans(low: str, between: str, high: str, *, plural: bool) -> bool:
    """`Phases 1-3` is a range; `Phase 04.5-03` names a plan of phase 4.5."""
    if ids.sort_key(low) >= ids.sort_key(high):
        return False
    tight = between.startswith("-") and not between.startswith("- ")
    return plural or not (tight and high.startswith("0"))


def _listed(clause: str) -> tuple[str | Range, ...]:
    """Ids without the word: `01`, `1, 2`, `01-foundation`. One piece that is none spoils them all."""
    found = [_BARE.match(piece) for piece in re.split(r"[,;&+]|\band\b", clause)]
    return tuple(ids.normalise(piece[1]) for piece in found if piece) if all(found) else ()
