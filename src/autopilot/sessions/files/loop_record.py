"""The line of `autopilot.jsonl`: what one loop was asked, what it did and what ended it."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from autopilot.domain.value import Value
from autopilot.sessions.kill_switches import Switch
from autopilot.text.numbers import whole

SCHEMA_VERSION = 2
_ODD = re.compile(r"[^A-Za-z0-9._-]+")


class LoopRecord(Value, frozen=True, kw_only=True):
    """
    Schema 2. Times are UTC with milliseconds, limits those in force; a detail may stand without a switch.

    A field nobody knows is no damage: readers pass it over.
    """

    schema_version: int = SCHEMA_VERSION
    autopilot_run_id: str
    started_at: str
    completed_at: str
    duration_seconds: int = 0
    max_sessions: int
    max_hours: float
    confidence_threshold: float
    iterations_completed: int = 0
    kill_switch: Switch | None = None
    kill_switch_detail: str | None = None
    sessions: tuple[str, ...] = ()
    host_class: str | None = None
    resource_verdict_at_start: str | None = None
    fallback_to_manual: bool = False
    dry_run: bool = False
    total_tokens_used: int = 0
    worktree_path: str | None = None
    parent_run_id: str | None = None
    stall_recovery_count: int = 0
    blocked_by_issue: str | None = None
    aborted_by_cohort: bool = False
    spiral_recovery_count: int = 0


def default_run_id(branch: str | None, started: datetime) -> str:
    """Named for the branch and the minute; `unique` in `open_loops` makes two of the same minute differ."""
    name = "unknown" if branch is None else _ODD.sub("-", branch)
    return f"{name}-{started.astimezone(UTC):%Y-%m-%d-%H%M}-autopilot"


def moment(iso: str) -> datetime:
    return datetime.fromisoformat(iso)


def duration_s(started: str, ended: str) -> int:
    return max(0, whole((moment(ended) - moment(started)).total_seconds()))


def recent_loops(lines: tuple[Mapping[str, Any], ...], most: int = 50) -> tuple[LoopRecord, ...]:
    """The newest records, newest last; lines of another shape are passed over."""
    found: list[LoopRecord] = []
    for line in lines:
        try:
            found.append(msgspec.convert(line, LoopRecord))
        except msgspec.ValidationError:
            continue
    return tuple(found[-most:])
