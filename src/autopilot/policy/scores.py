"""What a score means, and how the rows of a scorecard come to one."""

from collections.abc import Iterable
from decimal import ROUND_FLOOR, Decimal

from autopilot.domain.answers import RateOpinion

HIGHEST = 10.0
BANDS = (
    (9.5, "excellence"), (8.0, "good"), (7.0, "acceptable"), (5.0, "significant_gaps"), (3.0, "major_failures"),
)  # fmt: skip


def band(score: float) -> str:
    """RATE-06."""
    return next((name for least, name in BANDS if score >= least), "not_implemented")


def score(opinion: RateOpinion) -> float:
    """RATE-07, RATE-08, AMB-31: the mean of the scorecard, floored; the rater's own number only if it is lower."""
    rows = [Decimal(str(_bounded(row.score))) for row in opinion.scorecard]
    mean = sum(rows, Decimal(0)) / len(rows)
    own = opinion.alignment_score
    lower = mean if own is None else min(mean, Decimal(str(_bounded(own))))
    return float(lower.quantize(Decimal("0.1"), rounding=ROUND_FLOOR))


def mean_score(scores: Iterable[float | None]) -> float | None:
    """SPLT-05, AMB-31: the mean, floored to one decimal; None unless every part has a score."""
    known = [None if one is None else Decimal(str(one)) for one in scores]
    rows = [one for one in known if one is not None]
    if not rows or len(rows) < len(known):
        return None
    return float((sum(rows, Decimal(0)) / len(rows)).quantize(Decimal("0.1"), rounding=ROUND_FLOOR))


def _bounded(number: float) -> float:
    return min(max(number, 0.0), HIGHEST)
