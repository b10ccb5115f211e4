"""The parts of phases that were split, as state.json has them: SPLT-07."""

from collections.abc import Mapping
from typing import Any

import msgspec

from autopilot.domain.events import PhaseFinished
from autopilot.domain.returns import SubEnd
from autopilot.history.digest import PassDigest
from autopilot.history.record import RunRecord
from autopilot.history.timeline import History


def part_states(run: RunRecord, known: Mapping[str, History]) -> dict[str, dict[str, Any]]:
    """By phase: that it was split, and how far each part of its last split is."""
    found: dict[str, dict[str, Any]] = {}
    for finished in run.of(PhaseFinished):
        split = finished.outcome.split_details
        if finished.outcome.status == "split_request" and split:
            names = (part.sub_phase_id for part in split.recommended_sub_phases)
            found[finished.outcome.phase] = _told(tuple(_so_far(name, known) for name in names))
        elif finished.outcome.sub_phases:
            found[finished.outcome.phase] = _told(finished.outcome.sub_phases)
    return found


def wholes_of(run: RunRecord) -> dict[str, str]:
    """The phase that each part is one of."""
    begun = run.chronicle.begun.items()
    return {name: briefs[-1].parent for name, briefs in begun if any(brief.parent for brief in briefs)}


def part_tokens(wholes: Mapping[str, str], made: Mapping[str, tuple[PassDigest, ...]]) -> dict[str, int]:
    """By phase: what was spent on its parts, as far as the agents say; unknown counts as nothing here."""
    found: dict[str, int] = {}
    for part, whole in wholes.items():
        found[whole] = found.get(whole, 0) + sum(digest.spent.tokens or 0 for digest in made.get(part, ()))
    return found


def _told(parts: tuple[SubEnd, ...]) -> dict[str, Any]:
    return {"split": True, "sub_phases": msgspec.to_builtins(parts)}


def _so_far(name: str, known: Mapping[str, History]) -> SubEnd:
    history = known.get(name, History())
    score = history.counted[1].outcome.alignment_score if history.counted else None
    return SubEnd(sub_phase_id=name, status=history.status, alignment_score=score)
