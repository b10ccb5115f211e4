"""A project's good history: sessions that finished what they planned, as the loop finds them written down."""

from pathlib import Path
from typing import Any

from autopilot.sessions.files.loop_record import moment
from autopilot.sessions.learnings import sizing
from autopilot.sessions.session import Books

STARTED, ENDED = "2026-03-01T08:00:00.000Z", "2026-03-01T09:00:00.000Z"


def past_session(name: str, mode: str = "feature", **more: Any) -> dict[str, Any]:
    done = {"planned_issues": 3, "completed": 3, "carryover": 0, "emergent": 0, "completion_rate": 1.0}
    return {
        "schema_version": 2,
        "session_id": name,
        "session_type": mode,
        "started_at": STARTED,
        "completed_at": ENDED,
        "total_waves": 1,
        "waves": [{"wave": 1, "role": "Impl-Core"}],
        "agent_summary": {"complete": 3, "partial": 0, "failed": 0, "spiral": 0},
        "total_agents": 3,
        "total_files_changed": 3,
        "effectiveness": done,
        **more,
    }


def good_history(root: Path, now: str, mode: str = "feature") -> None:
    """Three perfect sessions, and what they taught."""
    books = Books(root / ".autopilot")
    for number in range(1, 4):
        record = past_session(f"past-{number}", mode)
        books.sessions.append(record)
        learned = sizing(record, moment(now))
        assert learned is not None
        books.learn(learned)
