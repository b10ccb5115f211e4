"""Which pass a phase's receipt is about, and the receipt's files: the same at the end of a pass and at landing."""

from dataclasses import dataclass

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import PhaseFinished
from autopilot.domain.verdict import Verdict
from autopilot.engine.perform.context import LandingHands
from autopilot.history.best_attempt import counted as best_of
from autopilot.history.best_attempt import kept, pass_behind
from autopilot.history.record import PhaseRecord, RunRecord


@dataclass(frozen=True, slots=True)
class Standing:
    """
    The pass a phase stands on, how it ended, and what the run made of the phase.

    `earlier` are the passes whose work that one continues, oldest first.
    """

    record: PhaseRecord
    outcome: PhaseOutcome
    verdict: Verdict
    earlier: tuple[PhaseRecord, ...] = ()


def standing_of(run: RunRecord, passes: tuple[PhaseRecord, ...], last: PhaseFinished | None = None) -> Standing | None:
    """
    AMB-37: the best pass that completed since the phase got its chance, else the newest that ended.

    `last` is the end of a pass that the run has not noted yet. None when no pass of the phase has ended, and when it
    still stands on what an earlier run left: then that run's receipt holds.
    """
    phase, own = passes[-1].phase.id, (last,) if last else ()
    ended, counted = (*run.passes(phase), *own), (*run.standing(phase), *own)
    if not counted or kept(counted, run.start.before.get(phase)):
        return None
    chosen = best_of(counted) or counted[-1]
    if chosen.outcome.status == "split_request":
        return None
    record = pass_behind(chosen, ended, passes)
    # Where nothing was built, a person's word comes after the landing: the receipt says what was found, and stays.
    verdict = ended[-1].verdict if chosen.outcome.satisfied else counted[-1].verdict
    return Standing(record, chosen.outcome, verdict, continued(record, passes)) if record else None


def continued(record: PhaseRecord, passes: tuple[PhaseRecord, ...]) -> tuple[PhaseRecord, ...]:
    """The passes that a remediation or a resumed hand-over builds on, oldest first, back to the phase's first base."""
    chain = list[PhaseRecord]()
    while record.brief.first_base:
        before = (p for p in reversed(passes) if p.brief.number < record.brief.number)
        found = next((p for p in before if p.commit == record.brief.base), None)
        if found is None:
            break
        chain.insert(0, found)
        record = found
    return tuple(chain)


def receipt_files(
    run: RunRecord, passes: tuple[PhaseRecord, ...], hands: LandingHands, last: PhaseFinished | None = None
) -> dict[str, str]:
    """By path; none while no pass of the phase has ended."""
    stands = standing_of(run, passes, last)
    if stands is None:
        return {}
    made = hands.receipts.files(stands.record, run, stands.outcome, stands.verdict, stands.earlier)
    return {f"{stands.record.brief.dir}/{name}": text for name, text in made.items()}
