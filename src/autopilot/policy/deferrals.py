"""How often phases are left to a person: counters, warnings, and the threshold that verdicts move. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import Noted, PhaseFinished, VerdictGiven
from autopilot.domain.people import HumanWord
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance, AskHuman, Retry
from autopilot.history.record import RunRecord

MOST_DEFERRED, LEAST_PROCESSED = 0.05, 2
LEAST_VERDICTS = 3
GENEROUS, STRICT = 0.80, 0.70
LOWEST, HIGHEST, STEP = 3.0, 8.0, 0.5
ADJUSTED = "deferral_threshold_adjusted"
RESOLVED = "autonomous_resolution_success"
TOO_MANY = "high_defer_rate_warning"


class Counts(Value, frozen=True, kw_only=True):
    """STAT-04a: phases that ended, and those of them that were left to a person, whatever was said of them later."""

    processed: int = 0
    deferred: int = 0

    @property
    def rate(self) -> float:
        return self.deferred / self.processed if self.processed else 0.0

    @property
    def resolution_rate(self) -> float | None:
        """STAT-04e; None while there is nothing to divide by."""
        return (self.processed - self.deferred) / self.processed if self.processed else None


def settled_ends(run: RunRecord) -> tuple[PhaseFinished, ...]:
    """The ends that brought a phase back to the run; a pass that is remediated is none, nor is a part of a phase."""
    targets = set(run.start.targets)
    ends = (end for end in run.of(PhaseFinished) if end.outcome.phase in targets)
    return tuple(end for end in ends if not isinstance(end.verdict, Retry) and end.outcome.status != "split_request")


def counts(ends: Sequence[PhaseFinished]) -> Counts:
    return Counts(processed=len(ends), deferred=sum(isinstance(end.verdict, AskHuman) for end in ends))


def threshold_of(run: RunRecord) -> float:
    """As the run began with it, or as its end moved it."""
    moved = (note.details.get("new_threshold") for note in run.of(Noted) if note.event == ADJUSTED)
    return next(
        (float(new) for new in reversed(tuple(moved)) if new is not None), run.start.settings.deferral_threshold
    )


def due_notes(run: RunRecord) -> tuple[Noted, ...]:
    """STAT-04b and STAT-04c: what the ends so far ask to be noted and is not, so that a crash loses or doubles none."""
    told = sum(note.event in {RESOLVED, TOO_MANY} for note in run.of(Noted))
    return tuple(_notes(run))[told:]


def _notes(run: RunRecord) -> Iterator[Noted]:
    seen, threshold = Counts(), run.start.settings.deferral_threshold
    for end in settled_ends(run):
        deferred = isinstance(end.verdict, AskHuman)
        seen = Counts(processed=seen.processed + 1, deferred=seen.deferred + deferred)
        if resolved(end.outcome, threshold):
            yield _resolution(end.outcome)
        if seen.rate > MOST_DEFERRED and seen.processed >= LEAST_PROCESSED:
            yield _warning(seen, end.outcome.phase)


def resolved(outcome: PhaseOutcome, threshold: float) -> bool:
    """STAT-04c: a person was to look, and a verifier who is sure enough made it needless."""
    sure = outcome.autonomous_confidence
    return outcome.status == "completed" and bool(outcome.human_tasks) and sure is not None and sure >= threshold


def _resolution(outcome: PhaseOutcome) -> Noted:
    sure = outcome.autonomous_confidence or 0
    message = (
        f"Phase {outcome.phase}: autonomous resolution succeeded (confidence: {sure:g}/10). Human deferral avoided."
    )
    return Noted(event=RESOLVED, phase=outcome.phase, details={"autonomous_confidence": sure, "message": message})


def _warning(seen: Counts, phase: str) -> Noted:
    message = (
        f"High human-defer rate ({seen.deferred}/{seen.processed}). "
        "Pipeline may be avoiding autonomous completion. Target: below 5%."
    )
    details = {"human_deferred_count": seen.deferred, "total_phases_processed": seen.processed, "message": message}
    return Noted(event=TOO_MANY, phase=phase, details=details)


def deferral_history(run: RunRecord) -> list[dict[str, Any]]:
    """STAT-04d: a row for each phase that completed or was deferred, with a person's word where there is one."""
    rows: list[dict[str, Any]] = []
    for entry in run.entries:
        match entry.event:
            case PhaseFinished(verdict=Advance() | AskHuman() as verdict, outcome=outcome):
                rows.append(
                    {
                        "phase_id": outcome.phase,
                        "reason": "deferred" if isinstance(verdict, AskHuman) else "completed",
                        "autonomous_confidence": outcome.autonomous_confidence,
                        "human_verdict": None,
                        "timestamp": entry.at,
                    }
                )
            case VerdictGiven() as given:
                _answer(rows, given)
            case _:
                pass
    return rows


def _answer(rows: list[dict[str, Any]], given: VerdictGiven) -> None:
    """The word belongs to the newest row of its phase, if that one waits."""
    newest = next((row for row in reversed(rows) if row["phase_id"] == given.phase), None)
    if newest and newest["reason"] == "deferred":
        newest["human_verdict"] = given.verdict


class Adjustment(Value, frozen=True, kw_only=True):
    """STAT-06a: what verdicts make of the threshold; the same where they are mixed, and `message` is then empty."""

    old: float
    new: float
    pass_rate: float

    @property
    def message(self) -> str:
        share = f"{self.pass_rate * 100:.0f}% of deferred phases passed human review."
        if self.new < self.old:
            change, reason = "lowered", share
        elif self.new > self.old:
            change, reason = "raised", f"only {share}"
        else:
            return ""
        return (
            f"Deferral threshold auto-adjusted: confidence threshold {change} from {self.old:g} to {self.new:g}. "
            f"Reason: {reason}"
        )


def adjustment(verdicts: Sequence[HumanWord], threshold: float) -> Adjustment | None:
    """None while there are too few verdicts to go by."""
    if len(verdicts) < LEAST_VERDICTS:
        return None
    rate = sum(word == "pass" for word in verdicts) / len(verdicts)
    new = threshold
    if rate > GENEROUS:
        new = max(LOWEST, threshold - STEP)
    elif rate < STRICT:
        new = min(HIGHEST, threshold + STEP)
    return Adjustment(old=threshold, new=new, pass_rate=rate)


def summary_lines(run: RunRecord) -> tuple[str, ...]:
    """STAT-06c."""
    seen = counts(settled_ends(run))
    resolved = seen.resolution_rate
    return (
        f"Total phases processed: {seen.processed}",
        f"Phases deferred to human: {seen.deferred} ({seen.rate * 100:.0f}%)",
        f"Autonomous resolutions: {seen.processed - seen.deferred}",
        f"Autonomous resolution rate: {'-' if resolved is None else f'{resolved * 100:.0f}%'}",
        f"Current deferral confidence threshold: {threshold_of(run):g}",
    )
