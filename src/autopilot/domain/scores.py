"""What a score means, and the highest one a fact allows."""

from collections.abc import Iterable, Sequence
from decimal import ROUND_FLOOR, Decimal

from autopilot.domain.answers import CriterionScore, RateOpinion
from autopilot.domain.evidence import CommandRun
from autopilot.domain.visual import DEDUCTIONS, VisualIssue

HIGHEST = 10.0
# RATE-09: nothing that a command shows to be broken is acceptable.
REFUTED = 6.9
BANDS = (
    (9.5, "excellence"), (8.0, "good"), (7.0, "acceptable"), (5.0, "significant_gaps"), (3.0, "major_failures"),
)  # fmt: skip


def band(score: float) -> str:
    """RATE-06."""
    return next((name for least, name in BANDS if score >= least), "not_implemented")


def capped(row: CriterionScore, checks: Iterable[CommandRun]) -> float:
    """The row's score within its bounds; a criterion whose own command failed when we ran it stays below 7.0."""
    refuted = any(_about(row, run) and not run.passed for run in checks)
    return min(max(row.score, 0.0), REFUTED if refuted else HIGHEST)


def _about(row: CriterionScore, run: CommandRun) -> bool:
    same_command = bool(row.verification_command) and row.verification_command.strip() == run.command.strip()
    return same_command or row.criterion.strip().casefold() == run.what.strip().casefold()


def counted(
    scorecard: Sequence[CriterionScore], checks: Iterable[CommandRun], issues: Iterable[VisualIssue] = ()
) -> tuple[float, ...]:
    """
    RATE-11: the rows' scores with everything taken off that facts take off.

    A visual issue is charged to the rows that name its page; where none does, to the best row, so that it counts.
    """
    facts = tuple(checks)
    scores = [Decimal(str(capped(row, facts))) for row in scorecard]
    for issue in issues if scores else ():
        named = [n for n, row in enumerate(scorecard) if issue.route.casefold() in _words(row.criterion)]
        for n in named or [scores.index(max(scores))]:
            scores[n] = max(Decimal(0), scores[n] - Decimal(str(DEDUCTIONS[issue.severity])))
    return tuple(map(float, scores))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip(".,:;()`'\"/") for word in text.casefold().split())


def score(opinion: RateOpinion, checks: Iterable[CommandRun] = (), issues: Iterable[VisualIssue] = ()) -> float:
    """RATE-07, RATE-08, AMB-31: the mean of the scorecard, floored; the rater's own number only if it is lower."""
    rows = [Decimal(str(value)) for value in counted(opinion.scorecard, checks, issues)]
    mean = sum(rows, Decimal(0)) / len(rows)
    claimed = Decimal(str(min(max(opinion.alignment_score, 0.0), HIGHEST)))
    return float(min(mean, claimed).quantize(Decimal("0.1"), rounding=ROUND_FLOOR))
