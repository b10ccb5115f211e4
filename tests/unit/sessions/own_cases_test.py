"""Cases of our own for what decides: they hold on any machine, with or without the worked ones beside the project."""

from typing import Any

import pytest

from autopilot.sessions import kill_switches as switches
from autopilot.sessions.files.session_record import problem_in
from autopilot.sessions.kill_switches import HOUR_MS, Boundary
from autopilot.sessions.machine import resources
from autopilot.sessions.machine import resources as wave_gate
from autopilot.sessions.machine.resources import Snapshot
from autopilot.sessions.machine.stall import Stalled
from autopilot.sessions.selector import Signals, select
from support.history import past_session

ALL = Boundary(
    iterations=2,
    max_sessions=2,
    elapsed_ms=HOUR_MS,
    max_hours_ms=HOUR_MS,
    tokens=9,
    max_tokens=9,
    verdict="critical",
    peers=7,
    aborted=True,
)


@pytest.mark.parametrize(
    ("lifted", "expected"),
    [
        ({}, "user-abort"),
        ({"aborted": False}, "max-sessions-reached"),
        ({"aborted": False, "iterations": 1}, "max-hours-exceeded"),
        ({"aborted": False, "iterations": 1, "elapsed_ms": HOUR_MS - 1}, "token-budget-exceeded"),
        ({"aborted": False, "iterations": 1, "elapsed_ms": 0, "max_tokens": 0}, "resource-overload"),
        ({"aborted": False, "iterations": 1, "elapsed_ms": 0, "max_tokens": 0, "peers": 6}, None),
    ],
    ids=["abort first", "then sessions", "then hours", "then tokens", "then resources", "then nothing"],
)
def test_brakes_before_a_session_have_an_order(lifted: dict[str, Any], expected: str | None) -> None:
    from msgspec.structs import replace

    killed = switches.before(replace(ALL, **lifted))

    assert (killed.switch if killed else None) == expected


def outcome(spiral: Any = 0, failed: Any = 0, carried: Any = 0, planned: Any = 4) -> dict[str, Any]:
    counts = {"planned_issues": planned, "carryover": carried}
    return {"agent_summary": {"spiral": spiral, "failed": failed}, "effectiveness": counts}


@pytest.mark.parametrize(
    ("result", "stalled", "expected"),
    [
        pytest.param(outcome(1, 1, 4), Stalled(seconds=630), "stall-timeout", id="stall first"),
        pytest.param(outcome(1, 1, 4), None, "spiral", id="then spiral"),
        pytest.param(outcome(0, 1, 4), None, "failed-wave", id="then failed"),
        pytest.param(outcome(0, 0, 3), None, "carryover-too-high", id="then carryover"),
        pytest.param(outcome(0, 0, 2), None, None, id="half is not too much"),
        pytest.param(outcome(True), None, "spiral", id="a yes is one"),
        pytest.param(outcome("some"), None, None, id="words are no signal"),
        pytest.param(outcome(carried=3, planned=0), None, None, id="nothing planned, nothing left over"),
        pytest.param("done", Stalled(seconds=630), None, id="no object, no switch"),
    ],
)
def test_brakes_behind_a_session_have_an_order(result: Any, stalled: Stalled | None, expected: str | None) -> None:
    killed = switches.after(result, stalled)

    assert (killed.switch if killed else None) == expected


def history(mode: str, rate: float) -> tuple[dict[str, Any], ...]:
    return tuple(past_session(f"s{n}", mode, effectiveness={"completion_rate": rate}) for n in range(3))


HINT = {"type": "scope-guidance", "subject": "Feature work in small steps"}


@pytest.mark.parametrize(
    ("signals", "mode", "confidence"),
    [
        pytest.param(Signals(recommended_mode="feature"), "feature", 0.5, id="a bare word"),
        pytest.param(
            Signals(recommended_mode="feature", sessions=history("feature", 1)), "feature", 0.7, id="good trend"
        ),
        pytest.param(Signals(recommended_mode="deep", sessions=history("deep", 0.6)), "deep", 0.57, id="weak trend"),
        pytest.param(Signals(recommended_mode="feature", learnings=(HINT, HINT, HINT)), "feature", 0.6, id="hints cap"),
        pytest.param(Signals(recommended_mode="feature", locked=True, tier="deep"), "deep", 0.6, id="swapped by tier"),
        pytest.param(Signals(recommended_mode="feature", carryover_ratio=0.2), "feature", 0.4, id="some left over"),
        pytest.param(Signals(completion_rate=0.49, carryover_ratio=0.9), "plan-retro", 0.8, id="poor completion"),
        pytest.param(Signals(carryover_ratio=0.3), "deep", 0.75, id="much left over"),
        pytest.param(Signals(completion_rate="x", carryover_ratio=[]), "feature", 0.0, id="nothing usable"),  # type: ignore[arg-type]  # a file may hold anything
    ],
)
def test_modes_and_confidence(signals: Signals, mode: str, confidence: float) -> None:
    found = select(signals)

    assert (found.mode, found.confidence) == (mode, confidence)


@pytest.mark.parametrize(
    ("seen", "tier", "cap"),
    [
        (Snapshot(), "green", None),
        (Snapshot(ram_free_gb=6, swap_gb=0.9, peers=2, memory_pressure_pct_free=30), "green", None),
        (Snapshot(ram_free_gb=4, swap_gb=1), "warn", 4),
        (Snapshot(swap_gb=3), "degraded", 2),
        (Snapshot(ram_free_gb=8, peers=7), "critical", 0),
        (Snapshot(ram_free_gb=64, memory_pressure_pct_free=4.9), "critical", 0),
    ],
    ids=["nothing known", "all well", "lower ends belong to warn", "three of swap", "a crowd", "thrashing"],
)
def test_tiers_and_caps(seen: Snapshot, tier: str, cap: int | None) -> None:
    found = resources.read(seen)

    assert (found.tier, found.cap) == (tier, cap)


@pytest.mark.parametrize(
    ("planned", "seen", "ceiling", "expected"),
    [
        (6, Snapshot(ram_free_gb=8), None, ("proceed", 6)),
        (18, Snapshot(ram_free_gb=5), None, ("reduce", 4)),
        (6, Snapshot(ram_free_gb=5), None, ("reduce", 3)),
        (1, Snapshot(ram_free_gb=3), None, ("proceed", 1)),
        (6, Snapshot(ram_free_gb=8), 3, ("reduce", 3)),
        (6, Snapshot(ram_free_gb=1), 3, ("coordinator-direct", 0)),
        (6, None, None, ("proceed", 6)),
    ],
    ids=["green", "warn, capped", "warn, halved", "one is the least", "heavy repository", "critical", "unknown"],
)
def test_agents_of_a_wave(planned: int, seen: Snapshot | None, ceiling: int | None, expected: tuple[str, int]) -> None:
    gated = wave_gate.gate(planned, None if seen is None else resources.read(seen), ceiling)

    assert (gated.decision, gated.agents) == expected


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, None),
        ({"from_the_future": 1}, None),
        ({"session_type": "evolve"}, "session_type must be one of"),
        ({"completed_at": "2026-03-01T07:00:00Z"}, "must be >="),
        ({"completed_at": "2026-13-01T07:00:00Z"}, "real times"),
        ({"waves": [{"wave": 1, "role": ""}]}, "waves[0].role"),
        ({"waves": ["one"]}, "waves[0] must be an object"),
        ({"agent_summary": {"complete": -1}}, "agent_summary.complete"),
        ({"total_files_changed": True}, "total_files_changed"),
        ({"status": "lost"}, "status must be one of completed|abandoned"),
        ({"autopilot_run_id": 7}, "autopilot_run_id"),
        ({"schema_version": "2"}, "schema_version must be a non-negative integer, got: '2'"),
        ({"schema_version": True}, "schema_version must be"),
        ({"issues_closed": "12"}, "issues_closed must be an array or null, got: '12'"),
        ({"issues_created": {"a": 1}}, "issues_created must be an array"),
        ({"issues_closed": [12], "issues_created": None}, None),
        ({"total_tokens": -1}, "total_tokens must be a non-negative number or null, got: -1"),
        ({"total_token_output": "7"}, "total_token_output must be"),
        ({"usage": {"output_tokens": -5}}, "usage.output_tokens must be a non-negative number or null, got: -5"),
        ({"usage": [5]}, "usage must be an object or null"),
        ({"effectiveness": {"carryover": -1}}, "effectiveness.carryover must be"),
        ({"total_tokens": None, "usage": None, "effectiveness": None}, None),
    ],
)
def test_only_sound_sessions_are_written(change: dict[str, Any], told: str | None) -> None:
    problem = problem_in(past_session("a", **change))

    assert problem is None if told is None else told in (problem or "")
