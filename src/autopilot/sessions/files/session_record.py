"""The line of `sessions.jsonl`: checked before it is written, and read under the names older writers used."""

import re
from collections.abc import Mapping
from typing import Any

from autopilot.sessions.files.loop_record import moment
from autopilot.sessions.selector import EXECUTED

SCHEMA_VERSION = 2
REQUIRED = (
    "session_id",
    "session_type",
    "started_at",
    "completed_at",
    "total_waves",
    "waves",
    "agent_summary",
    "total_agents",
    "total_files_changed",
)
SUMMARY = ("complete", "partial", "failed", "spiral")
LISTS = ("issues_closed", "issues_created")
NUMBERS = ("duration_seconds", "total_tokens", "total_token_input", "total_token_output")
EFFECTS = ("planned_issues", "completed", "carryover", "emergent", "completion_rate")
USAGE = ("input_tokens", "output_tokens", "total_tokens")
COST_TIERS = ("quick", "standard", "deep")
STATUSES = ("completed", "abandoned")
ALIASES = {
    "type": "session_type",
    "mode": "session_type",
    "files_changed": "total_files_changed",
    "waves_total": "total_waves",
    "agents_total": "total_agents",
    "closed_issues": "issues_closed",
    "created_issues": "issues_created",
}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z", re.ASCII)

Record = Mapping[str, Any]


def stamped(record: Record) -> dict[str, Any]:
    """The record with its schema version; one that is there is kept."""
    return {"schema_version": SCHEMA_VERSION, **record}


def problem_in(record: Record) -> str | None:
    """What forbids writing the record, in one sentence; None when nothing does. Unknown fields are welcome."""
    missing = next((name for name in REQUIRED if name not in record), None)
    if missing:
        return f"session missing required field: {missing}"
    checks = (_identity, _times, _waves, _summary, _counts, _optional, _measured)
    return next((problem for check in checks if (problem := check(record))), None)


def _identity(record: Record) -> str | None:
    name, kind, version = record["session_id"], record["session_type"], record.get("schema_version", SCHEMA_VERSION)
    if not isinstance(version, int) or not _number(version):
        return f"schema_version must be a non-negative integer, got: {version!r}"
    if not isinstance(name, str) or not name:
        return f"session_id must be a non-empty string, got: {name}"
    if kind not in EXECUTED:
        return f"session_type must be one of feature|deep|housekeeping, got: {kind}"
    return None


def _times(record: Record) -> str | None:
    for name in ("started_at", "completed_at"):
        if not isinstance(record[name], str) or not _TIME.fullmatch(record[name]):
            return f"{name} must match ISO-8601 UTC ms format (YYYY-MM-DDTHH:MM:SS[.SSS]Z), got: {record[name]}"
    started, ended = record["started_at"], record["completed_at"]
    try:
        backwards = moment(ended) < moment(started)
    except ValueError as error:
        return f"started_at and completed_at must be real times: {error}"
    return f"completed_at ({ended}) must be >= started_at ({started})" if backwards else None


def _waves(record: Record) -> str | None:
    waves = record["waves"]
    if not isinstance(waves, list | tuple):
        return f"waves must be an array, got: {waves}"
    for place, wave in enumerate(waves):
        if not isinstance(wave, Mapping):
            return f"waves[{place}] must be an object"
        if not _number(wave.get("wave"), least=1):
            return f"waves[{place}].wave must be a number >= 1, got: {wave.get('wave')}"
        if not isinstance(wave.get("role"), str) or not wave["role"]:
            return f"waves[{place}].role must be a non-empty string, got: {wave.get('role')}"
    return None


def _summary(record: Record) -> str | None:
    summary = record["agent_summary"]
    if not isinstance(summary, Mapping):
        return "agent_summary must be an object"
    for name in SUMMARY:
        if name not in summary:
            return f"agent_summary missing required field: {name}"
        if not _number(summary[name]):
            return f"agent_summary.{name} must be a non-negative number, got: {summary[name]}"
    return None


def _counts(record: Record) -> str | None:
    names = ("total_waves", "total_agents", "total_files_changed")
    wrong = next((name for name in names if not _number(record[name])), None)
    return f"{wrong} must be a non-negative number, got: {record[wrong]}" if wrong else None


def _optional(record: Record) -> str | None:
    if not isinstance(record.get("effectiveness"), Mapping | None):
        return "effectiveness must be an object or null"
    if not isinstance(record.get("autopilot_run_id"), str | None):
        return "autopilot_run_id must be a string or null"
    for name, words in (("expected_cost_tier", COST_TIERS), ("status", STATUSES)):
        said = record.get(name)
        if said is not None and said not in words:
            return f"{name} must be one of {'|'.join(words)} or null, got: {said}"
    return None


def _measured(record: Record) -> str | None:
    """What may be absent or null, which is "not measured", but not of another kind."""
    for name in LISTS:
        if not isinstance(record.get(name), list | tuple | None):
            return f"{name} must be an array or null, got: {record[name]!r}"
    for part, names in ((None, NUMBERS), ("effectiveness", EFFECTS), ("usage", USAGE)):
        held = record if part is None else record.get(part) or {}
        if not isinstance(held, Mapping):
            return f"{part} must be an object or null"
        wrong = next((name for name in names if held.get(name) is not None and not _number(held[name])), None)
        if wrong:
            said = wrong if part is None else f"{part}.{wrong}"
            return f"{said} must be a non-negative number or null, got: {held[wrong]!r}"
    return None


def _number(value: Any, least: float = 0) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= least


def clamped(record: Record) -> dict[str, Any]:
    """A session that seems to end before it began ends when it began, and says that this was corrected."""
    started, ended = record["started_at"], record["completed_at"]
    if moment(ended) >= moment(started):
        return dict(record)
    return {**record, "completed_at": started, "_clamped": True, "_original_completed_at": ended}


def normalised(record: Record) -> dict[str, Any]:
    """Fields under the names they have today, the old ones beside them; a record without a version is of version 0."""
    found = {new: record[old] for old, new in ALIASES.items() if old in record and new not in record}
    return {**record, **found, "schema_version": record.get("schema_version", 0)}


def recent(records: Any, most: int) -> tuple[Any, ...]:
    """The last sessions that took place; one that was only found abandoned says nothing about how sessions go."""
    if not isinstance(records, list | tuple) or most <= 0:
        return ()
    real = [r for r in records if not (isinstance(r, Mapping) and r.get("status") == "abandoned")]
    return tuple(real[-most:])
