"""What stands on what: which work may land, and where a refused pass is mended."""

from typing import Any

import msgspec
import pytest

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import Entry, Event, PhaseFinished, PhaseLanded, PhaseStarted, VerdictGiven
from autopilot.domain.people import HumanWord
from autopilot.domain.settings import Modes
from autopilot.domain.verdict import Advance, AskHuman, Verdict
from autopilot.engine.decide.line import built_upon, refusal, stands_on_refused, to_mend
from autopilot.engine.decide.next_move import Land, Spawn, next_phase, pause, second_chances
from autopilot.history.record import RunRecord
from support.records import BASE, brief, phase, started

WAITS = AskHuman(question="look")


def passed(name: str, base: str, commit: str, verdict: Verdict | None = None, **more: Any) -> tuple[Event, Event]:
    outcome = PhaseOutcome(phase=name, status="completed", reason="look", commit=commit)
    if isinstance(verdict, AskHuman):
        outcome = msgspec.structs.replace(outcome, status="needs_human_verification")
    begun = PhaseStarted(brief=brief(phase=phase(name), base=base, **more))
    return begun, PhaseFinished(cycle=0, outcome=outcome, verdict=verdict or Advance())


def said(name: str, word: HumanWord, *issues: str) -> VerdictGiven:
    return VerdictGiven(id=f"{name}-{word}", phase=name, verdict=word, issues=issues)


def run_of(*events: Event, **more: Any) -> RunRecord:
    phases = (phase("1"), phase("2", "1"), phase("3"))
    told = (started(*phases, **more), *events)
    return RunRecord(entries=tuple(Entry(number=n, at=f"{n:03}", event=e) for n, e in enumerate(told)))


ONE = (*passed("1", BASE, "c1"), PhaseLanded(phase="1", commit="l1", landed=True))
CHAIN = (*ONE, *passed("2", "l1", "c2", WAITS), *passed("3", "c2", "c3"))


def test_what_stands_on_refused_work_is_held_back() -> None:
    refused = run_of(*CHAIN, said("2", "fail", "wrong"))

    assert stands_on_refused(refused, "c3")
    assert not stands_on_refused(refused, "c1")
    assert not stands_on_refused(run_of(*CHAIN, said("2", "pass")), "c3")


def test_a_pass_frees_what_waited_in_the_order_of_the_line() -> None:
    assert next_phase(run_of(*CHAIN, said("2", "pass"))) == Land("2", "c2")
    assert built_upon(run_of(*CHAIN), "c2")
    assert not built_upon(run_of(*CHAIN), "c3")


def test_a_word_on_a_pass_that_did_not_wait_changes_nothing() -> None:
    run = run_of(*ONE, said("1", "fail", "wrong"))

    assert refusal(run, "1") is None
    assert isinstance(run.standing("1")[-1].verdict, Advance)


@pytest.mark.parametrize(
    ("events", "base"),
    [
        (CHAIN, "c3"),
        ((*ONE, *passed("2", "l1", "c2", WAITS)), "c2"),
        ((*ONE, *passed("2", "l1", "c2", WAITS), said("2", "fail"), *passed("3", "l1", "c3")), None),
    ],
    ids=["others stand on it", "it is the last", "the line went on without it"],
)
def test_a_refused_pass_is_mended_where_its_work_is(events: tuple[Event, ...], base: str | None) -> None:
    run = run_of(*events, said("2", "fail", "wrong"))
    line = "c3" if len(events) > 5 else "l1"

    assert to_mend(run, "2", line) == base
    assert second_chances(run) == ("2",)


@pytest.mark.parametrize(("every", "due"), [(None, False), (1, True), (2, True), (3, False)])
def test_flag_12_a_pause_is_due_when_so_many_phases_have_ended(every: int | None, due: bool) -> None:
    run = run_of(*ONE, *passed("2", "l1", "c2"), modes=Modes(checkpoint_every=every))

    assert (pause(run) is not None) == due


def test_flag_12_a_pause_is_not_taken_twice() -> None:
    run = run_of(*ONE, modes=Modes(checkpoint_every=1))
    taken = pause(run)
    assert taken is not None

    assert pause(run_of(*ONE, taken, modes=Modes(checkpoint_every=1))) is None
    assert isinstance(next_phase(run_of(*ONE, taken)), Spawn)
