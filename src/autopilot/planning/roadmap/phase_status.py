"""Reads how far a phase is from a check-box, a mark or the words of a status cell."""

import re

from autopilot.domain.phase import PhaseStatus
from autopilot.planning.roadmap import ids
from autopilot.planning.roadmap.depends_on import without_parentheses

_BOXES: dict[str, PhaseStatus] = {
    "": "not_started",
    " ": "not_started",
    "x": "completed",
    "\u2713": "completed",
    "\u2714": "completed",
    "\u2705": "completed",
    "~": "in_progress",
    "/": "in_progress",
    ">": "in_progress",
    "-": "deferred",
}
# The first that matches counts, so "not complete" and "partially done" are read before "complete" and "done".
_WORDS: tuple[tuple[str, PhaseStatus], ...] = (
    (
        r"not\b|pending|planned|todo|to do|queued|open\b|tbd|ready|incomplete|\u2610|[-\u2014\u2013]+$|$",
        "not_started",
    ),
    (r"partial|mostly|nearly|almost|in[ _-]?progress|started|active|executing|ongoing|wip\b", "in_progress"),
    (r"(?:completed?|done|shipped|finished)\b.*\b(?:but|except|pending|partial(?:ly)?|remaining|not)\b", "in_progress"),
    (r"context|planning|\U0001f6a7|\d+ ?%", "in_progress"),
    (r"superseded|replaced by|obsolete", "superseded"),
    (r"cancel|dropped|removed|abandoned|descoped|won'?t do", "cancelled"),
    (r"deferred|postponed|backlog|future|parked|paused|on hold|skipped", "deferred"),
    (
        r"(?:completed?|done|shipped|finished|verified|closed|passed|yes)\b|\u2705|\u2713|\u2714|\[x\]",
        "completed",
    ),
)
_BACKLOG = re.compile(r"\( ?(?:STUB\W{1,3})?BACKLOG\b|\( ?deferred\b|[-\u2014\u2013] ?deferred ?\)", re.IGNORECASE)
# A word that takes a phase out of the way: ` - SUPERSEDED by Phase 02.1`, `(cancelled)`, `: **PAUSED** (...)`. It
# follows a separator and ends there, so that `Sync - deferred loading of images` is still a name.
OUT_OF_THE_WAY = re.compile(
    r" ?[*_]{0,3}(?:[-\u2014\u2013\u00b7:(]{1,3}|\u2192) ?[*_]{0,3}"
    r"(?P<word>superseded(?: by)?|replaced by|cancell?ed|dropped|abandoned|descoped|deferred(?: to)?|postponed(?: to)?"
    r"|paused|on hold|parked)\b(?=[*_]{0,3} ?(?:$|[).;:(\u2192\u2014\u2013]|(?<=by )|(?<=to )|until\b|in favou?r\b))"
    r"[^()]{0,80}\)?",
    re.IGNORECASE,
)
_SUCCESSOR = re.compile(rf"(?:superseded|replaced) by(?: the)?(?: phase)? #?({ids.PATTERN})(?![\w-])", re.IGNORECASE)
# `(complete)` and `(completed 2026-04-13, UAT 8/8)`, but not `(complete rewrite)`.
_FINISHED = (
    r"\( ?(?:completed?|shipped|done)(?: on| in)? ?(?:[\d,;:\u2014\u2013-][^()]*)?\)"
    r"|[-\u2014\u2013] ?(?:completed|shipped) \d{4}-\d\d(?:-\d\d)?"
)
_SAID_FINISHED = re.compile(_FINISHED, re.IGNORECASE)
_ENDS_FINISHED = re.compile(rf"(?:{_FINISHED}|[\u2705\u2713\u2714])[\s*_.]{{0,8}}$", re.IGNORECASE)
_TICK = re.compile(r"[\u2705\u2713\u2714]")
_LEADING_TICK = re.compile(r"[\s*_(]{0,8}[\u2705\u2713\u2714]")


def of_box(box: str) -> PhaseStatus | None:
    return _BOXES.get(box.lower())


def of_words(text: str) -> PhaseStatus | None:
    """What a status cell or a **Status** line says; None when we do not know the word."""
    words = text.strip().strip("`*_ .").strip()
    return next((means for pattern, means in _WORDS if re.match(pattern, words, re.IGNORECASE)), None)


def of_marks(text: str) -> PhaseStatus | None:
    """Marks around a title: a tick, `(completed 2026-04-13)`, `(BACKLOG)`, `SUPERSEDED by Phase 2.1`."""
    if aside := out_of_the_way(text):
        return aside
    return "completed" if _SAID_FINISHED.search(text) or _TICK.search(without_parentheses(text)) else None


def of_description(text: str, line: str) -> PhaseStatus | None:
    """Marks at the edges: where the text begins, where its line ends. Ticks inside may speak of anything."""
    if aside := out_of_the_way(line):
        return aside
    return "completed" if _LEADING_TICK.match(text) or _ENDS_FINISHED.search(line) else None


def out_of_the_way(text: str) -> PhaseStatus | None:
    """Whether the text says that the phase will not run: superseded, cancelled or deferred."""
    if _BACKLOG.search(text):
        return "deferred"
    found = OUT_OF_THE_WAY.search(text)
    return of_words(found["word"]) if found else None


def successor(text: str) -> str:
    """The phase that takes the place of a superseded one; empty when the text names none."""
    found = _SUCCESSOR.search(text)
    return ids.normalise(found[1]) if found else ""
