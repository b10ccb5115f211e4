"""Which of a phase's passes counts: AMB-37, a worse one takes nothing away from what stood before it."""

from collections.abc import Sequence

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import PhaseFinished, PhaseStarted
from autopilot.domain.rework import Before
from autopilot.history.record import PhaseRecord, RunRecord

KEPT = "as an earlier run left it"


def counted(passes: Sequence[PhaseFinished]) -> PhaseFinished | None:
    """The completed pass with the highest score, of equal ones the newest; None when none completed."""
    whole = [finished for finished in passes if finished.outcome.status == "completed"]
    return max(reversed(whole), key=lambda finished: _score(finished.outcome), default=None)


def kept(passes: Sequence[PhaseFinished], before: Before | None) -> bool:
    """Whether the phase still stands on what an earlier run left: passes that were to mend it did not do better."""
    if before is None or not before.stands or not passes or passes[0].mode not in {"quality", "gaps"}:
        return False
    best = counted(passes)
    assert before.score is not None
    return best is None or _score(best.outcome) < before.score


def outcome_kept(phase: str, before: Before, commit: str) -> PhaseOutcome:
    """The earlier run's result as an outcome of this one."""
    return PhaseOutcome(phase=phase, status="completed", reason=KEPT, commit=commit, alignment_score=before.score)


def best(run: RunRecord, phase: str) -> PhaseOutcome:
    """What the phase stands on; where no pass completed and nothing stood before, the newest pass that ended."""
    passes, before = run.standing(phase), run.start.before.get(phase)
    if before is not None and kept(passes, before):
        return outcome_kept(phase, before, _base(run, phase))
    best_pass = counted(passes)
    return (best_pass or passes[-1]).outcome


def _base(run: RunRecord, phase: str) -> str:
    """Where the first of the passes that count began; its commit holds what earlier runs left."""
    begun = [started.brief.base for started in run.of(PhaseStarted) if started.brief.phase.id == phase]
    return begun[len(run.passes(phase)) - len(run.standing(phase))]


def _score(outcome: PhaseOutcome) -> float:
    return -1.0 if outcome.alignment_score is None else outcome.alignment_score


def pass_behind(
    chosen: PhaseFinished, ended: Sequence[PhaseFinished], passes: Sequence[PhaseRecord]
) -> PhaseRecord | None:
    """
    The pass that came to that end; `ended` are all ends of the phase. None where parts of it came together to it.

    A person's word may have been put on the end since, so it is known by its outcome.
    """
    single = [end for end in ended if not end.outcome.sub_phases]
    pairs = reversed(list(zip(passes, single, strict=False)))
    return next((record for record, end in pairs if end.outcome is chosen.outcome), None)
