"""The next move of a run: which phase to start, skip, land or mend, and how it all ends."""

from typing import Any

import pytest

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import (
    Entry,
    Event,
    PhaseFinished,
    PhaseLanded,
    PhaseSkipped,
    PhaseStarted,
    RunFinished,
    RunResumed,
    RunStopped,
)
from autopilot.domain.phase import Phase
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.engine.decide.next_move import (
    Continue,
    End,
    Land,
    Skip,
    Spawn,
    dependents,
    line,
    next_phase,
    second_chances,
)
from autopilot.engine.run.result import phase_end
from autopilot.history.record import RunRecord
from support.records import BASE, SPEC, brief, phase, started

CHAIN = (phase("1"), phase("2", "1"), phase("3", "2"))
LOOSE = (phase("1"), phase("2"), phase("3"))
FAILED = Stop(because="no")
LOW = Retry(step="remediate", because="8")
OVER = RunFinished(status="failed", exit_code=10, reason="")


def run_of(phases: tuple[Phase, ...], *events: Event) -> RunRecord:
    told = (started(*phases), *events)
    return RunRecord(entries=tuple(Entry(number=n, at="", event=e) for n, e in enumerate(told)))


def ended(name: str, verdict: Verdict, commit: str | None = None, **more: Any) -> PhaseFinished:
    status = {Advance: "completed", Retry: "completed", Stop: "failed", AskHuman: "needs_human_verification"}
    fields: dict[str, Any] = {"status": status[type(verdict)], "reason": "why", **more}
    cycle = fields.pop("cycle", 0)
    outcome = PhaseOutcome(phase=name, commit=commit or f"work{name}", **fields)
    return PhaseFinished(cycle=cycle, outcome=outcome, verdict=verdict)


def landed(name: str, commit: str | None = None) -> PhaseLanded:
    return PhaseLanded(phase=name, commit=commit or f"landed{name}", landed=True)


def resumed(*retry: str) -> RunResumed:
    return RunResumed(pid=1, spec=SPEC, retry=retry)


def passed(name: str) -> tuple[Event, ...]:
    return ended(name, Advance()), landed(name)


@pytest.mark.parametrize(
    ("events", "wanted"),
    [
        ((), Spawn(CHAIN[0], 0, BASE)),
        ((ended("1", Advance()),), Land("1", "work1")),
        (passed("1"), Spawn(CHAIN[1], 0, "landed1")),
        ((*passed("1"), *passed("2"), *passed("3")), End("completed", 0, "every target phase passed")),
    ],
    ids=["first", "land", "second", "end"],
)
def test_phases_run_and_land_in_order(events: tuple[Event, ...], wanted: object) -> None:
    assert next_phase(run_of(CHAIN, *events)) == wanted


def test_a_pass_that_is_open_is_gone_on_with_before_anything_else() -> None:
    opened = brief(phase=CHAIN[1])

    assert next_phase(run_of(CHAIN, *passed("1"), PhaseStarted(brief=opened))) == Continue(opened)


def test_gate_06_a_failed_phase_that_others_need_halts_the_run() -> None:
    move = next_phase(run_of(CHAIN, ended("1", FAILED)))

    assert isinstance(move, End)
    assert (move.status, move.exit_code) == ("failed", 10)


def test_a_failed_phase_that_nobody_needs_does_not_stop_the_others() -> None:
    assert next_phase(run_of(LOOSE, ended("1", FAILED))) == Spawn(LOOSE[1], 0, BASE)


def test_failed_work_is_not_in_the_line() -> None:
    """RBK-01."""
    run = run_of(LOOSE, *passed("1"), ended("2", FAILED))

    assert next_phase(run) == Spawn(LOOSE[2], 0, "landed1")
    assert next_phase(run_of(LOOSE, *passed("1"), ended("2", FAILED), *passed("3"))) == End(
        "failed", 10, "failed or blocked: 2"
    )


def test_a_phase_that_failed_again_blocks_all_that_need_it_one_by_one() -> None:
    run = (ended("1", FAILED), OVER, resumed("1"), ended("1", FAILED))
    skip = PhaseSkipped(phase="2", reason="blocked_by_phase_1", blocking_phase="1")

    assert next_phase(run_of(CHAIN, *run)) == Skip("2", "blocked_by_phase_1", "1")
    assert next_phase(run_of(CHAIN, *run, skip)) == Skip("3", "blocked_by_phase_1", "1")


def test_a_phase_whose_need_failed_is_skipped_in_whatever_order_they_stand() -> None:
    start = started(*CHAIN, targets=["2", "1"])
    told: tuple[Event, ...] = (start, ended("1", FAILED), OVER, resumed("1"), ended("1", FAILED))
    run = RunRecord(entries=tuple(Entry(number=n, at="", event=e) for n, e in enumerate(told)))

    assert next_phase(run) == Skip("2", "blocked_by_phase_1", "1")


def test_a_middling_pass_is_remediated_on_top_of_itself() -> None:
    assert next_phase(run_of(CHAIN, ended("1", LOW))) == Spawn(CHAIN[0], 1, "work1")


def test_a_remediation_that_failed_is_followed_by_one_on_what_stood_before() -> None:
    run = run_of(CHAIN, ended("1", LOW, "good"), ended("1", LOW, "bad", cycle=1, status="failed"))

    assert next_phase(run) == Spawn(CHAIN[0], 2, "good")


def test_what_stood_before_a_failed_remediation_is_what_lands() -> None:
    incomplete = Advance(because="force_incomplete")
    run = run_of(CHAIN, ended("1", LOW, "good"), ended("1", incomplete, "bad", cycle=2, status="failed"))

    assert next_phase(run) == Land("1", "good")
    assert line(run) == "good"


def test_nothing_lands_past_a_phase_that_waits_for_a_person() -> None:
    waiting = ended("1", AskHuman(question="look"))
    run = run_of(LOOSE, waiting, ended("2", Advance()))

    assert next_phase(run_of(LOOSE, waiting)) == Spawn(LOOSE[1], 0, "work1")
    assert next_phase(run) == Spawn(LOOSE[2], 0, "work2")
    end = next_phase(run_of(LOOSE, waiting, ended("2", Advance()), ended("3", Advance())))
    assert end == End("completed", 11, "waiting for a person's verdict: 1")


def test_failed_outweighs_waiting_at_the_end() -> None:
    run = run_of(LOOSE, ended("1", AskHuman(question="look")), ended("2", FAILED), ended("3", Advance()))

    assert next_phase(run) == End("failed", 10, "failed or blocked: 2")


@pytest.mark.parametrize(
    ("events", "wanted"),
    [
        ((ended("1", FAILED), OVER), ("1",)),
        ((*passed("1"), ended("2", FAILED), OVER), ("2",)),
        ((ended("1", FAILED), PhaseSkipped(phase="2", reason="blocked"), OVER), ("1", "2")),
        ((ended("1", FAILED), RunStopped(exit_code=130, reason="interrupted")), ()),
        ((ended("1", FAILED),), ()),
        ((*passed("1"), RunFinished(status="completed", exit_code=0, reason="")), ()),
    ],
    ids=["failed", "the second", "with the blocked", "interrupted", "crashed", "completed"],
)
def test_only_a_run_that_failed_gives_second_chances(events: tuple[Event, ...], wanted: tuple[str, ...]) -> None:
    assert second_chances(run_of(CHAIN, *events)) == wanted


def test_a_phase_with_a_second_chance_starts_anew() -> None:
    run = run_of(CHAIN, ended("1", FAILED), OVER, resumed("1"))

    assert next_phase(run) == Spawn(CHAIN[0], 0, BASE)


def test_a_phase_with_a_second_chance_stands_on_all_that_passed_before_it() -> None:
    run = (*passed("3"), OVER, resumed("1", "2"), ended("1", Advance()), landed("1", "one on three"))
    events = (ended("1", FAILED), ended("2", FAILED), *run)

    assert next_phase(run_of(LOOSE, *events)) == Spawn(LOOSE[1], 0, "one on three")


def test_dependents_are_found_through_others() -> None:
    assert dependents("1", CHAIN) == {"2", "3"}
    assert dependents("3", CHAIN) == frozenset()


def test_a_phase_outside_the_run_blocks_nothing_here() -> None:
    """Preflight is the one to say so."""
    run = RunRecord(entries=(Entry(number=0, at="", event=started(*CHAIN, targets=["2"])),))

    assert next_phase(run) == Spawn(CHAIN[1], 0, BASE)


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ((), "not_started"),
        (passed("1"), "completed"),
        ((ended("1", FAILED),), "failed"),
        ((ended("1", LOW),), "in_progress"),
        ((ended("1", AskHuman(question="look")),), "needs_human_verification"),
        ((PhaseSkipped(phase="1", reason="blocked"),), "skipped"),
    ],
    ids=["none", "passed", "failed", "remediation", "waits", "skipped"],
)
def test_a_phase_s_end_is_told_by_its_last_verdict(events: tuple[Event, ...], status: str) -> None:
    assert phase_end(run_of(CHAIN, *events), "1").status == status
