"""The scorecard of each phase: every criterion with what the rater gave, what counts and why."""

from autopilot.domain.results import Rated
from autopilot.domain.value import Value
from autopilot.history.record import PhaseRecord
from autopilot.views.report.source import Told


class Row(Value, frozen=True, kw_only=True):
    """`said` is the rater's own number where less of it counts; `why` the words behind both."""

    criterion: str
    score: float
    most: float = 10.0
    said: float | None = None
    why: str = ""
    evidence: str = ""
    command: str = ""


class Scorecard(Value, frozen=True, kw_only=True):
    """Of the pass the phase stands on. `passes` are the scores of all passes that have one, in order."""

    phase: str
    score: float
    threshold: float
    rows: tuple[Row, ...]
    passes: tuple[float, ...]


def scorecard(told: Told, phase: str) -> Scorecard | None:
    """None where nobody rated it."""
    record = told.counted(phase)
    rated = record.find(Rated) if record else None
    if record is None or rated is None:
        return None
    return Scorecard(
        phase=phase,
        score=rated.score,
        threshold=record.brief.pass_threshold,
        rows=tuple(_rows(rated)),
        passes=tuple(_score(one) for one in told.passes.get(phase, ()) if one.find(Rated)),
    )


def _score(record: PhaseRecord) -> float:
    return record.latest(Rated).score


def _rows(rated: Rated) -> list[Row]:
    lowered = {(low.criterion, low.counted): low.said for low in rated.lowered}
    return [
        Row(
            criterion=row.criterion,
            score=row.score,
            most=row.max_score,
            said=lowered.get((row.criterion, row.score)),
            why=rated.why(row),
            evidence=row.evidence,
            command=row.verification_command,
        )
        for row in rated.opinion.scorecard
    ]
