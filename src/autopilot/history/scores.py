"""The scores a phase was given over all runs: HIST-01."""

from collections.abc import Iterable

from autopilot.domain.events import PhaseFinished
from autopilot.domain.rework import Scored


def scored_at(at: str, finished: PhaseFinished) -> Scored | None:
    """HIST-01: a pass's line of the score history; None for one without a score."""
    score = finished.outcome.alignment_score
    if score is None:
        return None
    return Scored(score=score, timestamp=at, flag=finished.mode, cycle=finished.turn or finished.cycle)


def merged(before: Iterable[Scored], then: Iterable[Scored]) -> tuple[Scored, ...]:
    """By time; what both tell is told once."""
    return tuple(sorted(dict.fromkeys((*before, *then)), key=lambda scored: scored.timestamp))
