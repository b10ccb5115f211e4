"""Which pass a receipt is about: the one the phase stands on, whatever came after it."""

import pytest

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import Entry, PhaseFinished, RunResumed
from autopilot.domain.verdict import Advance, Retry, Stop, Verdict
from autopilot.engine.close.receipt_files import standing_of
from autopilot.history.record import RunRecord
from support.records import SPEC, Story, brief, started

PASSES = tuple(Story(brief(number=n, cycle=n)).begin("preflight").record for n in range(3))
ONE, TWO = PASSES[:1], PASSES[:2]


def ended(status: str, verdict: Verdict, commit: str) -> PhaseFinished:
    outcome = PhaseOutcome(phase="1", status=status, reason="", commit=commit)  # type: ignore[arg-type]  # a literal
    return PhaseFinished(cycle=0, outcome=outcome, verdict=verdict)


LOW = ended("completed", Retry(step="execute", because="low"), "c0")
LOST = ended("failed", Advance(because="force_incomplete"), "c1")
FAILED = ended("failed", Stop(because="no"), "c0")
GOOD = ended("completed", Advance(), "c1")
AGAIN = RunResumed(pid=1, spec=SPEC, retry=("1",))


def run_of(*events: object) -> RunRecord:
    told = (started(), *events)
    return RunRecord(entries=tuple(Entry(number=n, at="", event=e) for n, e in enumerate(told)))  # type: ignore[arg-type]  # events


@pytest.mark.parametrize(
    ("events", "commit", "number"),
    [
        ((GOOD,), "c1", 0),
        ((LOW,), "c0", 0),
        ((LOW, LOST), "c0", 0),
        ((LOW, GOOD), "c1", 1),
        ((FAILED, AGAIN, GOOD), "c1", 1),
        ((GOOD, AGAIN, FAILED), "c0", 1),
    ],
    ids=["one pass", "below the bar", "a failed remediation", "a good one", "a second chance", "a second failure"],
)
def test_amb_37_a_failed_pass_does_not_take_away_what_stood(
    events: tuple[object, ...], commit: str, number: int
) -> None:
    """AMB-37: and it is the same while the end of the last pass is not on record yet."""
    *before, last = events
    assert isinstance(last, PhaseFinished)
    passes = PASSES[: sum(isinstance(event, PhaseFinished) for event in events)]
    noted, unnoted = standing_of(run_of(*events), passes), standing_of(run_of(*before), passes, last)

    assert noted == unnoted
    assert noted is not None
    assert (noted.outcome.commit, noted.record.brief.number, noted.verdict) == (commit, number, last.verdict)


def test_a_phase_without_a_finished_pass_has_none() -> None:
    assert standing_of(run_of(), ONE) is None
    assert standing_of(run_of(FAILED, AGAIN), TWO) is None
