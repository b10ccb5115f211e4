"""How far a phase is, from a check-box, a mark or the words of a status cell."""

import re

from autopilot.domain.phase import PhaseStatus

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
    (r"context|planning|\U0001f6a7|\d+ ?%", "in_progress"),
    (r"deferred|postponed|backlog|future|cancel|dropped|parked|paused|on hold|skipped|removed", "deferred"),
    (
        r"complete|completed|done|shipped|finished|verified|closed|passed|yes\b|\u2705|\u2713|\u2714|\[x\]",
        "completed",
    ),
)
_BACKLOG = re.compile(r"\( ?(?:STUB\W{1,3})?BACKLOG\b|\( ?deferred\b|[-\u2014\u2013] ?deferred ?\)", re.IGNORECASE)
_FINISHED = re.compile(
    r"[\u2705\u2713\u2714]|\( ?(?:completed?|shipped|done)\b[^()]*\)|[-\u2014\u2013] ?(?:completed|shipped) \d{4}-\d\d",
    re.IGNORECASE,
)


def of_box(box: str) -> PhaseStatus | None:
    return _BOXES.get(box.lower())


def of_words(text: str) -> PhaseStatus | None:
    """What a status cell or a **Status** line says; None when we do not know the word."""
    words = text.strip().strip("`*_ .").strip()
    return next((means for pattern, means in _WORDS if re.match(pattern, words, re.IGNORECASE)), None)


def of_marks(text: str) -> PhaseStatus | None:
    """Marks around a title: a tick, `(completed 2026-04-13)`, `(BACKLOG)`."""
    if _BACKLOG.search(text):
        return "deferred"
    return "completed" if _FINISHED.search(text) else None
