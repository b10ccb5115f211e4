"""Decides when work may wait for a person and counts how often it does."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from autopilot.domain.answers import Deferral, VerifyOpinion
from autopilot.domain.attempt import Justification, PhaseOutcome
from autopilot.domain.events import Noted, PhaseFinished, VerdictGiven
from autopilot.domain.people import HumanWord
from autopilot.domain.phase import Task
from autopilot.domain.results import Verified
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance, AskHuman, Retry
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.policy.task_progress import auto_tasks, task_states

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


CONFIDENT = 6.0
# STAT-03: what the run says when it does not let a phase wait for somebody to look at it.
REJECTED = (
    "Phase deferred to human with generic visual confirmation but all auto tasks passed. Rejecting deferral -- "
    "re-spawning phase-runner to return 'completed' instead."
)
_GENERIC = re.compile(
    r"\b(?:visual\w*|screenshots?|looks?|looking|appearance|ui review|manual(?:ly)? check\w*)\b", re.IGNORECASE
)
_WORKFLOW = re.compile(
    r"\b(?:\w*flow|transactions?|payments?|purchase|log ?in|sign(?:ing)? ?in|hardware|device|account|e-?mails?|sms|"
    r"credentials?|third[- ]party|real (?!world)\w+)\b",
    re.IGNORECASE,
)


def no_reason(threshold: float) -> str:
    """What a verifier is told who leaves something to a person and names nothing it tried."""
    return (
        "Say with autonomous_confidence (1-10) how sure you are that the work holds without a person. "
        f"Below {threshold:g}, give deferral_evidence [{{criterion, methods_attempted, why_insufficient}}]; "
        "that somebody should look is no reason."
    )


def for_a_person(record: PhaseRecord) -> tuple[Task, ...]:
    return tuple(task for task in record.tasks if task.type != "auto")


def person_only(record: PhaseRecord) -> bool:
    """HUM-04: a plan that has nothing for an agent to do."""
    return bool(record.tasks) and len(for_a_person(record)) == len(record.tasks)


def confident(opinion: VerifyOpinion | None, threshold: float = CONFIDENT) -> bool:
    """HUM-01, HUM-02, STAT-06b: sure enough that no person is needed."""
    return opinion is not None and opinion.autonomous_confidence >= threshold


def specific(opinion: VerifyOpinion | None) -> bool:
    """HUM-01, STAT-03: some criterion was tried and could not be settled, for a reason that is not just its looks."""
    return any(_settles(evidence) for evidence in (opinion.deferral_evidence if opinion else ()))


def generic(opinion: VerifyOpinion | None) -> bool:
    """STAT-03: the only reason given is that somebody should look at it."""
    reasons = [e.why_insufficient.strip() for e in (opinion.deferral_evidence if opinion else ())]
    return any(reasons) and all(only_looks(why) for why in reasons if why)


def _settles(evidence: Deferral) -> bool:
    why = evidence.why_insufficient.strip()
    return bool(evidence.criterion.strip() and evidence.methods_attempted and why) and not only_looks(why)


def only_looks(why: str) -> bool:
    return bool(_GENERIC.search(why)) and not _WORKFLOW.search(why)


def justification(record: PhaseRecord) -> Justification | None:
    """For the first task that waits; None when none does, so that nothing can be deferred without one."""
    waiting, verified = for_a_person(record), record.find(Verified)
    if not waiting:
        return None
    opinion = verified.opinion if verified else None
    return Justification(
        checkpoint_task_id=waiting[0].id,
        task_description=waiting[0].title,
        auto_tasks_passed=sum(state == "verified" for state in task_states(record).values()),
        auto_tasks_total=len(auto_tasks(record)),
        unresolved_criteria=tuple(e.criterion for e in (opinion.deferral_evidence if opinion else ()) if e.criterion),
    )


Key = tuple[str, str, str]


class Row(Value, frozen=True, kw_only=True):
    """A phase that was left to a person. `counted`: its verdict has had its part in moving the threshold."""

    run: str
    phase_id: str
    autonomous_confidence: float | None = None
    human_verdict: HumanWord | None = None
    timestamp: str = ""
    counted: bool = False

    @property
    def key(self) -> Key:
        return self.run, self.phase_id, self.timestamp


class Calibration(Value, frozen=True, kw_only=True):
    deferral_threshold: float = 6.0
    history: tuple[Row, ...] = ()

    @property
    def threshold(self) -> float:
        """Within its bounds, whatever somebody wrote into the file."""
        return min(HIGHEST, max(LOWEST, self.deferral_threshold))

    @property
    def fresh(self) -> tuple[Row, ...]:
        """Rows whose verdict has moved nothing yet."""
        return tuple(row for row in self.history if row.human_verdict is not None and not row.counted)


def learnt(held: Calibration, run: RunRecord) -> Calibration:
    """With what the run knows: its rows as they are now, and an adjustment it has noted and the file has not."""
    known = {row.key: row for row in held.history}
    for told in deferral_history(run):
        if told["reason"] == "deferred":
            row = Row(
                run=run.start.run,
                phase_id=told["phase_id"],
                autonomous_confidence=told["autonomous_confidence"],
                human_verdict=told["human_verdict"],
                timestamp=told["timestamp"],
            )
            before = known.get(row.key)
            known[row.key] = msgspec.structs.replace(row, counted=before is not None and before.counted)
    found = Calibration(deferral_threshold=held.threshold, history=tuple(known.values()))
    for note in run.of(Noted):
        if note.event == ADJUSTED:
            found = _noted(found, note)
    return found


def _noted(held: Calibration, note: Noted) -> Calibration:
    counted = {(row[0], row[1], row[2]) for row in note.details.get("counted", ())}
    missed = any(row.key in counted for row in held.fresh)
    return _counting(held, counted, float(note.details["new_threshold"])) if missed else held


def adjusted(held: Calibration) -> tuple[Calibration, Noted | None]:
    """STAT-06a: three fresh verdicts move the threshold, or, where they are mixed, leave it; each counts once."""
    fresh = held.fresh
    change = adjustment([row.human_verdict for row in fresh if row.human_verdict], held.threshold)
    if change is None:
        return held, None
    keys = {row.key for row in fresh}
    return _counting(held, keys, change.new), _note(change, sorted(keys)) if change.message else None


def _counting(held: Calibration, keys: set[Key], threshold: float) -> Calibration:
    rows = (msgspec.structs.replace(row, counted=row.counted or row.key in keys) for row in held.history)
    return Calibration(deferral_threshold=threshold, history=tuple(rows))


def _note(change: Adjustment, counted: list[Key]) -> Noted:
    details = {
        "old_threshold": change.old,
        "new_threshold": change.new,
        "pass_rate": round(change.pass_rate, 3),
        "counted": [list(key) for key in counted],
        "message": change.message,
    }
    return Noted(event=ADJUSTED, details=details)
