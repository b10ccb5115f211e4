"""A run in numbers, and the file that keeps them."""

import json
from pathlib import Path
from typing import Any

import pytest

from autopilot.journal.metrics_file import MetricsFile
from autopilot.state.metrics import metrics_of


def phase(status: str, score: float | None = None, **more: Any) -> dict[str, Any]:
    return {
        "status": status, "outcome": None, "alignment_score": score, "started_at": "2026-01-01T12:00:00.000Z",
        "completed_at": "2026-01-01T12:01:30.000Z", "estimated_tokens": 1000, "tokens_used": 10, "debug_attempts": 1,
        "replan_attempts": 0, **more,
    }  # fmt: skip


NEVER = phase("not_started", started_at=None, completed_at=None, estimated_tokens=None, tokens_used=0, debug_attempts=0)
STATE: dict[str, Any] = {
    "_meta": {"run_id": "run-2026-01-01-120000", "last_checkpoint": "2026-01-01T12:05:00.000Z"},
    "metrics": {"total_duration_minutes": 5.0, "total_tokens_used": 40},
    "event_log": [
        {"details": {"failure_categories": [{"failure": "a", "category": "lint_failure"}]}},
        {"details": {"failure_categories": [{"failure": "b", "category": "scope_creep"}, {"failure": "c", "category": "lint_failure"}]}},
        {"details": {}},
    ],
    "phases": {
        "1": phase("completed", 9.4), "2": phase("completed", 6.9, outcome="below_bar"), "3": phase("failed"),
        "4": phase("needs_human_verification", 8.0), "5": NEVER,
    },
}  # fmt: skip
OWN = {"run_id": "run-b", "success_rate": 1.0, "total_estimated_tokens": 5}


def test_mtrc_01a_a_run_is_counted_from_its_state() -> None:
    found = metrics_of(STATE)
    rows = found.pop("per_phase_summary")

    assert found == {
        "run_id": "run-2026-01-01-120000", "timestamp": "2026-01-01T12:05:00.000Z", "phases_attempted": 4,
        "phases_succeeded": 1, "phases_failed": 1, "phases_human_deferred": 1,
        "failure_taxonomy_histogram": {"lint_failure": 2, "scope_creep": 1}, "avg_alignment_score": 8.1,
        "total_duration_minutes": 5.0, "total_estimated_tokens": 4000, "total_tokens_used": 40, "total_debug_loops": 4,
        "total_replan_attempts": 0, "success_rate": 0.25,
    }  # fmt: skip
    assert rows[0] == {
        "phase_id": "1", "status": "completed", "outcome": None, "alignment_score": 9.4, "estimated_tokens": 1000,
        "tokens_used": 10, "duration_minutes": 1.5,
    }  # fmt: skip
    assert rows[-1]["duration_minutes"] is None


def test_a_run_that_began_nothing_has_no_rate_to_divide() -> None:
    found = metrics_of({**STATE, "phases": {"1": NEVER}})

    assert (found["success_rate"], found["avg_alignment_score"]) == (0.0, None)


def test_mtrc_01b_each_run_is_added_once_however_often_it_ends(tmp_path: Path) -> None:
    file = MetricsFile(tmp_path)
    file.record({**OWN, "run_id": "run-a"})
    file.record({**OWN, "success_rate": 0.0})

    assert [run["run_id"] for run in file.record(OWN)] == ["run-a", "run-b"]
    kept = json.loads((tmp_path / "archive" / "metrics.json").read_text(encoding="utf-8"))
    assert kept == [{**OWN, "run_id": "run-a"}, OWN]


@pytest.mark.parametrize("content", [b"[{", b'{"a": 1}', b'[{"run_id": 3}]', b"\xff"])
def test_what_cannot_be_understood_is_kept_and_started_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "archive" / "metrics.json"
    path.parent.mkdir()
    path.write_bytes(content)

    assert MetricsFile(tmp_path).record(OWN) == (OWN,)
    assert path.with_name("metrics.json.damaged").read_bytes() == content
