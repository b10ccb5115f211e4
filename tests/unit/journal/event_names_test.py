"""The names of events in the log are fixed; each of them is written by something."""

import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[3] / "src" / "autopilot"
RUN = [
    "run_started",
    "run_completed",
    "run_halted",
    "run_resumed",
    "phase_started",
    "phase_completed",
    "phase_failed",
    "step_started",
    "step_completed",
    "step_failed",
    "task_completed",
    "task_failed",
    "task_retried",
    "circuit_breaker_opened",
    "circuit_breaker_closed",
    "checkpoint_written",
    "debug_attempt",
    "replan_attempt",
    "rollback_initiated",
    "rollback_completed",
    "human_verdict_recorded",
    "unnecessary_deferral_warning",
    "high_defer_rate_warning",
    "self_audit_started",
    "self_audit_completed",
    "self_audit_gap_found",
    "self_audit_gap_fixed",
    "phase_skipped",
    "batch_completion_report",
    "context_mapping_started",
    "context_mapping_completed",
    "remediation_started",
    "remediation_completed",
    "confidence_diagnostic_written",
    "force_incomplete_marked",
]
SCORES = [
    "rubber_stamp_warning",
    "rubber_stamp_enhanced",
    "rubber_stamp_critical",
    "autonomous_resolution_success",
    "deferral_threshold_adjusted",
]
FLAGS = [
    "force_reexecution_started",
    "quality_remediation_started",
    "quality_remediation_completed",
    "quality_exhausted",
    "gaps_iteration_started",
    "gaps_iteration_completed",
    "gaps_exhausted",
    "discuss_session_started",
    "discuss_answers_recorded",
    "cross_contamination_warning",
    "spec_relocked",
]
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py"))


@pytest.mark.parametrize("name", [*RUN, *SCORES, *FLAGS])
def test_evt_01_and_evt_02_every_name_of_the_lists_is_written_by_something(name: str) -> None:
    """EVT-01, EVT-02."""
    assert re.search(rf'["\']{name}["\']', TEXT) or _is_put_together(name)


def _is_put_together(name: str) -> bool:
    """Names of loops are made of the loop and what became of it."""
    loop, _, end = name.rpartition("_")
    return loop in {"quality_remediation", "gaps_iteration"} and f'_{end}"' in TEXT and loop in TEXT
