"""A journal that another process writes, read along: everything once, in order, and nothing of it touched."""

import sqlite3
from pathlib import Path

import pytest

from autopilot.domain.errors import StorageFailed, UsageInvalid
from autopilot.domain.events import Noted, RunStopped
from autopilot.journal.clock import TickingClock
from autopilot.journal.lock import RunLock
from autopilot.journal.sqlite import SqliteJournal
from autopilot.state.picture import Picture
from autopilot.views.terminal.follow import Follower, history, named, newest
from autopilot.views.terminal.watch import left, watch
from support.recordings import feast
from support.runs import snapshot
from unit.views.samples import run_started

RUNS = ("run-2026-02-09-143052", "run-2026-02-10-080000", "run-2026-02-10-090000")


def written(home: Path, *runs: str) -> SqliteJournal:
    """A journal with those runs, each of one entry and one of its first phase, open for more."""
    journal = SqliteJournal(home / "journal.db", TickingClock())
    for run in runs:
        journal.append(run, 0, run_started())
        journal.append(f"{run}/1", 0, Noted(event="x"))
    return journal


def test_each_entry_is_told_once_and_in_the_order_it_was_written(tmp_path: Path) -> None:
    run, told, streams = feast()[0][0], [], dict[str, int]()
    follower = Follower(tmp_path, run)
    with SqliteJournal(tmp_path / "journal.db", TickingClock()) as journal:
        for number, (stream, entry) in enumerate(feast()[:40]):
            journal.append(stream, streams.get(stream, 0), entry.event)
            streams[stream] = streams.get(stream, 0) + 1
            told += list(follower.news()) if number % 7 == 0 else []
        told += list(follower.news())

    assert [(stream, entry.event) for stream, entry in told] == [(s, e.event) for s, e in feast()[:40]]
    assert list(follower.news()) == []


def test_only_the_run_itself_is_followed(tmp_path: Path) -> None:
    with written(tmp_path, "run-1", "run-10", "run-2"):
        assert [stream for stream, _ in Follower(tmp_path, "run-1").news()] == ["run-1", "run-1/1"]


def test_looking_changes_no_file(tmp_path: Path) -> None:
    written(tmp_path, *RUNS).close()
    before = snapshot(tmp_path)

    assert len(history(tmp_path, RUNS[0])) == 2
    assert named(tmp_path, "").run == RUNS[-1]
    assert snapshot(tmp_path) == before


def test_a_journal_that_was_changed_is_not_shown(tmp_path: Path) -> None:
    written(tmp_path, *RUNS).close()
    with sqlite3.connect(tmp_path / "journal.db") as db:
        db.execute("update entries set body = replace(body, 'main', 'evil') where seq = 3")
    db.close()

    with pytest.raises(StorageFailed, match="journal was changed"):
        list(Follower(tmp_path, RUNS[1]).news())
    assert history(tmp_path, RUNS[1]) == ()


@pytest.mark.parametrize(
    ("name", "run"),
    [("", RUNS[2]), (RUNS[0], RUNS[0]), ("0209", ""), ("02-09", RUNS[0]), ("02-10", ""), ("nothing", "")],
    ids=["none", "whole", "mistyped", "part", "part of two", "unknown"],
)
def test_a_run_is_found_by_any_part_of_its_name_that_no_other_has(name: str, run: str, tmp_path: Path) -> None:
    written(tmp_path, *RUNS).close()

    if run:
        assert named(tmp_path, name).run == run
    else:
        with pytest.raises(UsageInvalid) as refused:
            named(tmp_path, name)
        assert RUNS[2] in refused.value.do


def test_the_run_that_goes_on_comes_before_the_newest(tmp_path: Path) -> None:
    written(tmp_path, *RUNS).close()

    assert newest(tmp_path).run == RUNS[2]
    with RunLock(tmp_path, "run-2026-02-11-100000"):
        following = newest(tmp_path)
        assert (following.run, following.alive(), list(following.news())) == ("run-2026-02-11-100000", True, [])
    assert not following.alive()


def test_without_any_run_it_is_said_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageInvalid, match="No run found"):
        newest(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_ends_between_two_looks_is_not_called_interrupted(tmp_path: Path) -> None:
    """Its lock is free before its last entry is read."""
    journal, shown = written(tmp_path, RUNS[0]), list[Picture]()

    class Ending(Follower):
        def alive(self) -> bool:
            journal.append(RUNS[0], 1, RunStopped(exit_code=130, reason="a test"))
            return False

    with journal:
        last = watch(Ending(tmp_path, RUNS[0]), shown.append, lambda _: True)
    assert (last.state, shown) == ("paused", [last])


def test_a_run_nobody_works_on_is_left_where_it_was(tmp_path: Path) -> None:
    with written(tmp_path, RUNS[0]):
        last = watch(Follower(tmp_path, RUNS[0]), lambda _: None, lambda _: True)

    assert last.state == "interrupted"
    assert last == left(last)
