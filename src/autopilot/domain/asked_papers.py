"""The files that keep what people answered, context-map.json and discuss-context.json: merged, never overwritten."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from autopilot.domain.value import Value

VERSION = "1.0"
Paper = dict[str, Any]


class KeptQuestion(Value, frozen=True, kw_only=True):
    """CMAP-03d, DISC-09: unanswered is null. `area` is empty for what mapping asked."""

    question: str
    category: str = ""
    why_needed: str = ""
    area: str = ""
    answer: str | None = None
    answered_at: str | None = None


class KeptPhase(Value, frozen=True, kw_only=True):
    phase_name: str = ""
    questions: tuple[KeptQuestion, ...] = ()
    context_score: int | None = None
    score_after: int | None = None
    discussed_at: str | None = None


class Kept(Value, frozen=True, kw_only=True):
    version: str
    phases: dict[str, KeptPhase] = {}

    def phase(self, phase_id: str) -> KeptPhase:
        return self.phases.get(phase_id, KeptPhase())


def understood(paper: Paper) -> Kept:
    """Raises `ValueError` for what is no such file."""
    try:
        kept = msgspec.convert(paper, Kept)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error
    if kept.version != VERSION:
        raise ValueError(f"its version is {kept.version!r}, and this program knows {VERSION!r}")
    return kept


def empty() -> Paper:
    return {"version": VERSION, "phases": {}}


def with_phase(
    paper: Paper, phase_id: str, changes: Mapping[str, Any], questions: Iterable[Mapping[str, Any]], now: str
) -> Paper:
    """
    The paper with one phase brought up to date; everything else in it stays, known to us or not.

    Questions keep their places: an answer is replaced by a newer one only, and new questions go behind the old.
    """
    phases = dict(paper.get("phases", {}))
    before = dict(phases.get(phase_id, {}))
    merged = merged_questions(before.get("questions", ()), questions)
    phases[phase_id] = {**before, **changes, "questions": merged}
    return {**paper, "last_updated": now, "phases": phases}


def merged_questions(old: Iterable[Mapping[str, Any]], new: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    kept = [dict(question) for question in old]
    places = {_key(question): place for place, question in reversed(tuple(enumerate(kept)))}
    for question in new:
        place = places.setdefault(_key(question), len(kept))
        held = kept[place] if place < len(kept) else {}
        told = {name: value for name, value in question.items() if value is not None or name not in held}
        kept[place : place + 1] = [{**held, **told}]
    return kept


def _key(question: Mapping[str, Any]) -> tuple[str, str]:
    return str(question.get("area", "")), " ".join(str(question.get("question", "")).casefold().split())
