"""Which pass a phase's receipt is about, and the receipt's files: the same at the end of a pass and at landing."""

from dataclasses import dataclass

from autopilot.domain.events import PhaseFinished, PhaseOutcome
from autopilot.domain.record import PhaseRecord, RunRecord
from autopilot.domain.verdict import Verdict
from autopilot.engine.hands import Hands


@dataclass(frozen=True, slots=True)
class Standing:
    """The pass a phase stands on, how it ended, and what the run made of the phase."""

    record: PhaseRecord
    outcome: PhaseOutcome
    verdict: Verdict


def standing_of(run: RunRecord, passes: tuple[PhaseRecord, ...], last: PhaseFinished | None = None) -> Standing | None:
    """
    AMB-37: the newest pass that completed since the phase got its chance, else the newest that ended.

    `last` is the end of a pass that the run has not noted yet; None when no pass of the phase has ended.
    """
    phase, own = passes[-1].phase.id, (last,) if last else ()
    ended, counted = _single((*run.passes(phase), *own)), (*run.standing(phase), *own)
    if not counted:
        return None
    stands = next((end for end in reversed(counted) if end.outcome.status == "completed"), counted[-1])
    if stands not in ended or stands.outcome.status == "split_request":
        # Its parts have receipts of their own.
        return None
    return Standing(passes[len(ended) - 1 - ended[::-1].index(stands)], stands.outcome, counted[-1].verdict)


def _single(ends: tuple[PhaseFinished, ...]) -> tuple[PhaseFinished, ...]:
    """One a pass: without those that only bring the parts of a split phase together."""
    return tuple(end for end in ends if not end.outcome.sub_phases)


def receipt_files(
    run: RunRecord, passes: tuple[PhaseRecord, ...], hands: Hands, last: PhaseFinished | None = None
) -> dict[str, str]:
    """By path; none while no pass of the phase has ended."""
    stands = standing_of(run, passes, last)
    if stands is None:
        return {}
    made = hands.receipts.files(stands.record, run, stands.outcome, stands.verdict)
    return {f"{stands.record.brief.dir}/{name}": text for name, text in made.items()}
