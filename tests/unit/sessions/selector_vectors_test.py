"""The choice of a mode against worked cases; with the completion rate read where sessions write it."""

import copy
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from autopilot.sessions import learnings, signals
from autopilot.sessions.files import next_session as state_fields
from autopilot.sessions.learnings import Learning
from autopilot.sessions.pressure import pressure_of
from autopilot.sessions.selector import Signals, delta, score, select
from autopilot.sessions.signals import Sources
from support.vectors import cases

NESTED = {"signals": {"recentSessions": [{"session_type": "deep", "effectiveness": {"completion_rate": 1}}] * 3}}
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def signals_of(said: Mapping[str, Any] | None) -> Signals | None:
    if said is None:
        return None
    lock, priorities = said.get("bootstrapLock"), said.get("topPriorities")
    return Signals(
        recommended_mode=said.get("recommendedMode"),
        priorities=None if priorities is None else tuple(priorities),
        carryover_ratio=said.get("carryoverRatio"),
        completion_rate=said.get("completionRate"),
        sessions=tuple(said.get("recentSessions") or ()),
        learnings=tuple(said.get("learnings") or ()),
        locked=isinstance(lock, dict),
        tier=(lock or {}).get("tier"),
        text=said.get("taskDescriptionText"),
    )


def nested(said: Mapping[str, Any] | None) -> bool:
    """Whether a trend rests on a rate that only stands where the writer puts it."""
    last = ((said or {}).get("recentSessions") or [])[-3:]
    whole = [s for s in last if isinstance(s, dict) and "completion_rate" in s.get("effectiveness", {})]
    return len(whole) == 3 and len({s["session_type"] for s in whole}) == 1


def on_top(said: Mapping[str, Any]) -> dict[str, Any]:
    """The same signals with the rate on top, where the worked cases' selector looks for it."""
    moved = copy.deepcopy(dict(said))
    for session in moved["recentSessions"]:
        session["completion_rate"] = session["effectiveness"]["completion_rate"]
    return moved


def plain(value: msgspec.Struct) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    del found["exhausted"], found["advice"]
    return found


@pytest.mark.parametrize(
    "case", [c for c in cases("modeselect", "cases") if not nested((c.values[0] or {}).get("signals"))]
)
def test_modes_are_chosen_as_in_the_worked_cases(case: dict[str, Any]) -> None:
    assert plain(select(signals_of(case["signals"]))) == case["expected"]


@pytest.mark.parametrize(
    "case", [c for c in cases("modeselect", "cases") if nested((c.values[0] or NESTED)["signals"])]
)
def test_a_rate_counts_where_sessions_write_it_as_much_as_on_top(case: dict[str, Any]) -> None:
    found = select(signals_of(case["signals"]))

    assert found == select(signals_of(on_top(case["signals"])))
    assert found.confidence > case["expected"]["confidence"]


@pytest.mark.parametrize("case", cases("modeselect", "deltas"))
def test_what_speaks_for_a_mode_adds_up_as_in_the_worked_cases(case: dict[str, Any]) -> None:
    said = signals_of(case["signals"])
    assert said is not None
    pressure = pressure_of(said.priorities, said.text, said.sessions)

    assert delta(case["mode"], said, pressure) == pytest.approx(case["delta"])
    assert score(case["mode"], said, pressure) == case["score"]


@pytest.mark.parametrize("case", cases("modeselect", "v0_recommendation"))
def test_a_session_leaves_word_for_the_next_as_in_the_worked_cases(case: dict[str, Any]) -> None:
    up = state_fields.next_up(case["completionRate"], case["carryoverRatio"], case["carryoverIssues"])

    assert msgspec.json.decode(msgspec.json.encode(up)) == case["expected"]


@pytest.mark.parametrize("case", cases("modeselect", "v0_errors"))
def test_rates_that_are_no_numbers_are_refused(case: dict[str, Any]) -> None:
    with pytest.raises(TypeError) as error:
        state_fields.next_up(case["input"]["completionRate"], case["input"]["carryoverRatio"], [])

    assert f"TypeError: {error.value}" == case["error"]


@pytest.mark.parametrize("case", cases("modeselect", "parse_recommendations"))
def test_the_fields_of_state_md_are_read_as_in_the_worked_cases(case: dict[str, Any]) -> None:
    fields = state_fields.fields_of(case["frontmatter"])

    assert case["expected"] == (
        None
        if fields is None
        else {
            "mode": fields.mode,
            "priorities": None if fields.priorities is None else list(fields.priorities),
            "carryoverRatio": fields.carryover_ratio,
            "completionRate": fields.completion_rate,
            "rationale": fields.rationale,
        }
    )


@pytest.mark.parametrize("case", cases("modeselect", "accuracy"))
def test_the_accuracy_of_a_choice_is_noted_as_in_the_worked_cases(case: dict[str, Any]) -> None:
    said = case["input"]
    now = datetime.fromtimestamp(said["nowMs"] / 1000, UTC)

    found = learnings.accuracy(said["recommended"], said["chosen"], said["sessionId"], now)

    plain_found = msgspec.json.decode(msgspec.json.encode(found))
    ok = isinstance(found, Learning)
    assert {"ok": ok, **({"entry": plain_found} if ok else plain_found)} == case["expected"]


@pytest.mark.parametrize("case", cases("modeselect", "live_signals"))
def test_signals_are_gathered_from_files_as_in_the_worked_cases(case: dict[str, Any]) -> None:
    files, expected = case["files"], case["signals"]
    sources = Sources(
        state=files["state"], sessions=files["sessions"], lock=files["lock"], learnings=tuple(files["learnings"] or ())
    )

    found = signals.gathered(sources, NOW)

    assert found.rationale == expected["previousRationale"]
    assert msgspec.structs.replace(found, rationale=None) == signals_of(expected)
    if not nested(expected):
        assert plain(select(found)) == case["recommendation"]
