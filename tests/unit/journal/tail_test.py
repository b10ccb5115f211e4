"""Following a journal from outside: every entry once, in order, and never one that does not fit."""

import sqlite3
from pathlib import Path

import pytest

from autopilot.domain.errors import StorageFailed
from autopilot.domain.events import Noted
from autopilot.journal.clock import TickingClock
from autopilot.journal.sqlite import SqliteJournal, Tail


def noted(tail: Tail, most: int = 100) -> list[tuple[str, str]]:
    return [(stream, e.event.event) for stream, e in tail.news(most) if isinstance(e.event, Noted)]


def test_each_entry_of_every_stream_is_handed_out_once(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "journal.db")
    assert (tail.moved, noted(tail)) == (False, [])
    with SqliteJournal(tmp_path / "journal.db", TickingClock()) as journal:
        journal.append("run", 0, Noted(event="a"))
        journal.append("run/1", 0, Noted(event="b"))
        assert (tail.moved, noted(tail, 1), noted(tail)) == (True, [("run", "a")], [("run/1", "b")])
        assert (tail.moved, noted(tail)) == (False, [])
        journal.append("run", 1, Noted(event="c"))

    assert (tail.moved, noted(tail)) == (True, [("run", "c")])


@pytest.mark.parametrize(
    "change",
    ["update entries set body = replace(body, 'c', 'd') where seq = 3", "delete from entries where seq = 2",
     "update entries set hash = 'x' where seq = 1"],
    ids=["changed", "gap", "already-read"],
)  # fmt: skip
def test_what_was_tampered_with_is_not_shown(change: str, tmp_path: Path) -> None:
    tail = Tail(tmp_path / "journal.db")
    with SqliteJournal(tmp_path / "journal.db", TickingClock()) as journal:
        for number, name in enumerate("abc"):
            journal.append("run", number, Noted(event=name))
            if name == "a":
                noted(tail)
    with sqlite3.connect(tmp_path / "journal.db") as db:
        db.execute(change)
    db.close()

    with pytest.raises(StorageFailed, match=r"entries lost|changed"):
        tail.news()


def test_a_journal_that_is_gone_is_told(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "journal.db")
    with SqliteJournal(tmp_path / "journal.db", TickingClock()) as journal:
        journal.append("run", 0, Noted(event="a"))
    tail.news()
    for file in tmp_path.iterdir():
        file.unlink()

    assert tail.moved
    with pytest.raises(StorageFailed):
        tail.news()
