"""Kill the run with SIGKILL behind any write; resumed, it ends as if nothing had happened, and nothing was done twice."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.events import AgentAnswered, PhaseStarted, StepFinished, stream_of
from autopilot.domain.request import RunRequest
from autopilot.domain.results import COMPLETION
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.journal.sqlite import SqliteJournal
from support.letters import Letters, WindingLetters
from support.repos import git

VICTIM = Path(__file__).parent / "victim.py"
# A whole run through every detour writes so many entries; the clean run below proves the number.
WRITES = 144
Line = list[tuple[str, str]]


@contextmanager
def new_place() -> Iterator[Path]:
    """A folder for one run and its clones; in memory where that is possible, since some hundred runs go through it."""
    memory = Path("/dev/shm")
    usable = memory.is_dir() and os.access(memory, os.W_OK)
    with tempfile.TemporaryDirectory(prefix="autopilot-crash-", dir=memory if usable else None) as folder:
        yield Path(folder)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with new_place() as folder:
        monkeypatch.setenv("AUTOPILOT_CACHE", str(folder / "cache"))
        yield folder


@pytest.fixture(scope="session")
def winding() -> Line:
    """The run nobody kills: what every other must look like in the end."""
    with new_place() as folder:
        letters = WindingLetters(folder)
        assert victim(letters, after=0, cache=folder / "cache").wait() == 0
        return letters.line()


def victim(letters: Letters, after: int, cache: Path) -> subprocess.Popen[bytes]:
    """`after` 0 kills at no journal write at all."""
    return subprocess.Popen(
        [sys.executable, str(VICTIM), str(letters.root), letters.agent, letters.phases, str(after)],
        env={**os.environ, "AUTOPILOT_CACHE": str(cache)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def finish(letters: Letters) -> int:
    """What a user types next: `autopilot resume`, or the same command again when it had not even begun."""
    try:
        return app.resume(str(letters.root), lambda *_: None, print).exit
    except UsageInvalid:
        request = RunRequest(folder=str(letters.root), phases=letters.phases, agent=letters.agent, sandbox="none")
        return app.start(request, lambda *_: None, print).exit


def records(letters: Letters) -> list[PhaseRecord]:
    path = letters.root / ".autopilot" / "journal.db"
    if not path.exists():
        return []
    journal = SqliteJournal.read_only(path)
    found = []
    for run in (s for s in journal.streams() if "/" not in s):
        record = RunRecord(entries=journal.load(run))
        for started in record.of(PhaseStarted):
            stream = stream_of(run, started.brief.phase.id, started.brief.number)
            found.append(PhaseRecord(start=record.start, brief=started.brief, entries=journal.load(stream)))
        if record.completing:
            entries = journal.load(stream_of(run, COMPLETION, 0))
            found.append(PhaseRecord(start=record.start, brief=record.completing, entries=entries))
    return found


def in_flight(letters: Letters) -> set[str]:
    """Calls of the step that was cut off and had no answer yet: the only ones that may be made a second time."""
    calls = set()
    for record in records(letters):
        step = record.open_step
        if step is not None:
            call = f"{record.phase.id}/{step.step}/{step.n}"
            answered = {e.event.call for e in record.entries if isinstance(e.event, AgentAnswered)}
            calls |= {call} if f"{record.start.run}/{call}" not in answered else set()
    return calls


def assert_whole(letters: Letters, line: Line, before: dict[str, object], may_repeat: set[str]) -> None:
    assert letters.line() == line
    assert letters.users_work() == before
    assert {call for call, times in letters.calls().items() if times > 1} <= may_repeat
    finished = [
        (r.brief.phase.id, e.event.step, e.event.n)
        for r in records(letters)
        for e in r.entries
        if isinstance(e.event, StepFinished)
    ]
    assert len(finished) == len(set(finished))
    assert git(letters.root, "fsck", "--no-dangling") == ""
    assert not list((letters.root / ".git").rglob("*.lock"))


@pytest.mark.slow
@pytest.mark.parametrize("write", range(1, WRITES + 1))
def test_death_right_after_any_journal_write_changes_nothing(place: Path, winding: Line, write: int) -> None:
    letters = WindingLetters(place)
    before = letters.users_work()
    assert victim(letters, after=write, cache=place / "cache").wait() == -signal.SIGKILL
    may_repeat = in_flight(letters)

    assert finish(letters) == 0
    assert_whole(letters, winding, before, may_repeat)


def test_a_clean_run_writes_as_often_as_it_is_killed_above(place: Path) -> None:
    letters = WindingLetters(place)
    assert victim(letters, after=WRITES + 1, cache=place / "cache").wait() == 0

    journal = SqliteJournal.read_only(letters.root / ".autopilot" / "journal.db")
    assert sum(len(journal.load(stream)) for stream in journal.streams()) == WRITES
    assert set(letters.calls().values()) == {1}
