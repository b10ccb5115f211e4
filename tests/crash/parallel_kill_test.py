"""Kill a run that works on three phases at a time, anywhere; resumed, every phase goes on from its own last step."""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from autopilot.domain.events import AgentAnswered, PhaseMerged, StepFinished
from autopilot.journal.sqlite import SqliteJournal
from support.letters import MeetingLetters
from support.repos import git
from support.runs import Drive

VICTIM = Path(__file__).parent / "victim.py"
MEMORY = Path("/dev/shm")


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    usable = MEMORY.is_dir() and os.access(MEMORY, os.W_OK)
    with tempfile.TemporaryDirectory(prefix="autopilot-crash-", dir=MEMORY if usable else None) as folder:
        monkeypatch.setenv("AUTOPILOT_CACHE", f"{folder}/cache")
        yield Path(folder)


@pytest.mark.parametrize("after", [25, 60, 88, 94, 100])
def test_a_kill_behind_any_write_changes_nothing(place: Path, after: int) -> None:
    letters = MeetingLetters(place)
    mine = letters.users_work()
    words = [str(letters.root), letters.agent, "all", str(after), "3"]
    subprocess.run([sys.executable, str(VICTIM), *words], stdout=subprocess.DEVNULL, check=False)

    drive = Drive(letters.root)
    assert drive.resume().exit == 0

    journal = SqliteJournal.read_only(letters.root / ".autopilot" / "journal.db")
    entries = [(stream, entry.event) for stream in journal.streams() for entry in journal.load(stream)]
    done = Counter((stream, e.step, e.n) for stream, e in entries if isinstance(e, StepFinished))
    answered = Counter((stream, e.call) for stream, e in entries if isinstance(e, AgentAnswered))
    assert max(done.values()) == max(answered.values()) == 1
    assert sorted(e.phase for _, e in entries if isinstance(e, PhaseMerged)) == ["1", "2", "3"]
    assert [git(letters.root, "show", f"HEAD:letter{n}.txt") for n in "123"] == [f"done {n}" for n in "123"]
    assert letters.users_work() == mine
