"""Stores the journal in an append-only, hash-chained SQLite file."""

import sqlite3
import threading
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Self

from autopilot.authority.seal import Seal, known_seal, seal_of
from autopilot.domain.errors import StorageFailed
from autopilot.domain.events import Entry, Event
from autopilot.domain.value import tag_of
from autopilot.files.home_files import require_database, secure_database
from autopilot.journal import rows
from autopilot.journal import storage_errors as failures
from autopilot.journal.chain import Chain, Tip, Unchecked
from autopilot.journal.codec import UPGRADES, decode, encode
from autopilot.journal.durable_files import flush_folder, make_folder
from autopilot.journal.head import HeadFile, head_path, newest, read_head, read_slots
from autopilot.journal.rows import Bound
from autopilot.journal.storage_errors import translated
from autopilot.ports.agents import Clock

_SETTINGS = (
    "pragma journal_mode = wal",
    "pragma synchronous = full",
    "pragma fullfsync = on",
    "pragma checkpoint_fullfsync = on",
    "pragma cell_size_check = on",
    "pragma trusted_schema = off",
    # In KiB: entries are appended and seldom read again.
    "pragma cache_size = -256",
)


class SqliteJournal:
    """
    Open for writing. The whole chain is checked on opening; threads may share one.

    A new one is bound to the user's key and to the project that the folder around it belongs to. One that is bound to
    anything else is refused with `NotTheirs`, and not touched.
    """

    def __init__(self, path: str | Path, clock: Clock, *, patience_s: float = 5.0) -> None:
        self._path, self._clock = Path(path), clock
        self._turn = threading.Lock()
        require_own(self._path)
        make_folder(self._path.parent)
        seal = seal_of(project_of(self._path))
        with translated(self._path), ExitStack() as undo:
            slots = read_slots(head_path(self._path))
            self._db = undo.enter_context(closing(_opened(self._path, patience_s, seal)))
            _check_pages(self._db, self._path)
            self._chain = _own_chain(self._db, self._path, seal)
            head = newest(slots, self._chain)
            self._tip, self._lengths = rows.walk(self._db, self._path, self._chain)
            rows.check_head(self._db, self._path, head)
            if head is None and (lost := newest(slots, None)) and lost.tip.seq:
                raise failures.changed(self._path, f"entries lost (HEAD names entry {lost.tip.seq})")
            self._head = undo.enter_context(HeadFile(head_path(self._path), self._chain))
            if head is None:
                self._head.lay()
            elif head.tip != self._tip:
                self._head.write(self._tip)
            self._closing = undo.pop_all()

    @staticmethod
    def read_only(path: str | Path) -> "ReadOnlyJournal":
        """The user's own, to read: creates nothing, and works while a run writes. Raises `NotTheirs` for another's."""
        return ReadOnlyJournal(path)

    @staticmethod
    def look(path: str | Path) -> "ReadOnlyJournal":
        """For views: also a journal of somebody else, about which `bound` says so. Nothing may be decided by it."""
        return ReadOnlyJournal(path, anyone=True)

    def load(self, stream: str) -> tuple[Entry, ...]:
        with self._turn, translated(self._path):
            entries = rows.read_stream(self._db, self._path, self._chain, stream)
        if len(entries) != self._lengths.get(stream, 0):
            raise failures.changed(self._path, f"entries lost (at the end of {stream!r})")
        return entries

    def append(self, stream: str, number: int, event: Event) -> Entry:
        """On disk when this returns. The entry holds what a later `load` will read, not what was handed in."""
        body, version = encode(event), len(UPGRADES)
        stored = decode(body, version, f"entry {number} of {stream!r}")
        with self._turn:
            if number != self._lengths.get(stream, 0):
                raise failures.number_taken(stream, number, self._lengths.get(stream, 0))
            fields = (self._tip.seq + 1, stream, number, at := self._clock.now(), version, body)
            tip = Tip(seq=self._tip.seq + 1, hash=self._chain.link(self._tip.hash, fields))
            entry = Entry(number=number, at=at, event=stored, hash=tip.hash)
            with translated(self._path):
                self._db.execute(rows.INSERT, (*fields, tip.hash))
            self._tip, self._lengths[stream] = tip, number + 1
            self._head.write(tip)
        return entry

    def streams(self) -> tuple[str, ...]:
        with self._turn, translated(self._path):
            return rows.read_streams(self._db)

    def verify(self) -> int:
        """Check every entry from the first against the chain and HEAD; how many there are."""
        with self._turn, translated(self._path):
            tip, _ = rows.walk(self._db, self._path, self._chain)
        if tip != self._tip:
            raise failures.changed(self._path, "entries lost" if tip.seq < self._tip.seq else "another process wrote")
        return tip.seq

    def close(self) -> None:
        with translated(self._path):
            self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ReadOnlyJournal:
    """Each question is answered from what is on disk at that moment, by a connection of its own."""

    def __init__(self, path: str | Path, *, anyone: bool = False) -> None:
        self._path = Path(path)
        self._turn, self._counted, self._lengths = threading.Lock(), Tip(), dict[str, int]()
        self._seal: Seal | None = None
        self._chain: Chain = Unchecked()
        self.bound = Bound()
        if self._path.is_file():
            self._seal = known_seal(project_of(self._path))
        with translated(self._path), closing(self._opened()):
            pass
        if self.bound.strange and not anyone:
            raise failures.not_theirs(self._path, self.bound.strange, adoptable=self.bound.place is not None)

    def load(self, stream: str) -> tuple[Entry, ...]:
        with translated(self._path), closing(self._opened()) as db:
            db.execute("begin")
            entries = rows.read_stream(db, self._path, self._chain, stream)
            if len(entries) != self._length(db, stream):
                raise failures.changed(self._path, f"entries lost (at the end of {stream!r})")
            return entries

    def load_run(self, run: str) -> dict[str, tuple[Entry, ...]]:
        """Every stream of the run by its name, as they were at one moment."""
        with translated(self._path), closing(self._opened()) as db:
            return rows.read_run(db, self._path, self._chain, run)

    def append(self, stream: str, number: int, event: Event) -> Entry:
        raise StorageFailed(
            f"Entry {number} of {stream!r} ({tag_of(event)}) was refused: the journal is open for reading only.",
            why="Views show what happened; they never add to it.",
            do="Report this as a bug.",
        )

    def streams(self) -> tuple[str, ...]:
        with translated(self._path), closing(self._opened()) as db:
            return rows.read_streams(db)

    def behind(self, tip: Tip, most: int) -> tuple[list[tuple[str, Entry]], Tip]:
        """Up to `most` entries of all streams behind the tip, in the order of the journal, and the tip after them."""
        with translated(self._path), closing(self._opened()) as db:
            return rows.read_behind(db, self._path, self._chain, tip, most)

    def since(self, run: str, seq: int) -> tuple[tuple[int, str, Entry], ...]:
        """What was written of the run behind that number of the chain: number, stream and entry of each, in order."""
        with translated(self._path), closing(self._opened()) as db:
            return rows.read_since(db, self._path, self._chain, run, seq)

    def verify(self) -> int:
        """Check every entry from the first against the chain and HEAD; how many there are."""
        with translated(self._path), closing(self._opened()) as db:
            return rows.walk(db, self._path, self._chain)[0].seq

    def _length(self, db: sqlite3.Connection, stream: str) -> int:
        """A damaged index could hide the end of a stream. Each entry is counted once in the life of a reader."""
        with self._turn:
            tip = rows.tip_of(db)
            if tip.seq < self._counted.seq:  # another thread has seen a later one
                return rows.lengths_behind(db, 0).get(stream, 0)
            for name, more in rows.lengths_behind(db, self._counted.seq).items():
                self._lengths[name] = self._lengths.get(name, 0) + more
            self._counted = tip
            return self._lengths.get(stream, 0)

    def _opened(self) -> sqlite3.Connection:
        if not self._path.is_file():
            raise no_run(self._path)
        slots = read_slots(head_path(self._path))
        with ExitStack() as undo:
            db = undo.enter_context(closing(for_reading(self._path)))
            version = rows.checked_version(db, self._path)
            if not version and {slot.tip for slot in slots} <= {Tip()}:
                raise no_run(self._path)
            if not version:
                raise failures.changed(self._path, "entries lost")
            self.bound, self._chain = rows.bound_to(db, version, self._seal)
            rows.check_head(db, self._path, newest(slots, self._chain if self.bound.known else None))
            undo.pop_all()
        return db


def project_of(journal: Path) -> Path:
    """The folder whose `.autopilot` the journal is in."""
    return journal.absolute().parent.parent


def require_own(path: Path) -> None:
    """Raises `NotTheirs` for a journal that is not the user's, before anything opens it for writing."""
    if path.is_file() and path.stat().st_size:
        with translated(path), closing(for_reading(path)) as db:
            version = rows.checked_version(db, path)
            if version:
                _own_chain(db, path, known_seal(project_of(path)), version)


def _own_chain(db: sqlite3.Connection, path: Path, seal: Seal | None, version: int = rows.BOUND) -> Chain:
    bound, chain = rows.bound_to(db, version, seal)
    if bound.strange:
        raise failures.not_theirs(path, bound.strange, adoptable=bound.place is not None)
    return chain


def for_reading(path: Path) -> sqlite3.Connection:
    require_database(path)
    # A reader of a closed WAL file would leave a -wal and a -shm behind; without a -wal nobody is writing.
    writing = path.with_name(f"{path.name}-wal").exists()
    uri = f"{path.absolute().as_uri()}?{'mode=ro' if writing else 'mode=ro&immutable=1'}"
    db = sqlite3.connect(uri, uri=True, isolation_level=None)
    db.execute("pragma trusted_schema = off")
    return db


class NoRun(StorageFailed):
    """There is no journal, or one that was only just being made."""


def no_run(path: Path) -> NoRun:
    return NoRun(
        "No run found.",
        why=f"There is no journal at {str(path)!r}, or it is empty.",
        do="Start a run with `autopilot run`.",
    )


def _opened(path: Path, patience_s: float, seal: Seal) -> sqlite3.Connection:
    fresh = not path.exists()
    secure_database(path)
    with ExitStack() as undo:
        # The journal's own lock lets one thread in at a time.
        db = sqlite3.connect(path, timeout=patience_s, isolation_level=None, check_same_thread=False)
        undo.callback(db.close)
        for setting in _SETTINGS:
            db.execute(setting)
        rows.migrate(db, path, seal)
        if fresh:
            flush_folder(path.parent)
        undo.pop_all()
    return db


def _check_pages(db: sqlite3.Connection, path: Path) -> None:
    """A damaged list of free pages would let the next entry overwrite an old one."""
    found = db.execute("pragma quick_check(1)").fetchone()[0]
    if found != "ok":
        raise failures.damaged(path, "its pages do not fit together")


MOST = 2_000


class Tail:
    """
    Hands out every entry once, in the order of the journal, each checked against the one before it.

    `strange` says why the journal is not the user's own, and so could not be checked; empty where it is.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._tip = path, Tip()
        self.strange = ""

    @property
    def moved(self) -> bool:
        """Whether there may be something new: one small file is read, the journal is not opened."""
        return (read_head(head_path(self._path)) or Tip()) != self._tip

    def news(self, most: int = MOST) -> list[tuple[str, Entry]]:
        """What came since the last call, up to `most`. Raises `StorageFailed` for a journal that is not the same."""
        if self._tip == Tip() and not self._path.exists():
            return []
        journal = SqliteJournal.look(self._path)
        self.strange = journal.bound.strange
        found, self._tip = journal.behind(self._tip, most)
        return found
