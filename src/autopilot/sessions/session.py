"""One complete session: register, plan, carry out the waves, and write down what it came to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from autopilot.domain.value import Value
from autopilot.sessions import learnings, state_fields
from autopilot.sessions.executor import SessionOutcome, WaveOutcome, Workshop, execute
from autopilot.sessions.learnings import Learning
from autopilot.sessions.lines import LineFile
from autopilot.sessions.loop_record import default_run_id, duration_s, moment
from autopilot.sessions.private_files import write_private
from autopilot.sessions.registry import Entry, Registry
from autopilot.sessions.session_modes import Executed
from autopilot.sessions.session_record import clamped, problem_in, stamped
from autopilot.sessions.waves import SessionPlan


class Ended(Value, frozen=True, kw_only=True):
    """What only the runner knows at the end; None: not measured, which is not zero."""

    files_changed: int = 0
    tokens: int | None = None
    output_tokens: int | None = None
    exit_code: int = 0
    run: str = ""


class SessionStart(Value, frozen=True, kw_only=True):
    """Who the session is. `run_id` is the loop it belongs to; None: a person started it."""

    session_id: str
    mode: Executed
    started_at: str
    run_id: str | None = None
    branch: str | None = None
    recommended: str | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """`now` is the time as the journal writes it; `ended` is asked once, when all waves are through."""

    books: Books
    registry: Registry
    now: Callable[[], str]
    ended: Callable[[], Ended]

    def run(self, start: SessionStart, plan: SessionPlan, shop: Workshop, entry: Entry) -> dict[str, Any]:
        """The session's record, as it stands in sessions.jsonl when this returns."""
        self.registry.sweep()
        self.registry.register(entry)
        try:
            beating = replace(shop, progress=lambda wave: self._beat(entry.session_id, wave, shop))
            outcome = execute(plan, beating)
            return self.close(start, plan, outcome)
        finally:
            self.registry.deregister(entry.session_id)

    def close(self, start: SessionStart, plan: SessionPlan, outcome: SessionOutcome) -> dict[str, Any]:
        """Metrics first, then the word for the next session, then what was learned."""
        record = record_of(start, plan, outcome, self.now(), self.ended())
        problem = problem_in(record)
        if problem:
            raise ValueError(problem)
        self.books.sessions.append(record)
        told = record["effectiveness"]
        ratio = carryover_ratio(told)
        up = state_fields.next_up(told["completion_rate"], ratio, outcome.carried)
        write_private(self.books.state, state_fields.written(up, told["completion_rate"], ratio).encode())
        self._learn(start, record)
        return record

    def _learn(self, start: SessionStart, record: Mapping[str, Any]) -> None:
        now = moment(self.now())
        chosen = learnings.accuracy(start.recommended, start.mode, start.session_id, now)
        for found in (chosen, learnings.sizing(record, now)):
            if isinstance(found, Learning):
                self.books.learn(found)
        for doubt in learnings.doubted(self.books.known(), record):
            self.books.learnings.append(doubt)

    def _beat(self, session_id: str, wave: WaveOutcome, shop: Workshop) -> None:
        self.registry.heartbeat(session_id, status="wave", wave=wave.wave)
        shop.progress(wave)


def session_id(branch: str | None, started: datetime, taken: Sequence[Any]) -> str:
    """Named for the branch and the minute, with a number where another session has that name."""
    name = default_run_id(branch, started).removesuffix("-autopilot")
    names = (name, *(f"{name}-{number}" for number in range(2, 10_000)))
    return next(fresh for fresh in names if fresh not in taken)


def record_of(
    start: SessionStart, plan: SessionPlan, outcome: SessionOutcome, now: str, ended: Ended
) -> dict[str, Any]:
    planned = len({task.id for wave in plan.waves for task in wave.tasks})
    summary = outcome.summary
    record: dict[str, Any] = {
        "session_id": start.session_id,
        "session_type": start.mode,
        "started_at": start.started_at,
        "completed_at": now,
        "duration_seconds": duration_s(start.started_at, now),
        "status": "completed",
        "branch": start.branch,
        "total_waves": len(outcome.waves),
        "waves": [_wave(wave) for wave in outcome.waves],
        "agent_summary": summary,
        "total_agents": sum(max(1, wave.agents) for wave in outcome.waves),
        "total_files_changed": ended.files_changed,
        "effectiveness": {
            "planned_issues": planned,
            "completed": summary["complete"],
            "carryover": len(outcome.carried),
            "emergent": 0,
            "completion_rate": summary["complete"] / planned if planned else 0.0,
        },
        "autopilot_run_id": start.run_id,
        "total_tokens": ended.tokens,
        "deviations": list(outcome.deviations),
        "exit_code": ended.exit_code,
        "run": ended.run,
    }
    usage = {"output_tokens": ended.output_tokens, "total_tokens": ended.tokens}
    return clamped(stamped(record | {"usage": {name: value for name, value in usage.items() if value is not None}}))


def carryover_ratio(effectiveness: Mapping[str, Any]) -> float:
    planned = effectiveness["planned_issues"]
    return float(effectiveness["carryover"] / planned) if planned else 0.0


def _wave(wave: WaveOutcome) -> dict[str, Any]:
    return {
        "wave": wave.wave,
        "role": wave.role,
        "agents": wave.agents,
        "decision": wave.decision,
        "isolation": wave.isolation,
        "failed": sum(end.status == "failed" for end in wave.judged),
    }
