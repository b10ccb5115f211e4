"""Decides the type of a phase from its files and words (PTYP-01..04)."""

import re
from collections.abc import Iterable

from autopilot.domain.phase import Kind, Phase, PhaseType
from autopilot.domain.visual import draws
from autopilot.planning.roadmap.markdown import plain

_PROTOCOL = re.compile(
    r"(?:^|/)(?:protocols?|agents?|commands|prompts|skills)/.*\.md$|(?:^|/)(?:AGENTS|CLAUDE|GEMINI)\.md$", re.IGNORECASE
)
_DATA = re.compile(r"\.(?:json|jsonl|ya?ml|toml|csv|tsv|xml|sql|parquet)$", re.IGNORECASE)
_UI_WORDS = re.compile(
    r"\b(?:ui|ux|frontend|front-end|screen|page|button|dialog|modal|dashboard|layout|css|theme|component|click|drag)s?\b",
    re.IGNORECASE,
)


def phase_type(phase: Phase, files: Iterable[str], ui_dir: str | None = None) -> PhaseType:
    """`mixed` asks for every kind of evidence, so it is what we say when the files do not agree or are unknown."""
    kinds = {kind_of(path, ui_dir) for path in files}
    if not kinds:
        return "ui" if _UI_WORDS.search(f"{phase.name} {phase.goal}") else "mixed"
    return kinds.pop() if len(kinds) == 1 else "mixed"


def kind_of(path: str, ui_dir: str | None = None) -> PhaseType:
    """One file's kind; code that belongs to no other kind is `mixed`."""
    normal = path.replace("\\", "/").removeprefix("./")
    if (ui_dir and normal.startswith(ui_dir.strip("./") + "/")) or draws(normal):
        return "ui"
    if _PROTOCOL.search(normal):
        return "protocol"
    return "data" if _DATA.search(normal) else "mixed"


_WORDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"refactor(?:ing)?", re.IGNORECASE), "refactor"),
    (re.compile(r"docs?|documentation", re.IGNORECASE), "docs"),
)


def work_kind(text: str) -> Kind:
    """Only the word itself counts: what is vague is a feature, of which most is asked."""
    said = plain(text).strip(" .")
    return next((kind for word, kind in _WORDS if word.fullmatch(said)), "feature")
