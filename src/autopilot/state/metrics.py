"""Computes what a run amounts to in numbers (MTRC-01)."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from autopilot.policy.score_caps import mean_score


def metrics_of(state: Mapping[str, Any]) -> dict[str, Any]:
    """From a whole state.json, as the archive has it. The time is that of the run's last entry."""
    phases = dict(state["phases"])
    started = {name: phase for name, phase in phases.items() if phase["started_at"]}
    good = sum(_passed(phase) for phase in phases.values())
    scores = [phase["alignment_score"] for phase in phases.values() if phase["alignment_score"] is not None]
    return {
        "run_id": state["_meta"]["run_id"],
        "timestamp": state["_meta"]["last_checkpoint"],
        "phases_attempted": len(started),
        "phases_succeeded": good,
        "phases_failed": _count(phases, "failed"),
        "phases_human_deferred": _count(phases, "needs_human_verification"),
        "failure_taxonomy_histogram": histogram(state["event_log"]),
        "avg_alignment_score": mean_score(scores),
        "total_duration_minutes": state["metrics"]["total_duration_minutes"],
        "total_estimated_tokens": sum(phase["estimated_tokens"] or 0 for phase in phases.values()),
        "total_tokens_used": state["metrics"]["total_tokens_used"],
        "total_debug_loops": sum(phase["debug_attempts"] for phase in phases.values()),
        "total_replan_attempts": sum(phase["replan_attempts"] for phase in phases.values()),
        "success_rate": _rounded(good / len(started), 3) if started else 0.0,
        "per_phase_summary": [_summary(name, phase) for name, phase in phases.items()],
    }


def _passed(phase: Mapping[str, Any]) -> bool:
    """At its bar; work of which nothing was built, or which is below the bar, has an outcome of its own."""
    return phase["status"] == "completed" and not phase.get("outcome")


def _count(phases: Mapping[str, Any], status: str) -> int:
    return sum(phase["status"] == status for phase in phases.values())


def histogram(log: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How often each category of failure stands in the log, the most frequent first."""
    found = (c["category"] for line in log for c in line["details"].get("failure_categories", ()) if c["category"])
    return dict(sorted(Counter(found).items(), key=lambda item: (-item[1], item[0])))


def _summary(name: str, phase: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "phase_id": name,
        "status": phase["status"],
        "outcome": phase.get("outcome"),
        "alignment_score": phase["alignment_score"],
        "estimated_tokens": phase["estimated_tokens"],
        "tokens_used": phase["tokens_used"],
        "duration_minutes": _minutes(phase["started_at"], phase["completed_at"]),
    }


def _minutes(first: str | None, last: str | None) -> float | None:
    if not first or not last:
        return None
    seconds = (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
    return _rounded(max(0.0, seconds) / 60, 2)


def _rounded(number: float, places: int) -> float:
    """Half up, as people round: 0.25 to one place is 0.3."""
    scale: int = 10**places
    return math.floor(number * scale + 0.5) / scale
