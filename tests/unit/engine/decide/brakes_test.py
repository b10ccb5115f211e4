"""The brakes over records alone: when each trips, what it never does, and how counts survive whatever happens."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import Entry, Event, PhaseFinished, PhaseStarted, RunFinished, RunResumed, RunStopped
from autopilot.domain.evidence import Usage
from autopilot.domain.results import Debugged, Unanswered
from autopilot.domain.settings import Limits, RunCaps
from autopilot.domain.verdict import Advance, Retry
from autopilot.engine.decide.brakes import BREAKERS, CAPS, gauged, over_cap, seconds_left, tripped, usd_left
from autopilot.engine.run.result import phase_end
from autopilot.gates import after_rate
from autopilot.history.active_time import active_time
from autopilot.history.digest import digest_of
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.policy.loops import tries
from autopilot.policy.task_progress import debugs_left
from autopilot.state.build_state import state_of
from support.records import SPEC, Story, brief, phase, plan, started, task, work

NOON, SOON = "2026-01-01T12:00:00.000Z", "2026-01-01T12:01:00.000Z"
BROKEN = RunStopped(exit_code=21, reason="no_progress: stuck", brake="no_progress")
PASSED = PhaseFinished(
    cycle=0, outcome=PhaseOutcome(phase="1", status="completed", reason="", commit="c1"), verdict=Advance()
)


def run_of(*events: Event, **limits: Any) -> RunRecord:
    told = (started(phase("1"), phase("2"), **limits), PhaseStarted(brief=brief()), *events)
    return RunRecord(entries=tuple(Entry(number=n, at=NOON, event=event) for n, event in enumerate(told)))


def silent(times: int, story: Story | None = None) -> Story:
    told = story or Story()
    for _ in range(times):
        told.step("plan", Unanswered(role="plan", outcome="timeout", detail=""), Retry(step="plan", because="no"))
    return told


def resumed(**more: Any) -> RunResumed:
    return RunResumed(pid=1, spec=SPEC, **more)


def honest(tasks: int) -> PhaseRecord:
    names = [f"01-0{n}" for n in range(1, tasks + 1)]
    story = Story().planned(plan(*(task(name) for name in names)))
    for name in names:
        story.answer(f"run/1/execute/{name}", role="execute", usage=Usage(input_tokens=20_000, cost_usd=0.2))
        story.executed(name, f"commit {name}", then="verify" if name == names[-1] else "execute")
    return story.verified().judged().rated().record


def prefixes(record: PhaseRecord) -> list[PhaseRecord]:
    return [
        PhaseRecord(start=record.start, brief=record.brief, entries=record.entries[:n])
        for n in range(len(record.entries) + 1)
    ]


@given(st.integers(1, 6))
@settings(max_examples=6)
def test_no_brake_trips_anywhere_on_an_honest_run(tasks: int) -> None:
    assert [tripped(run_of(), (digest_of(part),), SOON) for part in prefixes(honest(tasks))] == [None] * len(
        prefixes(honest(tasks))
    )


STEPS = st.lists(st.sampled_from(["silence", "answer", "dear answer", "repair", "review"]), max_size=12)


def told(steps: list[str]) -> PhaseRecord:
    story = Story().planned()
    for n, step in enumerate(steps):
        match step:
            case "silence":
                silent(1, story)
            case "repair":
                story.step("debug", Debugged(work=work("1-debug", commit=f"d{n}", passed=False)))
            case "review":
                story.verified(Retry(step="debug", because=f"wrong {n}"), passed=False)
            case _:
                usage = Usage(output_tokens=9, cost_usd=0.5) if "dear" in step else Usage()
                story.answer(f"call {n}", usage=usage)
    return story.record


@given(STEPS)
@settings(max_examples=50)
def test_cb_06_what_is_spent_and_tried_only_grows_along_the_journal(steps: list[str]) -> None:
    gauges = [gauged(run_of(), (digest_of(part),), SOON) for part in prefixes(told(steps))]
    counts = [(g.tries.retries, g.run.tokens or 0, g.run.usd or 0, g.run.calls) for g in gauges]

    assert all(a <= b for before, after in pairwise(counts) for a, b in zip(before, after, strict=True))


@given(STEPS, st.sampled_from([(), (PASSED,)]))
@settings(max_examples=50)
def test_a_brake_makes_no_phase_look_better(steps: list[str], ended: tuple[Event, ...]) -> None:
    limits = {"retries": 0, "no_progress": 1, "same_error": 1, "usd_per_phase": 1.0}
    brake = tripped(run_of(*ended, **limits), (digest_of(told(steps)),), SOON)
    if brake is not None:
        stopped = run_of(*ended, brake.event(), **limits)
        assert brake.exit_code in {20, 21}
        assert [phase_end(stopped, p) for p in "12"] == [phase_end(run_of(*ended, **limits), p) for p in "12"]


def test_every_brake_is_on_by_default_and_names_its_limit() -> None:
    assert all(getattr(Limits(), brake.name) > 0 for brake in BREAKERS)
    off = {cap.name for cap in CAPS if getattr(Limits(), cap.name) is None}
    assert off == {"tokens_per_run", "tokens_per_phase"}
    assert all(getattr(Limits(), cap.name) > 0 for cap in CAPS if cap.name not in off)


@pytest.mark.parametrize(("times", "brake"), [(2, None), (3, "no_progress")], ids=["two tries", "three"])
def test_cb_01_three_tries_without_progress_open_the_breaker(times: int, brake: str | None) -> None:
    found = tripped(run_of(), (silent(times).digest,), SOON)

    assert (found and found.name) == brake


def test_cb_02_five_equal_errors_open_the_breaker_whatever_their_numbers() -> None:
    story = Story().planned()
    for n in range(5):
        story.step("debug", Debugged(work=work("1-debug", commit=f"d{n}", passed=False)))
        story.verified(Retry(step="debug", because=f"{n} tests failed in run{n}/log.txt"), passed=False)
    found = tripped(run_of(no_progress=99), (story.digest,), SOON)

    assert found is not None
    assert (found.name, found.exit_code) == ("same_error", 21)


@pytest.mark.parametrize(
    ("end", "anew", "stopped"),
    [
        (None, None, True),
        (RunStopped(exit_code=130, reason="interrupted"), None, True),
        (RunFinished(status="failed", exit_code=10, reason="failed"), 3, False),
    ],
    ids=["killed", "interrupted", "over, and given another chance"],
)
def test_counts_go_on_after_a_cut_and_begin_anew_after_an_end(
    end: Event | None, anew: int | None, *, stopped: bool
) -> None:
    before = (end,) if end else ()
    run = run_of(*before, resumed(anew=anew))

    assert (tripped(run, (silent(3).digest,), SOON) is not None) == stopped


def test_rsm_05_a_resumed_breaker_is_half_open_until_a_check_passes() -> None:
    run = run_of(BROKEN, resumed(anew=3))

    assert tries(run, (silent(3).digest,)).half_open
    assert tripped(run, (silent(3).digest,), SOON) is None
    assert tries(run, (silent(4).digest,)).relapsed
    assert not tries(run, (silent(3).planned().digest,)).half_open


def test_time_in_which_nobody_worked_does_not_count() -> None:
    later = "2026-01-01T18:00:00.000Z"
    entries = (*run_of().entries, Entry(number=2, at=later, event=resumed()))

    worked = active_time(RunRecord(entries=entries), (), "2026-01-01T18:03:00.000Z")
    assert worked.run == 3.0


def test_cb_10_a_call_gets_no_more_time_than_its_phase_has_left() -> None:
    assert seconds_left(run_of(minutes_per_phase=1.5), (), SOON) == 30.0
    assert seconds_left(run_of(minutes_per_run=1.25), (), SOON) == 15.0
    assert over_cap(run_of(minutes_per_phase=1.0), (), SOON) is not None


@pytest.mark.parametrize(
    ("caps", "left"),
    [
        ({"usd_per_run": 9.0, "usd_per_phase": 4.0}, 3.5),
        ({"usd_per_run": 2.0, "usd_per_phase": 4.0}, 1.5),
        ({"usd_per_run": 9.0, "usd_per_phase": 0.2}, 0.0),
    ],
    ids=["phase", "run", "nothing"],
)
def test_a_call_gets_no_more_dollars_than_are_left(caps: dict[str, float], left: float) -> None:
    spent = Story().answer("call", usage=Usage(cost_usd=0.5)).digest

    assert usd_left(run_of(**caps), (spent,), SOON, "1") == left


def test_caps_raised_at_a_resume_hold_from_there_on() -> None:
    spent = Story().answer("call", usage=Usage(output_tokens=900)).digest
    low = run_of(tokens_per_run=500)
    raised = run_of(resumed(caps=RunCaps(tokens=5_000)), tokens_per_run=500)
    found = over_cap(low, (spent,), SOON)

    assert found is not None
    assert (found.name, found.exit_code, found.ends) == ("tokens_per_run", 20, True)
    assert over_cap(raised, (spent,), SOON) is None


def test_cb_04_05_three_debug_attempts_and_one_re_plan_are_all_a_phase_gets() -> None:
    story = Story().planned()
    for n in range(3):
        story.step("debug", Debugged(work=work("1-debug", commit=f"d{n}", passed=False)))

    assert debugs_left(story.record) == 0
    assert Limits().replans == 1


@pytest.mark.parametrize(("score", "again"), [(6.9, True), (7.0, False)], ids=["below seven", "seven"])
def test_cb_03_an_alignment_below_seven_is_planned_again(score: float, *, again: bool) -> None:
    rated = Story().planned().executed().verified().judged().rated(score).record

    assert isinstance(after_rate.GATE.decide(rated), Retry) == again


def test_state_05_the_state_tells_the_breaker_and_what_is_spent() -> None:
    spent = silent(3, Story().answer("call", usage=Usage(output_tokens=900))).record
    state = state_of(run_of(BROKEN), {"1": (spent,)})

    assert state["circuit_breaker"] == {
        "state": "open",
        "consecutive_no_progress": 3,
        "consecutive_same_error": 3,
        "last_error": "no usable answer (timeout): ",
        "cooldown_until": "2026-01-01T12:05:00.000Z",
        "retries": 3,
        "reason": BROKEN.reason,
    }
    assert state["spending"]["tokens"] == {"used": 900, "cap": None, "untold_calls": 0}
    assert state["spending"]["usd"] == {"used": None, "cap": 100.0, "untold_calls": 1}
