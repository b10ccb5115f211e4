"""The clock jumps, or everything stands still for a while: no duration is negative and no time limit is reached falsely."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.app.finish import ended_of
from autopilot.domain.errors import BreakerOpen
from autopilot.domain.events import Entry, RunFinished, RunStopped
from autopilot.engine.perform.run_log import Streams
from autopilot.history.record import RunRecord
from autopilot.journal.clock import FixedClock
from autopilot.journal.head import read_head
from autopilot.journal.memory import MemoryJournal
from autopilot.journal.sqlite import SqliteJournal
from autopilot.sessions.machine import registry
from autopilot.state.breaker_state import heed_cooldown
from autopilot.state.build_state import Projection
from autopilot.text.times import iso
from autopilot.views.markdown.completion_report import report
from support.fault_layer import FaultLayer, layer_or_skip
from support.faults import full, record
from support.project import honest
from support.records import started
from support.runs import Drive, driven, playground
from support.stores import NOON
from support.struck_runs import StruckProject

HOUR, YEAR = 3600.0, 365.25 * 86400
JUMPS = {"an hour on": HOUR, "an hour back": -HOUR, "ten years on": 10 * YEAR, "ten years back": -10 * YEAR}
PLACES = {"early": 0.1, "in a step": 0.4, "late": 0.7, "at the end": 0.95}


class JumpingClock:
    """A second a look, and once in its life a jump."""

    def __init__(self, jump_s: float, behind: int) -> None:
        self._jump_s, self._behind, self._looks = jump_s, behind, 0

    def now(self) -> str:
        self._looks += 1
        jump = self._jump_s if self._looks > self._behind else 0.0
        return iso(datetime.fromisoformat("2026-01-01T12:00:00+00:00") + timedelta(seconds=self._looks + jump))

    def monotonic(self) -> float:
        return float(self._looks)


@pytest.fixture(scope="module")
def told() -> Iterator[tuple[str, list[tuple[str, Entry]]]]:
    """A run and all its entries, in their order."""
    with playground() as folder:
        drive: Drive = driven(folder, honest(), "1")
        assert drive.run().exit == 0
        yield drive.entries[0][0], drive.entries


def negative(value: Any, where: str = "") -> list[str]:
    """Every number below zero, by its name."""
    if isinstance(value, dict):
        return [found for key, held in value.items() for found in negative(held, f"{where}.{key}")]
    if isinstance(value, list | tuple):
        return [found for number, held in enumerate(value) for found in negative(held, f"{where}[{number}]")]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return [where] if is_number and value < 0 else []


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("jump", JUMPS)
def test_a_journal_whose_clock_jumped_tells_no_negative_time(
    told: tuple[str, list[tuple[str, Entry]]], jump: str, place: str
) -> None:
    run, entries = told
    journal = MemoryJournal(JumpingClock(JUMPS[jump], int(PLACES[place] * len(entries))))
    streams = Streams(journal, run, ())
    for stream, entry in entries:
        streams.append(stream, entry.event)
    finished = RunRecord(entries=journal.load(run)).end
    assert isinstance(finished, RunFinished)
    ended, end, _ = ended_of(streams, finished)

    shown = (Projection().state(streams.run(), streams), ended.metrics, msgspec.to_builtins(end))
    assert negative(shown) == []
    assert " -" not in "".join(line for line in report(ended).splitlines() if "uration" in line)


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> FaultLayer:
    return layer_or_skip(tmp_path_factory.mktemp("layer"))


def jumping(layer: FaultLayer, project: StruckProject, over: threading.Event) -> None:
    """With each entry of the journal the time of day is another."""
    path, seen, jumps = project.root / ".autopilot" / "journal.head", 0, list(JUMPS.values())
    while not over.is_set():
        tip = read_head(path) if path.exists() else None
        if tip is not None and tip.seq > seen:
            seen = tip.seq
            layer.move_clock(jumps[seen % len(jumps)])
        time.sleep(0.002)


def test_a_run_whose_clock_jumps_all_the_time_ends_as_ever(layer: FaultLayer) -> None:
    over = threading.Event()
    with playground() as folder:
        project = StruckProject.made(folder / "place")
        jumper = threading.Thread(target=jumping, args=(layer, project, over))
        jumper.start()
        try:
            ended = project.run(*project.words, "--max-hours", "1", env=layer.env)
        finally:
            over.set()
            jumper.join()
            layer.move_clock(0)
        assert (ended.code, project.troubles()) == (0, [])
        journal = SqliteJournal.read_only(project.root / ".autopilot" / "journal.db")
        times = [entry.at for stream in journal.streams() for entry in journal.load(stream)]
    record("clocks: run", entries=len(times))
    assert max(times) < iso(datetime.fromisoformat(min(times)) + timedelta(hours=1))
    assert all(one <= other for one, other in pairwise(sorted(times)))


WAITING = """
import os, sys
from pathlib import Path
from autopilot.domain.process import Job
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox.processes.children import ChildProcesses

folder, how, limit = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
plain = ChildProcesses()
runner = KeptProcesses(folder / "keep", plain, "boot", 10.0) if how == "held" else plain
script = "touch begun; until [ -e go ]; do sleep 0.02; done; echo done"
env = {"PATH": os.environ["PATH"]}
ran = runner.run(Job(argv=("sh", "-c", script), cwd=str(folder), env=env, mark=str(folder), timeout_s=limit))
print(ran.exit_code, ran.stdout.decode().strip())
"""


@contextmanager
def waiting(folder: Path, how: str, limit: float, env: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A program that runs until the file `go` is there, and somebody who waits for it."""
    words = [sys.executable, "-c", WAITING, str(folder), how, str(limit)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env={**os.environ, **env}) as run:
        while not (folder / "begun").exists() and run.poll() is None:
            time.sleep(0.01)
        yield run


def test_time_in_which_we_were_stopped_does_not_count_for_a_limit(layer: FaultLayer, tmp_path: Path) -> None:
    """A terminal's Ctrl-Z, a paused virtual machine: nobody had that time."""
    with waiting(tmp_path, "plain", 600, layer.env) as run:
        layer.stand_still(10 * YEAR)
        try:
            time.sleep(1.5)
            (tmp_path / "go").touch()
            assert run.communicate()[0] == b"0 done\n"
        finally:
            layer.stand_still(0)


@pytest.mark.parametrize("jump", JUMPS)
def test_a_limit_is_kept_whatever_the_time_of_day(layer: FaultLayer, tmp_path: Path, jump: str) -> None:
    layer.move_clock(JUMPS[jump])
    try:
        with waiting(tmp_path, "plain", 0.5, layer.env) as run:
            layer.move_clock(-JUMPS[jump])
            assert run.communicate()[0] == b"None \n"
    finally:
        layer.move_clock(0)


def kin(pid: int) -> list[int]:
    """The process and everything beneath it."""
    found = [pid]
    for one in found:
        with suppress(OSError):
            text = Path(f"/proc/{one}/task/{one}/children").read_text(encoding="ascii")
            found.extend(int(word) for word in text.split())
    return found


def signal_all(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@pytest.mark.skipif(not full(), reason="takes as long as everything stands still; part of the full suite")
@pytest.mark.parametrize("how", ["plain", "held"])
def test_all_that_was_stopped_for_a_minute_goes_on_as_if_nothing_had_been(tmp_path: Path, how: str) -> None:
    with waiting(tmp_path, how, 1200, {}) as run:
        pids = kin(run.pid)
        signal_all(pids, signal.SIGSTOP)
        time.sleep(60)
        signal_all(pids[::-1], signal.SIGCONT)
        time.sleep(1)
        (tmp_path / "go").touch()
        assert run.communicate()[0] == b"0 done\n"


@pytest.mark.parametrize(("minutes", "heeded"), [(1, True), (-60, False), (60 * 24 * 3650, False)])
def test_a_breaker_does_not_cool_down_for_years_because_a_clock_was_put_back(minutes: float, heeded: bool) -> None:
    stopped = RunStopped(exit_code=21, reason="no progress", brake="no_progress")
    clock = FixedClock("2026-01-01T12:00:00.000Z")
    journal = MemoryJournal(clock)
    entries = (journal.append("run", 0, started()), journal.append("run", 1, stopped))
    now = iso(datetime.fromisoformat("2026-01-01T12:00:00+00:00") + timedelta(minutes=minutes))

    with pytest.raises(BreakerOpen) if heeded else nullcontext():
        heed_cooldown(RunRecord(entries=entries), now)


@pytest.mark.parametrize(("minutes", "peers"), [(1, 1), (-1, 1), (-60 * 24 * 3650, 0), (60, 0)])
def test_a_session_of_the_future_is_no_peer(tmp_path: Path, minutes: float, peers: int) -> None:
    registry.Registry(tmp_path, lambda: NOON).register(registry.Entry(session_id="one", pid=1))

    assert len(registry.Registry(tmp_path, lambda: NOON + timedelta(minutes=minutes)).peers()) == peers
