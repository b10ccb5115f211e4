"""Every store of the program as something that can be worked with, looked at, and worked with again."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autopilot.agents import transcripts
from autopilot.domain.events import Noted
from autopilot.journal.answer_files import AskedFile
from autopilot.journal.calibration_file import CalibrationFile
from autopilot.journal.clock import FixedClock
from autopilot.journal.diagnostic_files import FileDiagnostics
from autopilot.journal.durable_files import make_folder
from autopilot.journal.head import read_head
from autopilot.journal.inbox import FileInbox
from autopilot.journal.lock import RunLock, owner
from autopilot.journal.metrics_file import MetricsFile
from autopilot.journal.sqlite import SqliteJournal
from autopilot.journal.state_file import StateFile
from autopilot.policy.deferral import Calibration
from autopilot.sessions.files.jsonl import LineFile
from autopilot.sessions.files.loop_record import LoopRecord
from autopilot.sessions.files.open_loops import OpenLoops
from autopilot.sessions.machine.registry import Entry, Registry
from autopilot.workspace.files.beneath import opened, write_atomic
from autopilot.workspace.files.written import Written
from autopilot.workspace.git import storage_errors

RUN, NOON = "run-2026-01-01-120000", datetime(2026, 1, 1, 12, tzinfo=UTC)
Ack = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Store:
    """
    `work` acknowledges what is safe by then, and may be done again after it failed anywhere.

    `held` is what a reader finds, oldest first; it never holds what `work` did not put there.
    """

    work: Callable[[Path, Ack], None]
    held: Callable[[Path], list[str]]
    all: tuple[str, ...]


def _journal_work(folder: Path, ack: Ack) -> None:
    with SqliteJournal(folder / "journal.db", FixedClock(), patience_s=0.05) as journal:
        for number in range(len(journal.load(RUN)), 6):
            journal.append(RUN, number, Noted(event=f"e{number}", details={"text": "x" * 900}))
            head = read_head(folder / "journal.head")
            assert head is not None
            assert head.seq == number + 1, "HEAD does not name the entry"
            ack(f"e{number}")


def _journal_held(folder: Path) -> list[str]:
    with SqliteJournal(folder / "journal.db", FixedClock(), patience_s=0.05) as journal:
        return [e.event.event for e in journal.load(RUN) if isinstance(e.event, Noted)]


def _state(note: str) -> dict[str, Any]:
    return {"_meta": {"version": "1.0", "run_id": RUN, "note": note}, "phases": {}}


def _state_work(folder: Path, ack: Ack) -> None:
    file = StateFile(folder)
    for note in ("s0", "s1", "s2"):
        file.write(_state(note))
    file.archive(RUN)
    ack("s2")


def _state_held(folder: Path) -> list[str]:
    file = StateFile(folder)
    live = file.read()
    return [found["_meta"]["note"] for found in ((live,) if live else file.archived())]


def _calibration_work(folder: Path, ack: Ack) -> None:
    for threshold in (5.0, 7.0):
        CalibrationFile(folder).write(Calibration(deferral_threshold=threshold))
    ack("7.0")


def _calibration_held(folder: Path) -> list[str]:
    return [str(CalibrationFile(folder).read().deferral_threshold)]


def _numbers(run: str) -> Mapping[str, Any]:
    return {"run_id": run, "success_rate": 1.0, "total_estimated_tokens": 1}


def _metrics_work(folder: Path, ack: Ack) -> None:
    for run in ("m0", "m1", "m2"):
        MetricsFile(folder).record(_numbers(run))
        ack(run)


def _metrics_held(folder: Path) -> list[str]:
    return [run["run_id"] for run in MetricsFile(folder).read()]


def _inbox_work(folder: Path, ack: Ack) -> None:
    inbox = FileInbox(folder)
    for phase in ("1", "2"):
        if phase not in _inbox_held(folder):
            inbox.put(RUN, phase, "pass")
        ack(phase)
    for said in inbox.waiting():
        if said.phase == "gone":
            inbox.remove(said)


def _inbox_held(folder: Path) -> list[str]:
    return [said.phase for said in FileInbox(folder).waiting()]


def _lock_work(folder: Path, ack: Ack) -> None:
    with RunLock(folder, RUN) as lock:
        lock.name_run(RUN)
        found = owner(folder)
        assert found is not None
        ack(found.run)


def _lock_held(folder: Path) -> list[str]:
    with RunLock(folder, RUN):
        found = owner(folder)
        return [found.run] if found else []


def _papers_work(folder: Path, ack: Ack) -> None:
    papers = FileDiagnostics(folder)
    make_folder(folder)
    for entry in ("l0", "l1"):
        papers.learn(entry)
        ack(entry)
    papers.write("paper.md", "text")


def _papers_held(folder: Path) -> list[str]:
    return [line for line in FileDiagnostics(folder).learnings().splitlines() if line.startswith("l")]


def _asked_work(folder: Path, ack: Ack) -> None:
    file = AskedFile(folder, "context-map.json")
    for phase in ("1", "2"):

        def change(paper: dict[str, Any], phase: str = phase) -> dict[str, Any]:
            return {**paper, "phases": {**paper["phases"], phase: {}}}

        file.update(change)
        ack(phase)


def _asked_held(folder: Path) -> list[str]:
    return list(AskedFile(folder, "context-map.json").read().phases)


def _lines_work(folder: Path, ack: Ack) -> None:
    file = LineFile(folder / "sessions.jsonl")
    for name in ("n0", "n1", "n2"):
        if name not in _lines_held(folder):
            file.append({"name": name, "text": "x" * 300})
        ack(name)


def _lines_held(folder: Path) -> list[str]:
    return [line["name"] for line in LineFile(folder / "sessions.jsonl").read()]


def _loops(folder: Path) -> OpenLoops:
    return OpenLoops(folder, "me", lambda _: True)


def _loops_work(folder: Path, ack: Ack) -> None:
    loops = _loops(folder)
    name = loops.unique("loop")
    record = LoopRecord(
        autopilot_run_id=name,
        started_at="2026-01-01T12:00:00.000Z",
        completed_at="2026-01-01T12:00:00.000Z",
        max_sessions=1,
        max_hours=1.0,
        confidence_threshold=0.5,
    )
    loops.opened(record)
    loops.closed(record)
    ack("closed")


def _loops_held(folder: Path) -> list[str]:
    OpenLoops(folder, "next", lambda _: False).recover()
    return ["closed"] if _loops(folder).lines.read() else []


def _registry_work(folder: Path, ack: Ack) -> None:
    registry = Registry(folder, lambda: NOON)
    registry.register(Entry(session_id="one", pid=1))
    ack("one")
    registry.heartbeat("one", "wave", 2)


def _registry_held(folder: Path) -> list[str]:
    return [peer.session_id for peer in Registry(folder, lambda: NOON).peers()]


def _transcript(call: str) -> transcripts.Transcript:
    return transcripts.Transcript(call=call, command=(), stdin={}, stdout="o" * 500, stderr="", exit=0, seconds=1.0)


def _transcripts_work(folder: Path, ack: Ack) -> None:
    for call in ("r/1/a/1", "r/1/a/2"):
        if transcripts.store(folder, _transcript(call)):
            ack(call)


def _transcripts_held(folder: Path) -> list[str]:
    return [c for c in ("r/1/a/1", "r/1/a/2") if transcripts.recorded(folder, c) == _transcript(c)]


def _planning_work(folder: Path, ack: Ack) -> None:
    with storage_errors("writing planning files"):
        folder.mkdir(parents=True, exist_ok=True)
        with opened(folder) as top:
            for name in ("p0", "p1"):
                write_atomic(top, f"phases/01/{name}", name.encode() * 700)
                ack(name)


def _planning_held(folder: Path) -> list[str]:
    found = sorted((folder / "phases" / "01").glob("p*"))
    return [path.name for path in found if path.read_bytes() == path.name.encode() * 700]


def _written_work(folder: Path, ack: Ack) -> None:
    with storage_errors("writing planning files"):
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("w0", "w1", "w2"):
            Written(folder / "written.json").add({f".planning/{name}": name})
            ack(name)


def _written_held(folder: Path) -> list[str]:
    written = Written(folder / "written.json")
    return [name for name in ("w0", "w1", "w2") if written.holds(f".planning/{name}", name)]


STORES: dict[str, Store] = {
    "journal": Store(_journal_work, _journal_held, tuple(f"e{n}" for n in range(6))),
    "state": Store(_state_work, _state_held, ("s0", "s1", "s2")),
    "calibration": Store(_calibration_work, _calibration_held, ("5.0", "6.0", "7.0")),
    "metrics": Store(_metrics_work, _metrics_held, ("m0", "m1", "m2")),
    "inbox": Store(_inbox_work, _inbox_held, ("1", "2")),
    "lock": Store(_lock_work, _lock_held, (RUN,)),
    "papers": Store(_papers_work, _papers_held, ("l0", "l1")),
    "answers": Store(_asked_work, _asked_held, ("1", "2")),
    "lines": Store(_lines_work, _lines_held, ("n0", "n1", "n2")),
    "loops": Store(_loops_work, _loops_held, ("closed",)),
    "registry": Store(_registry_work, _registry_held, ("one",)),
    "transcripts": Store(_transcripts_work, _transcripts_held, ("r/1/a/1", "r/1/a/2")),
    "planning files": Store(_planning_work, _planning_held, ("p0", "p1")),
    "texts of ours": Store(_written_work, _written_held, ("w0", "w1", "w2")),
}


def _naive_work(folder: Path, ack: Ack) -> None:
    """Writes over what was there, believes that all of it was written, and never waits for the disk."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(4):
        descriptor = os.open(folder / "state", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            os.write(descriptor, " ".join(f"w{n}" for n in range(number + 1)).encode())
        finally:
            os.close(descriptor)
        ack(f"w{number}")


def _naive_held(folder: Path) -> list[str]:
    return (folder / "state").read_text(encoding="utf-8").split() if (folder / "state").exists() else []


# What the checks must be able to find fault with.
NAIVE = Store(_naive_work, _naive_held, ("w0", "w1", "w2", "w3"))
EVERY = {**STORES, "naive": NAIVE}
