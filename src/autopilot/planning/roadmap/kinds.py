"""What a phase or task says it is: a feature, unless it is called a refactoring or documentation."""

import re

from autopilot.domain.phase import Kind
from autopilot.planning.roadmap.markdown import plain

_WORDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"refactor(?:ing)?", re.IGNORECASE), "refactor"),
    (re.compile(r"docs?|documentation", re.IGNORECASE), "docs"),
)


def work_kind(text: str) -> Kind:
    """Only the word itself counts: what is vague is a feature, of which most is asked."""
    said = plain(text).strip(" .")
    return next((kind for word, kind in _WORDS if word.fullmatch(said)), "feature")
