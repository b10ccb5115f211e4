"""Defines the ends of a phase that are neither a plain pass nor a failure, and what they are called. Pure."""

from autopilot.domain.rework import GAPS_EXHAUSTED, QUALITY_EXHAUSTED
from autopilot.domain.value import Value
from autopilot.domain.verdict import ALREADY_SATISFIED, Advance, Outcome, Verdict
from autopilot.history.best_attempt import best
from autopilot.history.record import RunRecord

# What a phase has to reach. A flag may ask for more; a phase that does not reach that has passed all the same.
BAR = 9.0
FORCE_INCOMPLETE = "force_incomplete"
NOTHING_BUILT = "already satisfied: nothing was built"
# What the column of a table has room for.
SHORT: dict[Outcome, str] = {"already_satisfied": "already satisfied", "below_bar": "below the bar"}
_LOOP_USED_UP = frozenset({FORCE_INCOMPLETE, QUALITY_EXHAUSTED, GAPS_EXHAUSTED})


class Shortfall(Value, frozen=True, kw_only=True):
    """A phase that counts as done and that a person should look at all the same."""

    phase: str
    outcome: Outcome
    text: str


def outcome_of(verdict: Verdict, score: float | None, threshold: float) -> Outcome | None:
    """`verdict` is the run's on the phase, `score` that of the attempt it stands on, `threshold` the run's own."""
    match verdict:
        case Advance(because="already_satisfied"):
            return ALREADY_SATISFIED
        case Advance(because=because) if because in _LOOP_USED_UP and score is not None and score < min(threshold, BAR):
            return "below_bar"
    return None


def described(outcome: Outcome, score: float | None, threshold: float) -> str:
    """The outcome in words for a person."""
    if outcome == ALREADY_SATISFIED or score is None:
        return NOTHING_BUILT
    return f"passed below the bar, {score:.1f} of {min(threshold, BAR):.1f}"


def shortfall(run: RunRecord, phase: str) -> Shortfall | None:
    """None for a phase that passed, failed, waits or is not over."""
    standing, threshold = run.standing(phase), run.start.settings.pass_threshold
    if not standing or run.skipped(phase):
        return None
    score = best(run, phase).alignment_score
    outcome = outcome_of(standing[-1].verdict, score, threshold)
    return Shortfall(phase=phase, outcome=outcome, text=described(outcome, score, threshold)) if outcome else None


def shortfalls(run: RunRecord) -> tuple[Shortfall, ...]:
    """In the order of the targets."""
    return tuple(found for target in run.start.targets if (found := shortfall(run, target)))
