"""Writes what a session amounts to: its line in sessions.jsonl, its word for the next session, its lessons."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from autopilot.domain.value import Value
from autopilot.sessions import learnings
from autopilot.sessions.files import next_session as state_fields
from autopilot.sessions.files.jsonl import LineFile
from autopilot.sessions.files.loop_record import default_run_id, duration_s, moment
from autopilot.sessions.files.private_files import write_private
from autopilot.sessions.files.session_record import clamped, problem_in, stamped
from autopilot.sessions.learnings import Learning
from autopilot.sessions.machine.resources import Decision
from autopilot.sessions.selector import Executed

Status = Literal["done", "partial", "failed", "spiral"]
ROLES: dict[Executed, str] = {"feature": "Impl-Core", "deep": "Impl-Polish", "housekeeping": "Quality"}
ISOLATION = "clone"


class SessionStart(Value, frozen=True, kw_only=True):
    """What is known when a session starts."""

    session_id: str
    mode: Executed
    started_at: str
    run_id: str | None = None
    """The loop the session belongs to. None: a person started it."""
    branch: str | None = None
    recommended: str | None = None
    """The mode that the selector recommended. None: nobody asked it."""
    jobs: int = 1
    decision: Decision = "proceed"
    deviations: tuple[str, ...] = ()


class SessionEnd(Value, frozen=True, kw_only=True):
    """What the session's run did. None: not measured, which is not zero."""

    phases: dict[str, Status]
    files_changed: int = 0
    tokens: int | None = None
    output_tokens: int | None = None
    exit_code: int = 0
    run: str = ""
    abandoned: bool = False

    @property
    def carried(self) -> tuple[str, ...]:
        return tuple(phase for phase, status in self.phases.items() if status != "done")

    @property
    def summary(self) -> dict[str, int]:
        ends = list(self.phases.values())
        kinds: dict[str, Status] = {"complete": "done", "partial": "partial", "failed": "failed", "spiral": "spiral"}
        return {name: ends.count(status) for name, status in kinds.items()}


class Books:
    """The files of `.autopilot/metrics`, and the state a session leaves for the next."""

    def __init__(self, home: Path) -> None:
        self.sessions = LineFile(home / "metrics" / "sessions.jsonl")
        self.learnings = LineFile(home / "metrics" / "learnings.jsonl")
        self.state = home / "STATE.md"

    def known(self) -> tuple[Learning, ...]:
        return learnings.understood(self.learnings.read())

    def learn(self, new: Learning) -> None:
        for line in learnings.added(self.known(), new):
            self.learnings.append(line)

    def name_session(self, branch: str | None, started: datetime) -> str:
        return session_id(branch, started, [line.get("session_id") for line in self.sessions.read()])

    def close(self, start: SessionStart, end: SessionEnd, now: str) -> dict[str, Any]:
        """Writes the metrics first, then the word for the next session, then the lessons. Returns the record."""
        record = record_of(start, end, now)
        if problem := problem_in(record):
            raise ValueError(problem)
        self.sessions.append(record)
        if not end.abandoned and end.phases:
            said = record["effectiveness"]
            ratio = carryover_ratio(said)
            up = state_fields.next_up(said["completion_rate"], ratio, end.carried)
            write_private(self.state, state_fields.written(up, said["completion_rate"], ratio).encode())
            self._learn(start, record, moment(now))
        return record

    def _learn(self, start: SessionStart, record: Mapping[str, Any], now: datetime) -> None:
        chosen = learnings.accuracy(start.recommended, start.mode, start.session_id, now)
        for found in (chosen, learnings.sizing(record, now)):
            if isinstance(found, Learning):
                self.learn(found)
        for doubt in learnings.doubted(self.known(), record):
            self.learnings.append(doubt)


def session_id(branch: str | None, started: datetime, taken: Sequence[Any]) -> str:
    """Named for the branch and the minute, with a number where another session has that name."""
    name = default_run_id(branch, started).removesuffix("-autopilot")
    names = (name, *(f"{name}-{number}" for number in range(2, 10_000)))
    return next(fresh for fresh in names if fresh not in taken)


def record_of(start: SessionStart, end: SessionEnd, now: str) -> dict[str, Any]:
    """One session is one run: one wave, in which each phase is the work of one agent."""
    planned, summary = len(end.phases), end.summary
    wave = {
        "wave": 1,
        "role": ROLES[start.mode],
        "agents": start.jobs,
        "decision": start.decision,
        "isolation": ISOLATION,
        "failed": summary["failed"],
    }
    record: dict[str, Any] = {
        "session_id": start.session_id,
        "session_type": start.mode,
        "started_at": start.started_at,
        "completed_at": now,
        "duration_seconds": duration_s(start.started_at, now),
        "status": "abandoned" if end.abandoned else "completed",
        "branch": start.branch,
        "total_waves": 1,
        "waves": [wave],
        "agent_summary": summary,
        "total_agents": planned,
        "total_files_changed": end.files_changed,
        "effectiveness": {
            "planned_issues": planned,
            "completed": summary["complete"],
            "carryover": len(end.carried),
            "emergent": 0,
            "completion_rate": summary["complete"] / planned if planned else 0.0,
        },
        "autopilot_run_id": start.run_id,
        "total_tokens": end.tokens,
        "deviations": list(start.deviations),
        "exit_code": end.exit_code,
        "run": end.run,
    }
    usage = {"output_tokens": end.output_tokens, "total_tokens": end.tokens}
    return clamped(stamped(record | {"usage": {name: value for name, value in usage.items() if value is not None}}))


def carryover_ratio(effectiveness: Mapping[str, Any]) -> float:
    planned = effectiveness["planned_issues"]
    return float(effectiveness["carryover"] / planned) if planned else 0.0
