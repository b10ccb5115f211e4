"""The loop's own promises, for any script of answers."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.errors import Interrupted
from autopilot.sessions import loop_summary as ending
from autopilot.sessions.kill_switches import HINTS
from autopilot.sessions.loop import LoopEnd, LoopPlan, Ports, run_loop
from autopilot.sessions.machine.stall import Pulse, Watch, felt, sample
from autopilot.sessions.selector import Recommendation
from support.loops import Play

SURE = {"mode": "feature", "confidence": 0.9}


def result(name: str = "s1", **more: Any) -> dict[str, Any]:
    return {"result": {"session_id": name, **more}, "minutes": 10}


counts = st.one_of(st.integers(-2, 4), st.sampled_from(["2", "x", None, True, 0.5]))
scripted_results = st.one_of(
    st.none(),
    st.just("text"),
    st.builds(
        lambda name, spiral, failed, planned, carried, tokens: {
            "session_id": name,
            "agent_summary": {"spiral": spiral, "failed": failed},
            "effectiveness": {"planned_issues": planned, "carryover": carried},
            "usage": {"output_tokens": tokens},
        },
        st.one_of(st.text(max_size=3), st.none()),
        *[counts] * 5,
    ),
)
steps = st.one_of(
    st.builds(lambda r, m: {"result": r, "minutes": m}, scripted_results, st.integers(0, 300)),
    st.just({"throw": "dead", "minutes": 1}),
)
choices = st.one_of(
    st.builds(
        lambda mode, sure: {"mode": mode, "confidence": sure},
        st.sampled_from(["feature", "deep", "housekeeping", None]),
        st.floats(0, 1),
    ),
    st.just({"throw": "lost"}),
    st.none(),
)
plays = st.builds(
    lambda modes, sessions, verdicts, peers, abort, options: Play(
        modes=modes, sessions=sessions, verdicts=verdicts, peers=peers, abort=abort, options=options
    ),
    st.lists(choices, min_size=1, max_size=5),
    st.lists(steps, min_size=1, max_size=5),
    st.lists(st.sampled_from([{"verdict": "green"}, {"verdict": "critical"}, {"throw": "x"}]), min_size=1, max_size=4),
    st.lists(st.sampled_from([0, 6, 7, 50, {"throw": "x"}]), min_size=1, max_size=4),
    st.sampled_from([None, "before", {"duringSession": 1}, {"duringMode": 2}]),
    st.fixed_dictionaries({"maxSessions": st.integers(-1, 60), "maxTokens": st.integers(-1, 8)}),
)


@given(plays)
def test_every_loop_ends_with_one_record_that_tells_what_happened(play: Play) -> None:
    record = play.run().record

    assert play.written == [record]
    assert record.iterations_completed <= record.max_sessions
    assert record.iterations_completed + (record.kill_switch == "failed-wave") >= len(play.requests)
    assert len(record.sessions) <= record.iterations_completed
    assert (record.kill_switch is None) == record.fallback_to_manual


@given(plays)
def test_only_the_first_iteration_hands_over_and_then_nothing_has_run(play: Play) -> None:
    record = play.run().record

    if record.fallback_to_manual:
        assert (record.iterations_completed, record.sessions, play.requests) == (0, (), [])


@given(plays)
def test_no_session_runs_below_the_threshold(play: Play) -> None:
    play.run()
    assert play.modes is not None

    used = [play.modes[min(n, len(play.modes) - 1)] for n in range(len(play.requests))]
    assert all(choice["confidence"] >= 0.85 and choice["mode"] for choice in used)


@given(plays)
def test_the_open_record_never_runs_ahead_of_the_final_one(play: Play) -> None:
    record = play.run().record

    counts = [seen.iterations_completed for seen in play.opened]
    assert counts == sorted(counts)
    assert all(record.sessions[: len(seen.sessions)] == seen.sessions for seen in play.opened)


@given(plays)
def test_exit_zero_means_that_nothing_went_wrong(play: Play) -> None:
    end = play.run()

    if ending.exit_code(end) == 0:
        assert end.record.kill_switch == "max-sessions-reached"


@pytest.mark.parametrize(
    ("play", "code"),
    [
        pytest.param(Play(modes=[SURE], sessions=[result()], options={"maxSessions": 1}), 0, id="all sessions done"),
        pytest.param(Play(modes=[SURE], sessions=[result(exit_code=12)], options={"maxSessions": 1}), 12, id="gaps"),
        pytest.param(Play(modes=[SURE], sessions=[{"result": {}, "minutes": 300}]), 20, id="hours"),
        pytest.param(
            Play(modes=[SURE], sessions=[result(usage={"output_tokens": 9})], options={"maxTokens": 9}), 20, id="tokens"
        ),
        pytest.param(Play(modes=[SURE], sessions=[result(agent_summary={"spiral": 1})]), 21, id="spiral"),
        pytest.param(Play(modes=[SURE], sessions=[{"throw": "dead"}]), 21, id="a session that died"),
        pytest.param(
            Play(modes=[SURE], sessions=[result(effectiveness={"planned_issues": 1, "carryover": 1})]), 21, id="carryover"
        ),
        pytest.param(
            Play(modes=[SURE], sessions=[], verdicts=[{"verdict": "critical"}], peers=[7]), 21, id="overload"
        ),
        pytest.param(Play(modes=[SURE, {"mode": "deep", "confidence": 0.2}], sessions=[result()]), 21, id="unsure later"),
        pytest.param(Play(modes=[{"mode": "deep", "confidence": 0.2}]), 11, id="unsure at first"),
        pytest.param(Play(modes=[SURE], sessions=[result()], abort="before"), 130, id="abort"),
        pytest.param(Play(modes=[SURE], options={"dryRun": True}), 0, id="dry run"),
    ],
)  # fmt: skip
def test_exit_codes_tell_the_truth(play: Play, code: int) -> None:
    assert ending.exit_code(play.run()) == code


def test_a_loop_that_has_done_everything_ends_well() -> None:
    answers = iter([Recommendation(mode="feature", confidence=0.9), Recommendation(mode=None, exhausted=True)])
    ports = Ports(now=lambda: "2026-03-01T09:00:00.000Z", selector=lambda: next(answers), runner=lambda _: {})

    end = run_loop(LoopPlan(), ports)

    assert end.record.kill_switch == "low-confidence-fallback"
    assert ending.exit_code(end) == 0
    assert "nothing is left to do" in "\n".join(ending.summary(end))


def test_an_interrupted_session_ends_the_loop_with_its_record() -> None:
    def interrupted(_: object) -> None:
        raise Interrupted

    written: list[object] = []
    ports = Ports(
        now=lambda: "2026-03-01T09:00:00.000Z",
        selector=lambda: Recommendation(mode="feature", confidence=1.0),
        runner=interrupted,
        closed=written.append,
    )
    end = run_loop(LoopPlan(), ports)

    assert (end.record.kill_switch, end.record.iterations_completed) == ("user-abort", 0)
    assert (written, ending.exit_code(end)) == ([end.record], 130)


def test_the_cap_of_the_machine_reaches_the_session() -> None:
    from autopilot.sessions.machine.resources import Snapshot, read

    play = Play(modes=[SURE], sessions=[result()], options={"maxSessions": 1})
    ports = play.ports()
    asked = Ports(
        now=ports.now,
        selector=ports.selector,
        runner=ports.runner,
        evaluator=lambda: read(Snapshot(ram_free_gb=3)).assessment,
    )
    run_loop(LoopPlan(), asked)

    assert play.requests[0].cap == 2


def ages(*seconds: float) -> Pulse:
    pulse = Pulse()
    for age in seconds:
        pulse = felt(pulse, sample(age * 1000))
    return pulse


@pytest.mark.parametrize(
    ("seen", "stalls"),
    [
        pytest.param((600,), 0, id="one strike is none"),
        pytest.param((600, 630), 1, id="two in a row"),
        pytest.param((600, 5, 600), 0, id="progress between"),
        pytest.param((600, 630, 660, 690), 1, id="one long silence is one stall"),
        pytest.param((600, 630, 1, 600, 630), 2, id="two silences"),
        pytest.param((599, 599), 0, id="just in time"),
    ],
)
def test_two_strikes_in_a_row_make_a_stall(seen: tuple[float, ...], stalls: int) -> None:
    assert ages(*seen).stalls == stalls


def test_a_stalled_session_stops_the_loop_at_its_end() -> None:
    watch = Watch(lambda: 700_000.0, every_s=0.01)
    play = Play(modes=[SURE], sessions=[result(agent_summary={"spiral": 1})])
    ports = play.ports()

    def slow(request: Any) -> Any:
        while watch.pulse.stalls == 0:
            pass
        assert ports.runner is not None
        return ports.runner(request)

    end = run_loop(LoopPlan(), Ports(now=ports.now, selector=ports.selector, runner=slow, watch=watch))

    assert (end.record.kill_switch, end.record.stall_recovery_count) == ("stall-timeout", 1)
    assert end.record.iterations_completed == 1


@pytest.mark.parametrize("switch", ending.EXITS)
def test_every_switch_comes_with_a_hint(switch: Any) -> None:
    end = Play(modes=[SURE], sessions=[result()], options={"maxSessions": 1}).run()
    from msgspec.structs import replace

    killed = LoopEnd(record=replace(end.record, kill_switch=switch, kill_switch_detail="why"))
    text = "\n".join(ending.summary(killed))

    assert f"stopped by {switch}: why" in text
    assert HINTS[switch] in text
