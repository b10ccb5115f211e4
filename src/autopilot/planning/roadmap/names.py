"""Compares names of phases: tables and lists shorten what a heading spells out."""

import re

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
