"""A run that works on one step for long shows that it lives."""

import time
from pathlib import Path
from typing import Any

import pytest

from autopilot.app.state_writer import ProjectedStreams, beating
from autopilot.domain.errors import StorageFailed
from autopilot.domain.events import Entry
from autopilot.journal.clock import TickingClock
from autopilot.journal.memory import MemoryJournal
from autopilot.journal.state_file import StateFile
from support.records import RUN, phase, started
from support.waiting import PATIENCE_S


def begun(home: Path) -> ProjectedStreams:
    def nobody(_stream: str, _entry: Entry) -> None:
        """Nobody listens."""

    streams = ProjectedStreams(home, MemoryJournal(TickingClock()), RUN, nobody)
    streams.append_run(started(phase()))
    return streams


def read(home: Path) -> dict[str, Any]:
    state = StateFile(home).read()
    assert state is not None
    return state


def test_the_last_checkpoint_moves_while_nothing_is_written_down(tmp_path: Path) -> None:
    """STATE-11: and nothing else of the state does."""
    streams, until = begun(tmp_path), time.monotonic() + PATIENCE_S
    before = read(tmp_path)
    with beating(streams, TickingClock(start="2031-01-01T00:00:00.000Z"), every_s=0.01):
        while read(tmp_path) == before and time.monotonic() < until:
            time.sleep(0.01)
    after = read(tmp_path)
    assert after["_meta"].pop("last_checkpoint") > "2031" > before["_meta"].pop("last_checkpoint")
    assert after == before


def test_a_beat_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    streams = begun(tmp_path / "home")
    (tmp_path / "home").rename(tmp_path / "away")
    (tmp_path / "home").write_text("no folder")
    with beating(streams, TickingClock(), every_s=0.01):
        time.sleep(0.1)
    with pytest.raises(StorageFailed):
        streams.beat("")


def test_no_heart_beats_behind_the_end(tmp_path: Path) -> None:
    streams = begun(tmp_path)
    with beating(streams, TickingClock(start="2031-01-01T00:00:00.000Z"), every_s=0.01):
        pass
    last = read(tmp_path)
    time.sleep(0.05)
    assert read(tmp_path) == last
