"""A run as the page is told of it: what each entry changes, and that only that is sent."""

from collections.abc import Iterable
from itertools import count
from typing import Any

import pytest

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import (
    AgentAnswered,
    AgentStarted,
    CompletionFinished,
    CompletionStarted,
    Entry,
    Event,
    Noted,
    PhaseFinished,
    PhaseLanded,
    PhaseSkipped,
    PhaseStarted,
    RunFinished,
    RunResumed,
    RunStopped,
    StepFinished,
    StepStarted,
    VerdictGiven,
    WaitEnded,
)
from autopilot.domain.evidence import Usage
from autopilot.domain.results import COMPLETION
from autopilot.domain.settings import RunCaps
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.views.dashboard.run_view import STEPS_SHOWN, Doing, ShownRun
from support.dashboards import CLEAR
from support.records import RUN, SPEC, brief, phase, started, waits

BEGIN = PhaseStarted(brief=brief(phase=phase("1")))
STEP = StepStarted(step="plan", n=1, base="b", nonce="n", boot="b")
WAITS = waits()
DONE = StepFinished(step="plan", n=1, commit="c", result=CLEAR, verdict=Advance(), seconds=4.0)


def ended(verdict: Verdict, **more: Any) -> PhaseFinished:
    fields = {"phase": "1", "status": "completed", "reason": "r", "commit": "c", "alignment_score": 9.1, **more}
    outcome = PhaseOutcome(**fields)
    return PhaseFinished(cycle=0, outcome=outcome, verdict=verdict)


def answer(**more: Any) -> AgentAnswered:
    fields: dict[str, Any] = {
        "call": "c", "role": "plan", "outcome": "ok", "answer": None, "text": "", "commands": (), "seconds": 2.0,
        "usage": Usage(input_tokens=10, output_tokens=5, cost_usd=0.5), **more,
    }  # fmt: skip
    return AgentAnswered(**fields)


def heard(events: Iterable[Event | tuple[str, Event]]) -> ShownRun:
    """The events a second apart; those in a pair belong to the pass of that phase."""
    shown, seconds = ShownRun(), count()
    for event in (started(phase("1"), phase("2")), *events):
        at = f"2026-01-01T12:00:{next(seconds):02}.000Z"
        stream, told = (f"{RUN}/{event[0]}", event[1]) if isinstance(event, tuple) else (RUN, event)
        shown.hear(stream, Entry(number=0, at=at, event=told))
    return shown


def parts(*events: Event | tuple[str, Event]) -> dict[str, Any]:
    return heard(events).take()[0]


@pytest.mark.parametrize(
    ("last", "status", "reason"),
    [
        (ended(Advance()), "completed", ""),
        (ended(Stop(because="x"), reason="it_fails"), "failed", "it fails"),
        (ended(Retry(step="plan", because="again")), "in_progress", "again"),
        (ended(AskHuman(question="Is it?")), "needs_human_verification", "Is it?"),
        (PhaseSkipped(phase="1", reason="blocked", blocking_phase="2"), "blocked", "behind phase 2"),
        (PhaseSkipped(phase="1", reason="done before"), "skipped", "done before"),
    ],
    ids=["passed", "failed", "mended", "asks", "blocked", "skipped"],
)
def test_a_phase_is_shown_as_it_stands(last: Event, status: str, reason: str) -> None:
    row = parts(BEGIN, last)["phase/1"]

    assert (row.state, row.remark) == (status, reason)


@pytest.mark.parametrize(("word", "status"), [("pass", "completed"), ("issues", "failed")])
def test_a_persons_word_counts_for_the_phase_that_waited(word: Any, status: str) -> None:
    given = VerdictGiven(id="v", phase="1", verdict=word, issues=("too short",))
    found = parts(BEGIN, ended(AskHuman(question="Is it?")), given)

    assert (found["phase/1"].state, found["phase/1"].question, found.get("waits", ())) == (status, "", ())


def test_an_entry_draws_only_what_it_touches_anew() -> None:
    shown = heard([BEGIN])
    first, _ = shown.take()
    shown.hear(f"{RUN}/1", Entry(number=0, at="2026-01-01T12:01:00.000Z", event=STEP))

    assert set(first) == {"run", "order", "phase/1", "phase/2", "open/1"}
    assert set(shown.take()[0]) == {"run", "open/1"}
    assert shown.take() == ({}, [])


def test_what_agents_do_is_told_when_it_changes() -> None:
    shown = heard([BEGIN])
    shown.take()
    shown.doing = {"c": Doing(doing="make test")}

    assert shown.take() == ({"doing": {"c": Doing(doing="make test")}}, [])
    assert shown.take() == ({}, [])


def test_the_pass_at_work_has_its_steps_calls_and_what_they_cost() -> None:
    asked = AgentStarted(call="c", role="plan", pid=1, birth="1")
    found = parts(BEGIN, ("1", STEP), ("1", asked), ("1", answer()), ("1", DONE), ("1", STEP), ("1", asked))
    first, second = found["open/1"].work.steps

    assert (first.seconds, first.ended, first.calls[0].tokens, first.calls[0].usd) == (4.0, "done", 15, 0.5)
    assert (second.seconds, found["open/1"].usual, second.calls[0].seconds) == (None, 4.0, None)
    assert (found["phase/1"].tokens, found["phase/1"].usd) == (15, 0.5)
    assert [(s.unit, s.used) for s in found["run"].spend] == [("usd", 0.5), ("tokens", 15), ("minutes", 0.12)]


def test_a_call_that_is_made_once_more_after_a_stop_is_one_call() -> None:
    asked = [AgentStarted(call="c", role="plan", pid=pid, birth=f"{pid}") for pid in (1, 2)]
    stop, resume = RunStopped(exit_code=130, reason="interrupted"), RunResumed(pid=1, spec=SPEC)
    again: list[Any] = [BEGIN, ("1", STEP), ("1", asked[0]), stop, resume, ("1", asked[1])]
    (call,) = parts(*again)["open/1"].work.steps[-1].calls
    (ended,) = parts(*again, ("1", answer()))["open/1"].work.steps[-1].calls

    assert (call.began, call.seconds) == ("2026-01-01T12:00:06.000Z", None)
    assert (ended.began, ended.seconds) == (call.began, 2.0)


def test_two_calls_of_a_step_are_two() -> None:
    asked = [("1", AgentStarted(call=call, role="plan", pid=1, birth="1")) for call in ("c", "c.2")]

    assert len(parts(BEGIN, ("1", STEP), *asked)["open/1"].work.steps[-1].calls) == 2
    assert len(parts(BEGIN, ("1", STEP), asked[0], ("1", answer()), asked[0])["open/1"].work.steps[-1].calls) == 2


def test_a_very_long_pass_is_shown_by_its_end() -> None:
    found = parts(BEGIN, *[("1", event) for _ in range(STEPS_SHOWN) for event in (STEP, DONE)], ("1", STEP))

    assert len(found["open/1"].work.steps) == STEPS_SHOWN
    assert found["open/1"].work.steps[-1].seconds is None


def test_time_in_which_nobody_worked_does_not_count() -> None:
    resumed = RunResumed(pid=1, spec=SPEC, caps=RunCaps(usd=7.0))
    spend = {s.unit: s for s in parts(RunStopped(exit_code=130, reason="interrupted"), resumed)["run"].spend}

    assert (spend["minutes"].used, spend["usd"].cap, spend["usd"].used) == (0.02, 7.0, None)


@pytest.mark.parametrize(
    ("events", "kind", "until"),
    [
        ([BEGIN, ended(AskHuman(question="q"))], "person", ""),
        ([RunStopped(exit_code=21, reason="stuck")], "breaker", "2026-01-01T12:05:01.000Z"),
        ([BEGIN, ("1", STEP), WAITS], "limit", "2026-01-01T13:00:00.000Z"),
    ],
    ids=["person", "breaker", "limit"],
)  # fmt: skip
def test_what_the_run_waits_for_is_told(events: list[Any], kind: str, until: str) -> None:
    found = parts(*events)["waits"]

    assert [(wait.kind, wait.until) for wait in found] == [(kind, until)]


def test_a_limit_is_over_when_the_agent_answers() -> None:
    over = WaitEnded(call=WAITS.call, backend="claude", how="due")

    assert heard([BEGIN, ("1", STEP), WAITS, over]).picture.waits == ()


def test_warnings_are_what_somebody_should_look_at() -> None:
    found = parts(
        BEGIN,
        ended(Advance(), issues=("a loose end",)),
        PhaseLanded(phase="1", commit="c", landed=False, note="your branch moved"),
        Noted(event="cross_contamination_warning", phase="1"),
    )

    assert [line.text for line in found["cautions"]] == [
        "Phase 1: a loose end",
        "Phase 1 is not on your branch: your branch moved",
        "Cross-contamination detected in ?: pattern '?' found. Agent independence may be compromised.",
    ]
    assert found["phase/1"].landed is False


def test_the_steps_behind_the_last_phase_are_open_or_over() -> None:
    begun = CompletionStarted(brief=brief(phase=phase(COMPLETION)))
    over = CompletionFinished(commit="c")

    assert parts(begun)[f"phase/{COMPLETION}"].state == "in_progress"
    done = parts(begun, (COMPLETION, STEP), over)
    assert (done[f"phase/{COMPLETION}"].state, f"open/{COMPLETION}" in done) == ("completed", False)
    assert done["run"].counts == {"not_started": 2}


@pytest.mark.parametrize(
    ("event", "status"),
    [(RunFinished(status="completed", exit_code=0, reason="r"), "completed"), (RunStopped(exit_code=20, reason="r"), "paused"),
     (RunFinished(status="failed", exit_code=10, reason="r"), "failed"), (Noted(event="x"), "running")],
    ids=["completed", "stopped", "failed", "noted"],
)  # fmt: skip
def test_the_run_says_how_it_is(event: Event, status: str) -> None:
    assert parts(event)["run"].state == status
