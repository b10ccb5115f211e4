"""What the end of a run covers: all completed phases nobody has looked at yet, each once, and a reason for the rest."""

from typing import Any

import pytest

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import (
    CompletionFinished,
    CompletionStarted,
    Entry,
    Event,
    PhaseFinished,
    PhaseLanded,
    RunFinished,
    RunResumed,
    RunStopped,
)
from autopilot.domain.settings import Modes
from autopilot.domain.verdict import Advance, AskHuman, Stop, Verdict
from autopilot.engine.decide.audit_scope import (
    ALONE,
    IDLE,
    OFF,
    SILENT,
    UNASKED,
    coverage,
    steps_due,
    uncovered,
    why_not,
)
from autopilot.engine.decide.next_move import Complete, End, Land, line, next_phase
from autopilot.history.record import RunRecord
from support.records import SPEC, brief, phase, started

ON = {"integration_check": True, "self_audit": True}
PHASES = (phase("1"), phase("2"), phase("3"))
OVER = RunFinished(status="failed", exit_code=10, reason="phase 2 failed")
NO = Stop(because="no")


def run_of(*events: Event, phases: Any = PHASES, **more: Any) -> RunRecord:
    told = (started(*phases, **{**ON, **more}), *events)
    return RunRecord(entries=tuple(Entry(number=n, at="", event=e) for n, e in enumerate(told)))


def ended(name: str, verdict: Verdict) -> PhaseFinished:
    status: Any = {Advance: "completed", Stop: "failed", AskHuman: "needs_human_verification"}[type(verdict)]
    outcome = PhaseOutcome(phase=name, commit=f"work{name}", status=status, reason="why", alignment_score=9.4)
    return PhaseFinished(cycle=0, outcome=outcome, verdict=verdict)


def passed(*names: str) -> tuple[Event, ...]:
    pairs = ((ended(n, Advance()), PhaseLanded(phase=n, commit=f"landed{n}", landed=True)) for n in names)
    return tuple(event for pair in pairs for event in pair)


def begun(*names: str, base: str = "landed1", steps: tuple[str, ...] = ("audit",), number: int = 0) -> Event:
    given = brief(phase=phase("completion"), base=base, covers=names, steps=steps, number=number)
    return CompletionStarted(brief=given)


def looked(*names: str, commit: str = "landed1", **more: Any) -> CompletionFinished:
    return CompletionFinished(commit=commit, covered=names, **more)


def test_a_run_with_a_failed_phase_looks_at_those_that_passed() -> None:
    run = run_of(*passed("1"), ended("2", NO), *passed("3"))

    assert (uncovered(run), steps_due(run)) == (("1", "3"), ("integration", "audit"))
    assert next_phase(run) == Complete("landed3", None)


def test_a_run_of_a_part_of_the_roadmap_looks_at_it() -> None:
    run = run_of(*passed("1"), targets=("1",))

    assert (uncovered(run), steps_due(run)) == (("1",), ("audit",))


def test_what_earlier_runs_completed_and_nobody_looked_at_is_looked_at_too() -> None:
    run = run_of(*passed("3"), targets=("3",), completed=("1", "2"), unaudited=("2",))

    assert (uncovered(run), steps_due(run)) == (("2", "3"), ("integration", "audit"))


def test_each_phase_is_looked_at_once_and_again_only_when_it_was_done_again() -> None:
    once = (*passed("1"), ended("2", NO), begun("1"), looked("1"))
    again = RunResumed(pid=1, spec=SPEC, retry=("2",))

    assert uncovered(run_of(*once, targets=("1", "2"))) == ()
    assert uncovered(run_of(*once, OVER, again, *passed("2"), targets=("1", "2"))) == ("2",)
    assert uncovered(run_of(*once, OVER, again, *passed("1"), targets=("1", "2"))) == ("1",)


def test_where_nobody_answered_the_run_ends_and_asks_again_when_it_is_resumed() -> None:
    silent = (*passed("1"), begun("1"), looked())
    run = run_of(*silent, targets=("1",))

    assert isinstance(next_phase(run), End)
    assert coverage(run, OVER).because == SILENT
    assert steps_due(run_of(*silent, OVER, RunResumed(pid=1, spec=SPEC), targets=("1",))) == ("audit",)


def test_a_run_of_an_older_version_had_looked_at_all_its_targets() -> None:
    old = CompletionFinished(commit="landed1")

    assert uncovered(run_of(*passed("1", "2"), begun("1"), old, targets=("1", "2"))) == ()


def test_an_end_that_was_cut_off_goes_on_unless_the_line_has_moved() -> None:
    cut = (*passed("1"), ended("2", NO), begun("1", base="landed1"))
    gone_on = next_phase(run_of(*cut, targets=("1", "2")))
    again = RunResumed(pid=1, spec=SPEC, retry=("2",))

    assert isinstance(gone_on, Complete)
    assert gone_on.brief is not None
    assert next_phase(run_of(*cut, OVER, again, *passed("2"), targets=("1", "2"))) == Complete("landed2", None)


def test_what_an_end_mended_lands_and_is_what_later_phases_start_from() -> None:
    mended = (*passed("1"), ended("2", NO), begun("1"), looked("1", commit="mended"))
    run = run_of(*mended, targets=("1", "2"))

    assert next_phase(run) == Land("completion", "mended")
    assert line(run) == "mended"
    assert line(run_of(*mended, targets=("1", "2"), modes=Modes(jobs=2))) == "mended"


def test_the_version_is_bumped_once_and_only_when_all_targets_passed() -> None:
    settings = {"version_bump": True, "integration_check": False, "self_audit": False}

    assert steps_due(run_of(*passed("1", "2", "3"), **settings)) == ("version",)
    assert steps_due(run_of(*passed("1", "3"), ended("2", NO), **settings)) == ()
    bumped = (*passed("1", "2", "3"), begun(steps=("version",)), looked())
    assert steps_due(run_of(*bumped, **settings)) == ()


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (run_of(*passed("1"), targets=("1",), integration_check=False, self_audit=False), OFF),
        (run_of(*passed("1"), ended("2", AskHuman(question="ok?")), targets=("1", "2")),
         "phase 2 waits for a person's verdict"),
        (run_of(ended("1", NO), targets=("1",), completed=("2",), unaudited=("2",)), IDLE),
        (run_of(*passed("1"), phases=(phase("1"),)), ALONE),
        (run_of(*passed("1", "2"), phases=(phase("1", criteria=()), phase("2", criteria=())),
                integration_check=False), UNASKED),
        (run_of(*passed("1"), targets=("1",)), ""),
    ],
)  # fmt: skip
def test_there_is_a_reason_for_what_is_not_looked_at(run: RunRecord, reason: str) -> None:
    assert why_not(run) == reason
    assert bool(steps_due(run)) == (not reason)


@pytest.mark.parametrize(
    "end",
    [
        RunStopped(exit_code=21, reason="same_error: x", brake="same_error"),
        RunFinished(status="failed", exit_code=20, reason="usd_per_run: $100", brake="usd_per_run"),
    ],
)
def test_a_run_that_was_stopped_says_so(end: RunFinished | RunStopped) -> None:
    told = coverage(run_of(*passed("1"), targets=("1",)), end)

    assert (told.covered, told.left, told.because) == ((), ("1",), end.reason)
