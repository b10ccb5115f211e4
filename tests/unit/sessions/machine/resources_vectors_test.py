"""Resources, the registry, records and the wave gate against worked cases."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.sessions import selector as session_modes
from autopilot.sessions.files import session_record
from autopilot.sessions.machine import measure as probes
from autopilot.sessions.machine import resources
from autopilot.sessions.machine import resources as wave_gate
from autopilot.sessions.machine.registry import Entry, Registry, bad_id
from autopilot.sessions.machine.resources import Reading, Snapshot
from support.vectors import ABSENT, cases, section

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def rows(file: str, name: str, *keys: str) -> list[Any]:
    """Rows that are lists rather than named cases."""
    found = section(file, name)
    for key in keys:
        found = found[key] if found else []
    return found or [pytest.param(None, marks=pytest.mark.skip(reason=ABSENT))]


@pytest.mark.parametrize("case", cases("resources_seed_table", "cases"))
def test_the_most_restrictive_signal_decides(case: dict[str, Any]) -> None:
    found, expected = resources.read(msgspec.convert(case["signals"], Snapshot)), case["expected"]

    assert (found.tiers, found.tier, found.cap) == (expected["per_signal"], expected["tier"], expected["cap"])


@pytest.mark.parametrize("row", rows("resources", "bump_verdict"))
def test_the_worse_of_two_verdicts_stands(row: list[str]) -> None:
    assert resources.worse(row[0], row[1]) == row[2]


@pytest.mark.parametrize("row", rows("resources", "parsers", "swapusage_mb"))
def test_the_swap_of_a_mac_is_read(row: list[Any]) -> None:
    assert probes.swap_used_mb(row[0]) == row[1]


@pytest.mark.parametrize("row", rows("resources", "parsers", "memory_pressure_pct"))
def test_the_memory_pressure_of_a_mac_is_read(row: list[Any]) -> None:
    assert probes.pressure_pct_free(row[0]) == row[1]


@pytest.mark.parametrize("row", rows("resources", "parsers", "vm_stat_gb"))
def test_what_a_mac_can_hand_out_is_read(row: list[Any]) -> None:
    assert probes.reclaimable_gb(row[0]) == row[1]


def reading(case: dict[str, Any]) -> Reading | None:
    """By the table of tiers, and only where thresholds are configured at all."""
    if "resource-thresholds" not in case["config"]:
        return None
    seen = case["probe"]
    return resources.read(Snapshot(ram_free_gb=seen["ramFreeGb"], peers=seen["peerSessions"]))


def ceiling(config: dict[str, Any]) -> int | None:
    said = config.get("agents-per-wave") if config.get("heavy-repo") else None
    return said["default"] if isinstance(said, dict) else said


def by_the_table(case: dict[str, Any] | None) -> bool:
    """Cases whose verdict rests on RAM alone and is the table's too; others rest on processor load or two signals."""
    return case is None or (not 2 <= case["probe"]["ramFreeGb"] < 6 and case["probe"]["cpuLoadPct"] <= 90)


@pytest.mark.parametrize("case", [c for c in cases("resources", "wave_gate") if by_the_table(c.values[0])])
def test_a_wave_gets_the_agents_the_machine_allows(case: dict[str, Any]) -> None:
    gated = wave_gate.gate(case["plannedAgents"], reading(case), ceiling(case["config"]))

    assert (gated.decision, gated.agents) == (case["expected"]["decision"], case["expected"]["agents"])


@pytest.mark.parametrize("case", cases("extra", "session_schema"))
def test_a_session_is_checked_before_it_is_written(case: dict[str, Any]) -> None:
    assert session_record.problem_in(case["input"]) == case.get("error")
    if case["ok"]:
        assert session_record.stamped(case["input"])["schema_version"] == case["schema_version"]


@pytest.mark.parametrize("case", cases("extra", "session_normalize"))
def test_older_names_are_understood(case: dict[str, Any]) -> None:
    assert session_record.normalised(case["input"]) == case["expected"]


@pytest.mark.parametrize("case", cases("extra", "session_tail"))
def test_abandoned_sessions_do_not_count_as_recent(case: dict[str, Any]) -> None:
    assert list(session_record.recent(case["records"], case["n"])) == case["expected"]


@pytest.mark.parametrize("case", cases("extra", "session_clamp"))
def test_a_session_never_ends_before_it_began(case: dict[str, Any]) -> None:
    record = session_record.clamped({"started_at": "2026-03-01T09:00:00.000Z", "completed_at": case["completed_at_in"]})

    assert {name: record.get(name) for name in case["out"]} == case["out"]


@pytest.mark.parametrize("row", rows("extra", "exclusivity", "classify"))
def test_which_sessions_may_run_beside_others(row: list[str]) -> None:
    assert session_modes.exclusivity(row[0]) == row[1]


@pytest.mark.parametrize("row", rows("extra", "registry", "bad_ids"))
def test_a_session_cannot_be_named_like_a_path(row: list[str]) -> None:
    assert (bad_id(row[0]) or "ok") == row[1]


def stocked(folder: Path, ages: dict[str, float]) -> Registry:
    """The sessions of the worked case, one with each oddity."""
    now = NOW

    def entry(name: str, minutes: float, **more: Any) -> None:
        beat = (now - timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")
        body = {"session_id": name, "pid": 1, "last_heartbeat": beat, "mode": "deep"} | more
        (folder / f"{name}.json").write_text(json.dumps({k: v for k, v in body.items() if v is not None}))

    for name, minutes in ages.items():
        entry(name, minutes)
    entry("nomode", 2, mode=None)
    entry("badmode", 2, mode=5)
    entry("badtime", 0, last_heartbeat="soon")
    for name, minutes in (("claim", 1), ("oldclaim", 61)):
        (folder / f"{name}.json").write_text("")
        then = (now - timedelta(minutes=minutes)).timestamp()
        os.utime(folder / f"{name}.json", (then, then))
    (folder / "notjson.txt").write_text("x")
    return Registry(folder, lambda: now)


@pytest.mark.skipif(not section("extra", "registry"), reason=ABSENT)
def test_peers_and_sweeping_are_as_in_the_worked_case(tmp_path: Path) -> None:
    case = section("extra", "registry")
    registry = stocked(tmp_path, case["ages_minutes"])

    assert [peer.session_id for peer in registry.peers("self")] == case["peers_excluding_self"]
    assert [peer.session_id for peer in registry.peers()] == case["peers_all"]
    assert [p.session_id for p in registry.peers("self", fresh_minutes=60)] == case["peers_freshness_60"]
    swept = registry.sweep()
    assert [msgspec.to_builtins(line) for line in swept] == case["sweep_log"]
    assert sorted(path.name for path in tmp_path.iterdir()) == case["left_after_sweep"]


@pytest.mark.skipif(not section("extra", "registry"), reason=ABSENT)
def test_an_entry_has_the_fields_of_the_worked_case() -> None:
    assert list(Entry.__struct_fields__) == section("extra", "registry")["registered_entry_keys"]
