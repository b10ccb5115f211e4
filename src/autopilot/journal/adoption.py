"""Binds a journal to the user's key and to the place it is in now, after the user has said that it is theirs."""

import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path

from autopilot.authority.seal import Seal, known_seal, seal_of
from autopilot.domain.value import Value
from autopilot.files.home_files import secure_database
from autopilot.history.record import RunRecord
from autopilot.journal import rows
from autopilot.journal import storage_errors as failures
from autopilot.journal.chain import Chain, Tip, chain_of
from autopilot.journal.head import HeadFile, head_path, newest, read_slots
from autopilot.journal.rows import Bound
from autopilot.journal.sqlite import for_reading, no_run, project_of
from autopilot.journal.storage_errors import translated


class Found(Value, frozen=True, kw_only=True):
    """A journal as its user is asked about it. `doubt` says why its end cannot be checked; empty where it can."""

    bound: Bound
    entries: int
    runs: tuple[RunRecord, ...]
    doubt: str = ""

    @property
    def own(self) -> bool:
        """There is nothing to ask: it is bound to this user and this place already."""
        return not self.bound.strange and not self.doubt


def look_over(path: Path) -> Found:
    """
    Everything in it, in order and without gaps. Raises `Changed` where an entry was changed or lost.

    Entries of a key that is not the user's cannot be checked: they are as someone says they are.
    """
    with translated(path):
        if not path.is_file():
            raise no_run(path)
        seal = known_seal(project_of(path))
        slots = read_slots(head_path(path))
        with closing(for_reading(path)) as db:
            bound, chain, tip = _checked(db, path, seal)
            head = newest(slots, chain if bound.known else None)
            doubt = "" if head else "its HEAD file is missing or unreadable"
            if head and head.alone and head.tip.seq == tip.seq:
                doubt = "one half of its HEAD file is unreadable"
            last = newest(slots, None)
            if last and last.tip.seq > tip.seq:
                raise failures.changed(path, f"entries lost (HEAD names entry {last.tip.seq})")
            names = [stream for stream in rows.read_streams(db) if "/" not in stream]
            runs = tuple(RunRecord(entries=rows.read_stream(db, path, chain, name)) for name in names)
            return Found(bound=bound, entries=tip.seq, runs=runs, doubt=doubt)


def adopt(path: Path) -> int:
    """
    Every entry is chained again under the user's key, as it is; how many there are. Nothing else may use the journal.

    HEAD comes first: cut off between the two, the journal is still what it was, and can be adopted again.
    """
    with translated(path), ExitStack() as undo:
        seal = seal_of(project_of(path))
        secure_database(path)
        db = undo.enter_context(closing(sqlite3.connect(path, isolation_level=None)))
        for setting in ("pragma trusted_schema = off", "pragma synchronous = full", "pragma fullfsync = on"):
            db.execute(setting)
        db.execute("begin immediate")
        _checked(db, path, seal)
        tips, chain = [Tip()], chain_of(seal)
        for *fields, _ in db.execute(rows.WALK).fetchall():
            tips.append(Tip(seq=tips[-1].seq + 1, hash=chain.link(tips[-1].hash, fields)))
        db.executemany("update entries set hash = ? where seq = ?", ((tip.hash, tip.seq) for tip in tips[1:]))
        rows.bind(db, seal)
        with HeadFile(head_path(path), chain) as head:
            head.lay(tips[-1], tips[-2] if len(tips) > 1 else Tip())
        db.execute("commit")
        return tips[-1].seq


def _checked(db: sqlite3.Connection, path: Path, seal: Seal | None) -> tuple[Bound, Chain, Tip]:
    version = rows.checked_version(db, path)
    if not version:
        raise no_run(path)
    bound, chain = rows.bound_to(db, version, seal)
    if bound.place is None:
        raise failures.not_theirs(path, bound.strange, adoptable=False)
    return bound, chain, rows.walk(db, path, chain)[0]
