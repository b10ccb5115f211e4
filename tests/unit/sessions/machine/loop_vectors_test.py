"""The loop against worked cases; where ours is deliberately different, `docs/session-loop.md` has the reason."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from autopilot.sessions import flags
from autopilot.sessions import kill_switches as switches
from autopilot.sessions.files.loop_record import default_run_id
from autopilot.sessions.kill_switches import Boundary
from autopilot.sessions.machine.stall import MARKER, Pulse, Stalled, felt, sample
from support.loops import Play
from support.vectors import cases

NAMES = {"--max-sessions": "maxSessions", "--max-hours": "maxHours", "--confidence-threshold": "confidenceThreshold"}
DEFAULTS = {"maxSessions": 5, "maxHours": 4, "confidenceThreshold": 0.85}
NEWER = {"schema_version": 2}
STALE_FILE = "priorRecordAgeMinutes"


@pytest.mark.parametrize("case", cases("flags", "autopilot") + cases("flags", "autopilot_odd_inputs"))
def test_flags_are_read_as_in_the_worked_cases_and_an_empty_value_is_the_default(case: dict[str, Any]) -> None:
    words = [word for word in case["argv"] or () if isinstance(word, str) and isinstance(case["argv"], list)]
    said = dict(word.split("=", 1) for word in words if "=" in word)
    empty = {NAMES[flag] for flag, value in said.items() if flag in NAMES and not value.strip()}
    expected = {name: DEFAULTS[name] if name in empty else value for name, value in case["expected"].items()}

    read = flags.parse(case["argv"])

    assert expected == {
        "maxSessions": read.max_sessions,
        "maxHours": read.max_hours,
        "confidenceThreshold": read.confidence_threshold,
        "dryRun": read.dry_run,
    }


@pytest.mark.parametrize("case", cases("killswitch", "pre"))
def test_switches_before_a_session_are_tried_in_order(case: dict[str, Any]) -> None:
    args = case["args"]
    seen = Boundary(
        iterations=args["iterationsCompleted"],
        max_sessions=args["maxSessions"],
        elapsed_ms=args["elapsedMs"],
        max_hours_ms=args["maxHoursMs"],
        tokens=args["cumulativeTokensUsed"],
        max_tokens=args["maxTokens"],
        verdict=args["resourceVerdict"],
        peers=args["peerCount"],
        peer_abort=args["peerAbortThreshold"],
        aborted=args["aborted"],
    )

    killed = switches.before(seen)
    assert case["expected"] == (None if killed is None else {"kill": killed.switch, "detail": killed.detail})


def stalled(age_ms: float | None, timeout_s: float) -> Stalled | None:
    """What two looks at a heartbeat of this age make of it."""
    pulse = Pulse(timeout_s=timeout_s)
    for _ in range(2):
        pulse = felt(pulse, sample(age_ms))
    return pulse.stalled


@pytest.mark.parametrize("case", cases("killswitch", "post"))
def test_switches_after_a_session_are_tried_in_order(case: dict[str, Any]) -> None:
    options = case["opts"]
    pulse = stalled(options["progressFileAgeMs"], options["stallTimeoutSeconds"])
    expected = case["expected"] and {k: v.replace("autopilot.jsonl:mtime", MARKER) for k, v in case["expected"].items()}

    killed = switches.after(case["result"], pulse, options["carryoverThreshold"])
    assert expected == (None if killed is None else {"kill": killed.switch, "detail": killed.detail})


@pytest.mark.parametrize("case", cases("killswitch", "stall"))
def test_a_look_at_the_heartbeat_is_read_as_in_the_worked_cases(case: dict[str, Any]) -> None:
    seen, expected = sample(case["ageMs"]), case["expected"]

    assert seen.progressed == expected["progressed"]
    assert (seen.stall_seconds, seen.has_marker) == (expected["stallSeconds"], expected["hasMarker"])


@pytest.mark.parametrize("case", [c for c in cases("loop", "cases") if STALE_FILE not in (c.values[0] or {})])
def test_whole_loops_leave_the_record_of_the_worked_cases(case: dict[str, Any]) -> None:
    expected = case["expected"]
    play = played(case)

    end = play.run()

    assert msgspec.json.decode(msgspec.json.encode(end.record)) == {**expected["record"], **NEWER}
    assert play.calls == {name: count for name, count in expected["calls"].items() if name != "sessionArgs"}
    assert [{"mode": r.mode, "autopilotRunId": r.run_id} for r in play.requests] == expected["calls"]["sessionArgs"]
    assert play.written == [end.record]


def played(case: dict[str, Any]) -> Play:
    return Play(
        modes=case["modes"],
        sessions=case["sessions"],
        verdicts=case.get("verdicts"),
        peers=case.get("peers"),
        abort=case.get("abort"),
        options=case["opts"],
    )


@pytest.mark.parametrize("case", [c for c in cases("loop", "cases") if STALE_FILE in (c.values[0] or {STALE_FILE: 0})])
def test_the_record_of_an_earlier_loop_never_makes_a_session_stall(case: dict[str, Any]) -> None:
    record = played(case).run().record

    assert record.kill_switch == case["expected_seed_era_c1b"]["kill_switch"]
    assert record.iterations_completed == case["expected_seed_era_c1b"]["iterations_completed"]


@pytest.mark.parametrize("case", cases("loop", "default_run_id"))
def test_a_loop_is_named_for_branch_and_minute(case: dict[str, Any]) -> None:
    started = datetime.fromtimestamp(case["nowMs"] / 1000, UTC)

    assert default_run_id(case["branch"], started) == case["expected"]
