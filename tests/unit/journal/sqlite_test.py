"""The journal on disk: nothing lost, nothing changed unnoticed, trouble told in three parts."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autopilot.domain.errors import AutopilotError, StorageFailed
from autopilot.domain.events import Entry, Noted, RunStopped
from autopilot.journal.clock import FixedClock
from autopilot.journal.rows import MIGRATIONS
from autopilot.journal.sqlite import SqliteJournal
from unit.journal.event_examples import samples

RUN = "run-2026-01-01-120000"


def opened(folder: Path) -> SqliteJournal:
    return SqliteJournal(folder / "journal.db", FixedClock(), patience_s=0.05)


def filled(folder: Path) -> dict[str, tuple[Entry, ...]]:
    """A journal of two streams, closed; what it holds."""
    with opened(folder) as journal:
        for number, event in enumerate(samples()):
            journal.append(RUN, number, event)
            journal.append(f"{RUN}/1", number, event)
        return {stream: journal.load(stream) for stream in journal.streams()}


def change(folder: Path, statement: str) -> None:
    db = sqlite3.connect(folder / "journal.db")
    db.execute(statement)
    db.commit()
    db.close()


def test_a_reopened_journal_holds_what_was_appended(tmp_path: Path) -> None:
    held = filled(tmp_path)

    with opened(tmp_path) as journal:
        assert {stream: journal.load(stream) for stream in journal.streams()} == held
        assert journal.verify() == 10
        journal.append(RUN, 5, samples()[0])
    with opened(tmp_path) as journal:
        assert len(journal.load(RUN)) == 6


def test_all_streams_of_a_run_are_read_at_once_and_no_other_run_s(tmp_path: Path) -> None:
    held = filled(tmp_path)
    with opened(tmp_path) as journal:
        journal.append(f"{RUN}-2", 0, samples()[0])
        journal.append(f"{RUN}-2/1", 0, samples()[0])

    assert SqliteJournal.read_only(tmp_path / "journal.db").load_run(RUN) == held


@pytest.mark.parametrize(
    ("statement", "told"),
    [("update entries set body = replace(body, 'a', 'b') where seq = 4", "was changed"), ("delete from entries where seq = 4", "entries lost")],
    ids=["changed", "lost"],
)  # fmt: skip
def test_a_run_read_at_once_is_checked_like_any_other(tmp_path: Path, statement: str, told: str) -> None:
    filled(tmp_path)
    change(tmp_path, statement)

    with pytest.raises(StorageFailed, match=told):
        SqliteJournal.read_only(tmp_path / "journal.db").load_run(RUN)


def test_a_closed_journal_is_a_mistake_and_no_damage(tmp_path: Path) -> None:
    with opened(tmp_path) as journal:
        pass
    journal.close()

    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        journal.load(RUN)


def test_folders_are_made(tmp_path: Path) -> None:
    with opened(tmp_path / "a" / ".autopilot") as journal:
        assert journal.streams() == ()


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("update entries set body = replace(body, '2026', '2027') where seq = 1", "journal was changed"),
        ("update entries set at = 'yesterday' where seq = 4", "journal was changed"),
        ("update entries set stream = 'other', number = 0 where seq = 1", "journal was changed"),
        ("update entries set version = 0.5 where seq = 3", "journal was changed"),
        ("update entries set body = x'ff' where seq = 3", "journal was changed"),
        ("update entries set hash = 'x' where seq = 10", "journal was changed"),
        ("delete from entries where seq = 10", "entries lost"),
        ("delete from entries where seq = 5", "entries lost"),
        ("delete from entries where seq = 1", "entries lost"),
        ("delete from entries", "entries lost"),
        ("drop table entries", "is damaged"),
    ],
)
def test_tampering_is_noticed_on_opening(tmp_path: Path, statement: str, told: str) -> None:
    filled(tmp_path)
    change(tmp_path, statement)

    with pytest.raises(StorageFailed, match=told):
        opened(tmp_path)


def test_a_forged_last_entry_does_not_fit_the_head(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    forged = tmp_path / "forged"
    filled(mine)
    with opened(forged) as journal:
        for number in range(10):
            journal.append("forged", number, Noted(event="forged"))
    shutil.copy(forged / "journal.db", mine / "journal.db")

    with pytest.raises(StorageFailed, match="journal was changed"):
        opened(mine)


@pytest.mark.parametrize("size", [None, 0, 100], ids=["removed", "emptied", "cut"])
def test_a_lost_head_is_noticed(tmp_path: Path, size: int | None) -> None:
    filled(tmp_path)
    head = tmp_path / "journal.head"
    head.unlink() if size is None else os.truncate(head, size)

    with pytest.raises(StorageFailed, match="HEAD file is missing"):
        opened(tmp_path)


def spoil(folder: Path, slot: int) -> None:
    with (folder / "journal.head").open("r+b") as head:
        head.seek(4096 * slot + 30)
        head.write(b"torn")


def test_a_head_slot_that_was_cut_off_while_it_was_written_is_mended_from_the_journal(tmp_path: Path) -> None:
    held = filled(tmp_path)
    spoil(tmp_path, 0)

    with opened(tmp_path) as journal:
        assert journal.load(RUN) == held[RUN]
        journal.append(RUN, 5, samples()[0])
    with opened(tmp_path) as journal:
        assert journal.verify() == 11


def test_a_head_that_names_the_last_entry_alone_could_hide_a_later_one(tmp_path: Path) -> None:
    """Which of the two slots was spoilt cannot be told from the last entry being cut off together with its slot."""
    filled(tmp_path)
    spoil(tmp_path, 1)

    with pytest.raises(StorageFailed, match="HEAD file was changed"):
        opened(tmp_path)


def test_a_journal_ahead_of_its_head_is_taken_as_it_is(tmp_path: Path) -> None:
    """The power failed between the row and HEAD."""
    filled(tmp_path)
    old = (tmp_path / "journal.head").read_bytes()
    with opened(tmp_path) as journal:
        journal.append(RUN, 5, samples()[0])
        journal.append(RUN, 6, samples()[1])
    (tmp_path / "journal.head").write_bytes(old)

    with opened(tmp_path) as journal:
        assert len(journal.load(RUN)) == 7
    change(tmp_path, "delete from entries where seq = 12")
    with pytest.raises(StorageFailed, match="entries lost"):
        opened(tmp_path)


def test_an_old_copy_of_the_journal_is_noticed(tmp_path: Path) -> None:
    filled(tmp_path)
    shutil.copy(tmp_path / "journal.db", tmp_path / "old.db")
    with opened(tmp_path) as journal:
        journal.append(RUN, 5, samples()[0])
    shutil.move(tmp_path / "old.db", tmp_path / "journal.db")

    with pytest.raises(StorageFailed, match="entries lost"):
        opened(tmp_path)


def test_no_flipped_byte_gives_wrong_entries(tmp_path: Path) -> None:
    held = filled(tmp_path / "good")
    content = (tmp_path / "good" / "journal.db").read_bytes()
    used = [at for at, byte in enumerate(content) if byte] + list(range(100))
    outcomes = {"refused": 0, "read": 0}
    for at in sorted(set(used[:: max(1, len(used) // 220)])):
        folder = tmp_path / f"flip{at}"
        shutil.copytree(tmp_path / "good", folder)
        flipped = bytearray(content)
        flipped[at] ^= 0x41
        (folder / "journal.db").write_bytes(flipped)
        outcomes["refused" if not readable(folder, held) else "read"] += 1

    assert outcomes["refused"] > 100


def readable(folder: Path, held: dict[str, tuple[Entry, ...]]) -> bool:
    try:
        with opened(folder) as journal:
            assert {stream: journal.load(stream) for stream in held} == held
            journal.append(RUN, 5, samples()[0])
        with opened(folder) as journal:
            assert journal.load(RUN)[:5] == held[RUN]
    except AutopilotError as failed:
        return not (failed.why and failed.do)
    return True


def test_a_table_that_is_no_text_is_told(tmp_path: Path) -> None:
    filled(tmp_path)
    content = (tmp_path / "journal.db").read_bytes()
    (tmp_path / "journal.db").write_bytes(content.replace(b"not null", b"not nul\xec"))

    with pytest.raises(StorageFailed, match="tables cannot be read"):
        opened(tmp_path)


@pytest.mark.parametrize("size", [0, 1, 99, 100, 4096, 5000, 8192, 12000])
def test_a_cut_off_file_is_refused(tmp_path: Path, size: int) -> None:
    filled(tmp_path)
    assert (tmp_path / "journal.db").stat().st_size > size
    os.truncate(tmp_path / "journal.db", size)

    with pytest.raises(StorageFailed):
        opened(tmp_path)


def test_an_entry_still_in_the_wal_survives_a_crash(tmp_path: Path) -> None:
    held = filled(tmp_path / "a")
    with opened(tmp_path / "a") as journal:
        journal.append(RUN, 5, samples()[0])
        shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b" / "journal.db-wal").stat().st_size
    with opened(tmp_path / "b") as journal:
        assert journal.load(RUN)[:5] == held[RUN]
        assert len(journal.load(RUN)) == 6


@pytest.mark.parametrize("keep", [0, 32, 2000], ids=["gone", "header only", "half a page"])
def test_a_tail_lost_from_the_wal_is_noticed(tmp_path: Path, keep: int) -> None:
    filled(tmp_path / "a")
    with opened(tmp_path / "a") as journal:
        journal.append(RUN, 5, samples()[0])
        shutil.copytree(tmp_path / "a", tmp_path / "b")
    os.truncate(tmp_path / "b" / "journal.db-wal", keep)

    with pytest.raises(StorageFailed, match="entries lost"):
        opened(tmp_path / "b")


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "journal.db").write_bytes(b"# my notes\n" * 500)

    with pytest.raises(StorageFailed, match="not a journal"):
        opened(tmp_path)
    assert (tmp_path / "journal.db").read_bytes() == b"# my notes\n" * 500


def test_a_foreign_database_is_left_alone(tmp_path: Path) -> None:
    change(tmp_path, "create table notes (text)")

    with pytest.raises(StorageFailed, match="not a journal of Autopilot"):
        opened(tmp_path)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    filled(tmp_path)
    change(tmp_path, f"pragma user_version = {len(MIGRATIONS) + 1}")

    with pytest.raises(StorageFailed, match="newer Autopilot") as caught:
        opened(tmp_path)
    assert "Upgrade" in caught.value.do
    with pytest.raises(StorageFailed, match="newer Autopilot"):
        SqliteJournal.read_only(tmp_path / "journal.db")


def test_a_folder_in_its_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "journal.db").mkdir()

    with pytest.raises(StorageFailed, match="is not a plain file"):
        opened(tmp_path)


def test_a_file_in_the_folders_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")

    with pytest.raises(StorageFailed, match="taken"):
        opened(tmp_path / "taken")


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    held = filled(tmp_path)
    with opened(tmp_path) as journal:
        pages = journal._db.execute("pragma page_count").fetchone()[0]
        journal._db.execute(f"pragma max_page_count = {pages}")
        with pytest.raises(StorageFailed, match="disk is full"):
            journal.append(RUN, 5, Noted(event="noted", details={"text": "x" * 100_000}))
        journal._db.execute("pragma max_page_count = 100000")
        journal.append(RUN, 5, samples()[0])

    with opened(tmp_path) as journal:
        assert journal.load(RUN)[:5] == held[RUN]
        assert len(journal.load(RUN)) == 6


def test_a_write_that_is_refused_is_told(tmp_path: Path) -> None:
    with opened(tmp_path) as journal:
        journal._db.execute("pragma query_only = on")
        with pytest.raises(StorageFailed, match="read-only"):
            journal.append(RUN, 0, samples()[0])


def test_a_locked_journal_is_told(tmp_path: Path) -> None:
    with opened(tmp_path) as journal:
        other = sqlite3.connect(tmp_path / "journal.db", isolation_level=None)
        other.execute("begin immediate")
        with pytest.raises(StorageFailed, match="another process is writing"):
            journal.append(RUN, 0, samples()[0])
        other.execute("rollback")
        other.close()
        journal.append(RUN, 0, samples()[0])


def test_of_two_writers_one_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as one, opened(tmp_path) as two:
        one.append(RUN, 0, samples()[0])
        with pytest.raises(StorageFailed, match="another process wrote"):
            two.append(RUN, 0, samples()[1])
        with pytest.raises(StorageFailed, match="another process wrote"):
            two.verify()
        assert len(one.load(RUN)) == 1


@pytest.mark.parametrize(
    "rewrite",
    [
        "delete from entries where seq = 10",
        "update entries set body = '{}' where seq = 9",
    ],
)
def test_verify_finds_what_happened_after_opening(tmp_path: Path, rewrite: str) -> None:
    filled(tmp_path)
    with opened(tmp_path) as journal:
        change(tmp_path, rewrite)
        with pytest.raises(StorageFailed, match="is damaged"):
            journal.verify()
        with pytest.raises(StorageFailed, match="is damaged"):
            journal.load(RUN if "9" in rewrite else f"{RUN}/1")


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_reader_creates_nothing(tmp_path: Path) -> None:
    held = filled(tmp_path)
    before = listing(tmp_path)
    reader = SqliteJournal.read_only(tmp_path / "journal.db")

    assert {stream: reader.load(stream) for stream in reader.streams()} == held
    assert reader.verify() == 10
    assert listing(tmp_path) == before


def test_a_reader_without_a_journal_says_so_and_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="No run found"):
        SqliteJournal.read_only(tmp_path / ".autopilot" / "journal.db")
    assert listing(tmp_path) == {}


def test_a_reader_of_a_journal_just_being_made_finds_no_run(tmp_path: Path) -> None:
    (tmp_path / "journal.db").touch()

    with pytest.raises(StorageFailed, match="No run found"):
        SqliteJournal.read_only(tmp_path / "journal.db")


def test_a_reader_notices_an_emptied_journal(tmp_path: Path) -> None:
    filled(tmp_path)
    os.truncate(tmp_path / "journal.db", 0)

    with pytest.raises(StorageFailed, match="is damaged"):
        SqliteJournal.read_only(tmp_path / "journal.db")


def test_a_reader_sees_each_entry_as_soon_as_it_is_written(tmp_path: Path) -> None:
    with opened(tmp_path) as journal:
        reader = SqliteJournal.read_only(tmp_path / "journal.db")
        assert reader.load(RUN) == ()
        for number in range(3):
            journal.append(RUN, number, samples()[number])
            assert len(reader.load(RUN)) == number + 1
    assert len(reader.load(RUN)) == 3


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    filled(tmp_path)

    with pytest.raises(StorageFailed, match="reading only"):
        SqliteJournal.read_only(tmp_path / "journal.db").append(RUN, 5, samples()[0])


@pytest.mark.parametrize(
    "harm",
    [
        lambda folder: change(folder, "delete from entries where seq = 10"),
        lambda folder: change(folder, "update entries set body = '{}' where seq = 9"),
        lambda folder: change(folder, "delete from entries where seq = 7"),
        lambda folder: (folder / "journal.head").unlink(),
        lambda folder: os.truncate(folder / "journal.db", 5000),
    ],
    ids=["last entry gone", "entry changed", "entry gone", "head gone", "cut off"],
)
def test_a_reader_notices_damage(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    filled(tmp_path)
    harm(tmp_path)

    with pytest.raises(StorageFailed):
        SqliteJournal.read_only(tmp_path / "journal.db").load(RUN)


WRITER = """
import sys
from autopilot.domain.events import RunStopped
from autopilot.journal.clock import SystemClock
from autopilot.journal.sqlite import SqliteJournal
journal = SqliteJournal(sys.argv[1], SystemClock())
number = len(journal.load("run"))
while True:
    journal.append("run", number, RunStopped(exit_code=number, reason="r" * 500))
    sys.stdout.write(f"{number}\\n")
    sys.stdout.flush()
    number += 1
"""


def test_kill_at_any_instant_loses_no_entry_that_was_confirmed(tmp_path: Path) -> None:
    for kill in range(4):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "journal.db")], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        confirmed = [int(writer.stdout.readline()) for _ in range(10 + 7 * kill)]
        writer.send_signal(signal.SIGKILL)
        confirmed += [int(line) for line in writer.stdout.read().splitlines()]
        writer.stdout.close()
        writer.wait()
        with opened(tmp_path) as journal:
            kept = journal.load("run")
        assert [entry.event for entry in kept] == [RunStopped(exit_code=n, reason="r" * 500) for n in range(len(kept))]
        assert len(kept) > max(confirmed)
