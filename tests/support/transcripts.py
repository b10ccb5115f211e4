"""What agents' programs printed, recorded, and how each call is judged by it."""

import json
from pathlib import Path

from autopilot.agents.backend import Backend
from autopilot.agents.call_log import StreamReader
from autopilot.agents.cli_agent import reply_of
from autopilot.domain.agent_call import Call, PhaseRef, Reply, Role, Thread
from autopilot.domain.process import Ran


def question(role: Role = "execute", thread: Thread | None = None, folder: str = ".") -> Call:
    return Call(
        id="r1/2/execute/1",
        role=role,
        prompt="Do it.",
        answer_schema={"type": "object"},
        phase=PhaseRef(id="2", name="Two", type="mixed", dir=".planning/phases/02-two"),
        thread=thread,
        folder=folder,
        seconds=60,
    )


def recorded(folder: Path) -> Ran:
    """One call: `stdout.jsonl`, perhaps `stderr.txt`, and `outcome.json` with the exit code."""
    end, complaints = json.loads((folder / "outcome.json").read_bytes()), folder / "stderr.txt"
    return Ran(
        exit_code=None if end.get("timed_out") else end.get("rc"),
        stdout=(folder / "stdout.jsonl").read_bytes(),
        stderr=complaints.read_bytes() if complaints.exists() else b"",
        seconds=end.get("wall") or 0.0,
    )


def judged(backend: Backend, ran: Ran, call: Call | None = None, piece: int = 1 << 16) -> Reply:
    reader = StreamReader(backend.reader())
    for start in range(0, len(ran.stdout), piece):
        reader.feed(ran.stdout[start : start + piece])
    return reply_of(call or question(), backend, reader, ran)
