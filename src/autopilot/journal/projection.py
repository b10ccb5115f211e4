"""The state.json object, computed from the records alone: STATE-01 to STATE-08."""

from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any

import msgspec

from autopilot.domain.events import (
    Entry,
    Noted,
    PhaseFinished,
    PhaseStarted,
    RunFinished,
    RunResumed,
    RunStopped,
)
from autopilot.domain.phase import Phase
from autopilot.domain.plain_text import harmless
from autopilot.domain.record import PhaseRecord, RunRecord
from autopilot.domain.verdict import Advance, AskHuman
from autopilot.journal.breaker import breaker_state, spending
from autopilot.journal.projection_completion import completion_state
from autopilot.journal.projection_log import log_of
from autopilot.journal.projection_parts import part_states
from autopilot.journal.projection_phase import phase_state
from autopilot.journal.timeline import History, histories, in_order, times

VERSION = "1.0"
EVENTS_KEPT = 200
WAITING_FOR_A_PERSON = 11
_DEFERRAL_THRESHOLD = 6


def state_of(
    run: RunRecord,
    phases: Mapping[str, tuple[PhaseRecord, ...]],
    *,
    now: str = "",
    events: int | None = EVENTS_KEPT,
) -> dict[str, Any]:
    """
    `phases` is phase id to its passes in order. `now` moves `last_checkpoint` on between entries (AMB-19);
    `events` None keeps the whole log, as the archive does.
    """
    known = histories(run, phases)
    made = in_order(run, phases)
    entries = times(run, made)
    by_id, parts = {phase.id: phase for phase in run.start.phases}, part_states(run, known)
    states = {
        id_: phase_state(by_id.get(id_, Phase(id=id_, name="")), history) | parts.get(id_, {})
        for id_, history in known.items()
        if not history.is_part
    }
    log = log_of(run, phases)
    return {
        "_meta": _meta(run, known, states, max(now, entries[-1].at)),
        "spec": _spec(run),
        "roadmap_path": run.start.roadmap,
        "last_checkpoint_sha": _checkpoint(run, known),
        "phases": states,
        "circuit_breaker": breaker_state(run, made),
        "spending": spending(run, made, active_minutes(entries)),
        "event_log": log if events is None else log[-events:],
        "metrics": _metrics(states, entries),
        **completion_state(run),
    }


def state_text(state: dict[str, Any]) -> bytes:
    text = msgspec.json.format(msgspec.json.encode(state), indent=2).decode()
    return harmless(text).encode() + b"\n"


def run_status(run: RunRecord) -> str:
    """running, paused, failed or completed. What is noted after the end does not open a run again."""
    last = next((e.event for e in reversed(run.entries) if not isinstance(e.event, Noted)), None)
    match last:
        case RunStopped():
            return "paused"
        case RunFinished(status="completed" | "failed" | "paused" as status):
            return status
        case RunFinished(exit_code=code):
            return {0: "completed", WAITING_FOR_A_PERSON: "paused"}.get(code, "failed")
    return "running"


def _meta(
    run: RunRecord, known: Mapping[str, History], states: Mapping[str, Any], last_checkpoint: str
) -> dict[str, Any]:
    statuses = [state["status"] for state in states.values()]
    deferred = statuses.count("needs_human_verification")
    processed = deferred + statuses.count("completed") + statuses.count("failed")
    current = _current(run, known)
    return {
        "version": VERSION,
        "run_id": run.start.run,
        "started_at": run.entries[0].at,
        "last_checkpoint": last_checkpoint,
        "status": run_status(run),
        "total_phases": len(run.start.targets),
        "current_phase": current,
        "current_step": _step(known[current]) if current is not None else None,
        "orchestrator_context_pct": 0,
        "human_deferred_count": deferred,
        "total_phases_processed": processed,
        "pass_threshold": run.start.settings.pass_threshold,
        "deferral_history": [],
        "autonomous_resolution_rate": round((processed - deferred) / processed, 3) if processed else None,
        "deferral_threshold": _DEFERRAL_THRESHOLD,
    }


def _current(run: RunRecord, known: Mapping[str, History]) -> str | None:
    """The phase at work, else the one to come; None when none is left."""
    for entry in reversed(run.entries):
        if isinstance(entry.event, PhaseStarted) and known[entry.event.brief.phase.id].status == "in_progress":
            return entry.event.brief.phase.id
    return next((id_ for id_, history in known.items() if history.status in {"not_started", "in_progress"}), None)


def _step(history: History) -> str | None:
    """The step at work, else the last one finished."""
    record = history.passes[-1] if history.passes else None
    if record is None:
        return None
    if record.open_step is not None:
        return record.open_step.step
    return record.finished[-1].step if record.finished else None


def _spec(run: RunRecord) -> dict[str, Any]:
    """A resumed run locks the specification again (AMB-23); an unchanged one keeps its first time."""
    spec, locked_at = run.start.spec, run.entries[0].at
    for entry in run.entries:
        if isinstance(entry.event, RunResumed) and entry.event.spec != spec:
            spec, locked_at = entry.event.spec, entry.at
    return {"path": spec.path, "hash": f"sha256:{spec.sha256}", "locked_at": locked_at}


def _checkpoint(run: RunRecord, known: Mapping[str, History]) -> str:
    """The tip of the work: the open pass's, else what the last pass that counts left, else the run's base."""
    for entry in reversed(run.entries):
        match entry.event:
            case PhaseStarted(brief=brief):
                passes = known[brief.phase.id].passes
                return passes[-1].commit if passes else brief.base
            case PhaseFinished(verdict=Advance() | AskHuman(), outcome=outcome):
                return outcome.commit
    return run.start.base


def _metrics(states: Mapping[str, Any], entries: list[Entry]) -> dict[str, Any]:
    phases = states.values()
    statuses = [phase["status"] for phase in phases]
    return {
        "total_tokens_used": sum(phase["tokens_used"] for phase in phases),
        "total_duration_minutes": active_minutes(entries),
        "phases_completed": statuses.count("completed"),
        "phases_failed": statuses.count("failed"),
        "debug_loops_total": sum(phase["debug_attempts"] for phase in phases),
        "replan_count": sum(phase["replan_attempts"] for phase in phases),
    }


def active_minutes(entries: list[Entry]) -> float:
    """The time from first to last entry, without the time a stopped run waited to be resumed."""
    seconds = 0.0
    for before, after in pairwise(entries):
        if not isinstance(after.event, RunResumed):
            seconds += (datetime.fromisoformat(after.at) - datetime.fromisoformat(before.at)).total_seconds()
    return round(seconds / 60, 2)
