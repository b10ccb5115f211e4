"""Normalizes, compares and validates phase ids."""

import re

PATTERN = r"(?:[A-Za-z][A-Za-z0-9]{0,11}(?:\.\d{1,4}){0,3}-){0,2}\d{1,9}[A-Za-z]?(?:\.\d{1,9}[A-Za-z]?){0,4}"
"""An id as people write it: 3, 03, 2.10, 02.13.1, 12A, CK-01, and V1.0-2 for phase 2 of milestone v1.0.

To be followed by a look-ahead of the caller's.
"""

_WHOLE = re.compile(PATTERN, re.ASCII)
_LEAD = re.compile(r"^\s*phase[\s_-]+", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"\d+", re.ASCII)

SortKey = tuple[tuple[int, int, str], ...]


def valid(phase_id: str) -> bool:
    """Whether the id can stand in a file name or a git ref as it is."""
    return _WHOLE.fullmatch(phase_id) is not None


def normalise(phase_id: str) -> str:
    """`01` and `Phase 1` are `1`, `02.10` is `2.10`, `phase_6.1` is `6.1`. What is no id comes back stripped."""
    bare = _LEAD.sub("", phase_id).strip()
    if not valid(bare):
        return bare
    return _NUMBER.sub(lambda digits: str(int(digits[0])), bare).upper()


def same(one: str, other: str) -> bool:
    return normalise(one) == normalise(other)


def sort_key(phase_id: str) -> SortKey:
    """Compares segment by segment: 2.9 < 2.10 < 10, 12 < 12A, and plain numbers before prefixed ones."""
    return tuple(_segment_key(segment) for segment in re.split(r"[.-]", normalise(phase_id)))


def between(low: str, phase_id: str, high: str) -> bool:
    """AMB-02: 3 <= p <= 7 segment-wise, so 6.2 is inside 3-7 and 7.1 is not. Prefixes must agree."""
    if not prefix(low) == prefix(phase_id) == prefix(high):
        return False
    return sort_key(low) <= sort_key(phase_id) <= sort_key(high)


def prefix(phase_id: str) -> str:
    """`CK-` of `CK-01`; empty for a plain number."""
    return normalise(phase_id).rpartition("-")[0]


def _segment_key(segment: str) -> tuple[int, int, str]:
    digits = _NUMBER.match(segment)
    if digits is None:
        return (1, 0, segment)
    return (0, int(digits[0]), segment[digits.end() :])


_WORD = re.compile(r"[a-z0-9]{2,}")
_LETTER = re.compile(r"[^\W\d_]")
_COMMON = {"and", "the", "for", "with", "of", "to", "in", "on", "phase", "plan", "plans"}
_STEM = 4


def alike(one: str, other: str) -> bool:
    """Whether two names may be of one phase: they share a word or the beginning of one. An empty name fits any."""
    first, second = _words(one), _words(other)
    return not first or not second or bool(first & second)


def overlap(one: str, other: str) -> int:
    return len(_words(one) & _words(other))


def _words(name: str) -> set[str]:
    """Words by their first letters; letters of other scripts stand for themselves, since not all put spaces."""
    lower = name.lower()
    latin = {word for word in _WORD.findall(lower) if word not in _COMMON}
    stems = {word[:_STEM] for word in latin}
    return stems | {letter for letter in _LETTER.findall(lower) if not letter.isascii()}
