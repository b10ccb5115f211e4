"""What any released version left opens and goes on; what a newer one left is refused, and says so."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from autopilot import __version__
from autopilot.app import prepare as app
from autopilot.authority.seal import seal_of
from autopilot.domain.errors import AutopilotError, RepositoryInvalid, StorageFailed
from autopilot.domain.events import Entry, RunResumed, StepFinished
from autopilot.domain.request import Resumption, RunEnd
from autopilot.journal.chain import GENESIS, Tip, chain_of
from autopilot.journal.codec import UPGRADES
from autopilot.journal.head import HeadFile
from autopilot.journal.rows import MIGRATIONS
from autopilot.journal.sqlite import SqliteJournal
from autopilot.journal.state_file import StateFile
from support.faults import record
from support.repos import git
from support.runs import playground
from support.upgrades import thaw, versions


@pytest.fixture
def place() -> Iterator[Path]:
    with playground() as folder:
        yield folder


def gone_on(root: Path, heard: list[Entry]) -> RunEnd:
    changes = Resumption(agent=f"scripted:{root}.toml", sandbox="none")
    return app.resume(str(root), lambda _, entry: heard.append(entry), lambda _: None, changes)


def entries(root: Path) -> list[tuple[str, Entry]]:
    journal = SqliteJournal.read_only(root / ".autopilot" / "journal.db")
    return [(stream, entry) for stream in journal.streams() for entry in journal.load(stream)]


def test_the_version_of_today_is_among_the_frozen_ones() -> None:
    """`python tests/support/upgrades.py` freezes a run of it; a frozen one is never made again."""
    assert __version__ in versions()


@pytest.mark.parametrize("version", versions())
def test_a_run_that_an_earlier_version_began_goes_on_to_its_end(place: Path, version: str) -> None:
    """In another folder than it began in: a repository may be moved."""
    root, heard = thaw(version, place), list[Entry]()
    before = [(stream, e.event.step) for stream, e in entries(root) if isinstance(e.event, StepFinished)]

    assert StateFile(root / ".autopilot").read() is not None
    assert gone_on(root, heard).exit == 0
    steps = [(stream, e.event.step) for stream, e in entries(root) if isinstance(e.event, StepFinished)]
    assert steps[: len(before)] == before
    assert isinstance(heard[0].event, RunResumed)
    assert [git(root, "show", f"HEAD:letter{n}.txt") for n in "12"] == ["done 1", "done 2"]
    record(f"upgrade from {version}", entries=len(entries(root)))


def make_newer(root: Path, what: str) -> None:
    home = root / ".autopilot"
    if what == "state":
        state = msgspec.json.decode((home / "state.json").read_bytes())
        state.pop("crc32", None)
        state["_meta"]["version"] = "7.0"
        (home / "state.json").write_bytes(msgspec.json.encode(state))
        return
    db = sqlite3.connect(home / "journal.db", isolation_level=None)
    if what == "table":
        db.execute(f"pragma user_version = {len(MIGRATIONS) + 1}")
    else:
        seq, hashed = db.execute("select max(seq), hash from entries").fetchone()
        body = '{"kind": "Forwarded"}' if what == "event" else "{}"
        row = (seq + 1, "run-2030-01-01-000000", 0, "2030-01-01T00:00:00.000Z", len(UPGRADES) + (what == "row"), body)
        chain = chain_of(seal_of(root))
        tip = Tip(seq=seq + 1, hash=chain.link(hashed or GENESIS, row))
        db.execute("insert into entries values (?, ?, ?, ?, ?, ?, ?)", (*row, tip.hash))
        with HeadFile(home / "journal.head", chain) as head:
            head.write(tip)
    db.close()


@pytest.mark.parametrize(
    ("what", "told", "kind"),
    [
        ("table", "newer Autopilot", StorageFailed),
        ("row", "knows formats up to", StorageFailed),
        ("event", "cannot be read", StorageFailed),
        ("state", "newer Autopilot", RepositoryInvalid),
    ],
)
def test_what_a_newer_version_left_is_refused_and_left_as_it_is(
    place: Path, what: str, told: str, kind: type[AutopilotError]
) -> None:
    """Exit code 2, and the user is told to upgrade."""
    root = thaw(__version__, place)
    make_newer(root, what)
    before = {path: path.read_bytes() for path in (root / ".autopilot").glob("*.*") if path.is_file()}

    with pytest.raises(kind, match=told) as caught:
        gone_on(root, [])
    assert caught.value.exit_code == 2
    assert "pgrade" in caught.value.do or "version of Autopilot" in caught.value.do
    assert {path: path.read_bytes() for path in before} == before
