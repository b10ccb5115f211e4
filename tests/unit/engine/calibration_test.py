"""What a person's verdict teaches: LRNG-04."""

from typing import Any

import pytest

from autopilot.domain.events import Entry, Event, Noted, PhaseFinished, PhaseOutcome
from autopilot.domain.record import RunRecord
from autopilot.domain.verdict import AskHuman
from autopilot.engine.calibration import calibrations
from autopilot.engine.papers import write_calibrations
from support.papers import Shelf
from support.records import phase, started

OUTCOME = PhaseOutcome(
    phase="1", status="needs_human_verification", reason="look", commit="c", alignment_score=8.4, tasks_completed="3/3"
)
WAITING = PhaseFinished(cycle=0, outcome=OUTCOME, verdict=AskHuman(question="look"))


def run_of(*events: Event) -> RunRecord:
    entries = (started(phase("1", type="ui")), *events)
    return RunRecord(entries=tuple(Entry(number=n, at="", event=e) for n, e in enumerate(entries)))


def verdict(said: Any, **more: Any) -> Noted:
    return Noted(event="human_verdict_recorded", phase="1", details={"verdict": said, **more})


def test_lrng_04_a_pass_says_the_deferral_was_too_careful() -> None:
    (entry,) = calibrations(run_of(WAITING, verdict("pass")))

    assert entry.startswith(
        "### Human Verdict: Phase 1 -- PASS (confidence calibration)\nPhase 1 (Letter 1) was deferred"
    )
    assert "(ui phase, 3/3 auto tasks passed, alignment score 8.4/10)" in entry


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (verdict("fail", issues=["too dark"]), "FAIL"),
        (verdict("issues", issues=["too dark"]), "ISSUES_FOUND"),
        (verdict({"verdict": "issues_found", "issues": ["too dark"]}), "ISSUES_FOUND"),
    ],
    ids=["fail", "issues", "an object"],
)
def test_lrng_04_issues_are_named_for_those_who_come_after(said: Noted, word: str) -> None:
    (entry,) = calibrations(run_of(WAITING, said))

    assert entry.startswith(f"### Human Verdict: Phase 1 -- {word} (confidence calibration)\n")
    assert "Human found issues: too dark.\n" in entry
    assert "Specific issues to watch for: too dark." in entry


@pytest.mark.parametrize(
    "events",
    [(verdict("pass"),), (WAITING,), (WAITING, verdict("perhaps")), (WAITING, Noted(event="other", phase="1"))],
    ids=["never ended", "no verdict", "no known word", "another event"],
)
def test_lrng_04_what_is_no_verdict_on_a_phase_teaches_nothing(events: tuple[Event, ...]) -> None:
    assert list(calibrations(run_of(*events))) == []


def test_lrng_04_it_is_written_and_trouble_with_the_disk_stops_nothing() -> None:
    run, shelf = run_of(WAITING, verdict("pass")), Shelf()

    assert write_calibrations(run, shelf) == ()
    assert "PASS (confidence calibration)" in shelf.learnings()
    assert write_calibrations(run, Shelf(full=True)) == ("learnings could not be written: the disk is full",)
