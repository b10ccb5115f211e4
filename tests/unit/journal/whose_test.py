"""Whose journal it is: bound to a key and a place, read by anyone, written by its user alone."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.authority.seal import Place, place_of
from autopilot.authority.user_folder import UserFolder
from autopilot.domain.errors import AutopilotError, ConsentMissing
from autopilot.domain.events import Noted
from autopilot.journal.chain import GENESIS, Chain, Tip
from autopilot.journal.clock import FixedClock
from autopilot.journal.head import SLOT_BYTES, HeadFile
from autopilot.journal.sqlite import SqliteJournal
from support.repos import git, make_repo

RUN = "run-2026-01-01-120000"


def filled(root: Path, entries: int = 5) -> Path:
    path = root / ".autopilot" / "journal.db"
    with SqliteJournal(path, FixedClock()) as journal:
        for number in range(entries):
            journal.append(RUN, number, Noted(event=f"entry {number}"))
    return path


def listing(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(path: Path) -> AutopilotError:
    """By who writes and by who decides; nothing is changed by either."""
    before = listing(path.parent)
    with pytest.raises(AutopilotError) as reading:
        [SqliteJournal.read_only(path).load(RUN), SqliteJournal.read_only(path).verify()]
    assert listing(path.parent) == before
    with pytest.raises(AutopilotError) as writing:
        SqliteJournal(path, FixedClock())
    assert {name: content for name, content in listing(path.parent).items() if name in before} == before
    assert (reading.value.exit_code, writing.value.exit_code) == (5, 5)
    return writing.value


def looked_at(path: Path) -> tuple[str, int]:
    journal = SqliteJournal.look(path)
    return journal.bound.strange, len(journal.load(RUN))


@pytest.fixture
def another_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    return lambda: monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))


def test_a_journal_is_its_user_s(tmp_path: Path) -> None:
    path = filled(tmp_path)

    assert looked_at(path) == ("", 5)
    assert SqliteJournal.read_only(path).bound.place == place_of(tmp_path)


def test_one_of_another_user_can_be_looked_at_and_no_more(tmp_path: Path, another_user: Callable[[], None]) -> None:
    path = filled(tmp_path / "project")
    another_user()
    assert looked_at(path) == ("it was not written with your key", 5)
    assert not (tmp_path / "another").exists()

    UserFolder().key()
    assert "not written with your key" in refused(path).what
    assert looked_at(path) == ("it was not written with your key", 5)


def test_one_that_was_moved_says_where_it_is_from(tmp_path: Path) -> None:
    filled(tmp_path / "there")
    shutil.copytree(tmp_path / "there", tmp_path / "here")

    error = refused(tmp_path / "here" / ".autopilot" / "journal.db")
    assert f"written for {tmp_path / 'there'}" in error.what
    assert "autopilot adopt" in error.do


def test_a_project_reached_by_a_link_is_the_same(tmp_path: Path) -> None:
    filled(tmp_path / "project")
    (tmp_path / "link").symlink_to("project")

    assert looked_at(tmp_path / "link" / ".autopilot" / "journal.db") == ("", 5)


def test_another_repository_in_the_same_place_is_another(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "project", {"a": "1"})
    path = filled(root)
    (root / ".git").rename(tmp_path / "kept")
    git(root, "init", "-q")

    assert "another git repository" in refused(path).what


def test_worktrees_of_a_repository_share_their_git_folder(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "project", {"a/b": "1"})
    git(root, "worktree", "add", "-q", str(tmp_path / "other"))

    own, other = place_of(root / "a"), place_of(tmp_path / "other")
    assert own.inode == other.inode == (root / ".git").stat().st_ino


def plain(path: Path) -> None:
    """As journals were before: chained without a key."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        previous = GENESIS
        for *fields, _ in db.execute("select * from entries order by seq").fetchall():
            previous = sha256(msgspec.json.encode([previous, *fields])).hexdigest()
            db.execute("update entries set hash = ? where seq = ?", (previous, fields[0]))
        db.execute("drop table binding")
        db.execute("pragma user_version = 1")
    path.with_suffix(".head").unlink()
    with HeadFile(path.with_suffix(".head"), Chain(b"")) as head:
        head.lay(Tip(seq=5, hash=previous), Tip(seq=4, hash="0" * 64))


def test_one_without_a_key_is_refused_and_says_why(tmp_path: Path) -> None:
    path = filled(tmp_path)
    plain(path)

    error = refused(path)
    assert isinstance(error, ConsentMissing)
    assert "did not bind journals" in error.what
    assert "adopt" not in error.do
    assert looked_at(path)[1] == 5


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()


def chained_anew(path: Path, key: bytes) -> None:
    """What someone without the key can do best: everything fits together, under a key of theirs."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        chain, tips = Chain(key, db.execute("select hash from binding").fetchone()[0]), [Tip()]
        for *fields, _ in db.execute("select * from entries order by seq").fetchall():
            tips.append(Tip(seq=fields[0], hash=chain.link(tips[-1].hash, fields)))
            db.execute("update entries set hash = ? where seq = ?", (tips[-1].hash, fields[0]))
    with HeadFile(path.with_suffix(".head"), chain) as head:
        head.lay(tips[-1], tips[-2])


CHANGED = "update entries set body = replace(body, 'entry 2', 'entry 9') where seq = 3"
APPENDED = "insert into entries select seq + 1, stream, number + 1, at, version, body, hash from entries where seq = 5"
CUT = "delete from entries where seq = 5"


@pytest.mark.parametrize("statement", [CHANGED, APPENDED, CUT], ids=["changed", "appended", "cut"])
@pytest.mark.parametrize("anew", [False, True], ids=["as it was", "chained anew"])
def test_a_row_changed_appended_or_cut_is_refused(tmp_path: Path, statement: str, anew: bool) -> None:
    path = filled(tmp_path)
    change(path, statement)
    if anew:
        chained_anew(path, b"guessed")

    assert refused(path).exit_code == 5


def test_the_last_row_cut_with_its_slot_of_the_head_is_refused(tmp_path: Path) -> None:
    """The slot before it still names the row before it, as its writer wrote it."""
    path = filled(tmp_path)
    head = path.with_suffix(".head")
    content = head.read_bytes()
    change(path, CUT)
    for spare in (bytes(SLOT_BYTES), content[:SLOT_BYTES]):
        head.write_bytes(content[:SLOT_BYTES] + spare)

        assert "HEAD file was changed" in refused(path).what


def test_rows_of_one_journal_are_none_of_another_s(tmp_path: Path) -> None:
    """Both under the user's own key: each is bound to its place."""
    one, two = filled(tmp_path / "one"), filled(tmp_path / "two")
    with closing(sqlite3.connect(one)) as db:
        db.execute("attach ? as other", (str(two),))
        db.execute("delete from entries")
        db.execute("insert into entries select * from other.entries")
        db.commit()
    shutil.copy(two.with_suffix(".head"), one.with_suffix(".head"))

    assert refused(one).exit_code == 5


PLACES = st.builds(Place, root=st.sampled_from("ab"), inode=st.integers(0, 1), user=st.integers(0, 1))


@given(PLACES, PLACES)
def test_places_differ_by_all_of_them(one: Place, two: Place) -> None:
    assert (one.difference(two) == "") == (one == two)


def test_a_head_of_another_place_without_its_entries_is_no_empty_journal(tmp_path: Path) -> None:
    """Moved, and the entries were lost on the way: nothing new is begun over them."""
    path = filled(tmp_path / "there")
    shutil.copytree(tmp_path / "there", tmp_path / "here")
    (tmp_path / "here" / ".autopilot" / "journal.db").unlink()

    with pytest.raises(AutopilotError, match="entries lost"):
        SqliteJournal(tmp_path / "here" / ".autopilot" / "journal.db", FixedClock())
    assert looked_at(path) == ("", 5)
