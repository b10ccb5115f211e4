"""What a person's verdict teaches: LRNG-04."""

import pytest

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import Entry, Event, PhaseFinished, VerdictGiven
from autopilot.domain.people import HumanWord
from autopilot.domain.verdict import AskHuman
from autopilot.engine.close.diagnostics import calibrations, write_calibrations
from autopilot.history.record import RunRecord
from support.papers import Shelf
from support.records import phase, started

OUTCOME = PhaseOutcome(
    phase="1", status="needs_human_verification", reason="look", commit="c", alignment_score=8.4, tasks_completed="3/3"
)
WAITING = PhaseFinished(cycle=0, outcome=OUTCOME, verdict=AskHuman(question="look"))


def run_of(*events: Event) -> RunRecord:
    entries = (started(phase("1", type="ui")), *events)
    return RunRecord(entries=tuple(Entry(number=n, at="", event=e) for n, e in enumerate(entries)))


def verdict(said: HumanWord, *issues: str, phase: str = "1") -> VerdictGiven:
    return VerdictGiven(id="a", phase=phase, verdict=said, issues=issues)


def test_lrng_04_a_pass_says_the_deferral_was_too_careful() -> None:
    (entry,) = calibrations(run_of(WAITING, verdict("pass")))

    assert entry.startswith(
        "### Human Verdict: Phase 1 -- PASS (confidence calibration)\nPhase 1 (Letter 1) was deferred"
    )
    assert "(ui phase, 3/3 auto tasks passed, alignment score 8.4/10)" in entry


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (verdict("fail", "too dark"), "FAIL"),
        (verdict("issues_found", "too dark"), "ISSUES_FOUND"),
    ],
    ids=["fail", "issues"],
)
def test_lrng_04_issues_are_named_for_those_who_come_after(said: VerdictGiven, word: str) -> None:
    (entry,) = calibrations(run_of(WAITING, said))

    assert entry.startswith(f"### Human Verdict: Phase 1 -- {word} (confidence calibration)\n")
    assert "Human found issues: too dark.\n" in entry
    assert "Specific issues to watch for: too dark." in entry


@pytest.mark.parametrize(
    "events",
    [(verdict("pass"),), (WAITING,), (WAITING, verdict("pass", phase="9"))],
    ids=["never ended", "no verdict", "another phase"],
)
def test_lrng_04_what_is_no_verdict_on_a_phase_teaches_nothing(events: tuple[Event, ...]) -> None:
    assert list(calibrations(run_of(*events))) == []


def test_lrng_04_it_is_written_and_trouble_with_the_disk_stops_nothing() -> None:
    run, shelf = run_of(WAITING, verdict("pass")), Shelf()

    assert write_calibrations(run, shelf) == ()
    assert "PASS (confidence calibration)" in shelf.learnings()
    assert write_calibrations(run, Shelf(full=True)) == ("learnings could not be written: the disk is full",)
