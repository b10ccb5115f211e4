"""The journal's table: its migrations, and reading from it with every row checked against the chain."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autopilot.domain.errors import StorageFailed
from autopilot.domain.events import Entry
from autopilot.journal import failures
from autopilot.journal.chain import GENESIS, ChainBroken, Tip, follow, link
from autopilot.journal.codec import decode

# Append only: a released statement is never edited. The tuple's length is the file's user_version.
MIGRATIONS: tuple[str, ...] = (
    """
    create table entries (
        seq     integer primary key,
        stream  text    not null,
        number  integer not null,
        at      text    not null,
        version integer not null,
        body    text    not null,
        hash    text    not null,
        unique (stream, number)
    )
    """,
)

INSERT = "insert into entries (seq, stream, number, at, version, body, hash) values (?, ?, ?, ?, ?, ?, ?)"
_WALK = "select seq, stream, number, at, version, body, hash from entries order by seq"
_STREAM = """
    select seq, stream, number, at, version, body, hash, (select p.hash from entries p where p.seq = e.seq - 1)
    from entries e where stream = ? order by number
"""
_BEHIND = """
    select seq, stream, number, at, version, body, hash from entries where seq > ? order by seq limit ?
"""
# A run's own stream and those of its phases: "/" is the letter before "0".
_SINCE = """
    select seq, stream, number, at, version, body, hash, (select p.hash from entries p where p.seq = e.seq - 1)
    from entries e not indexed where seq > ? and (stream = ? or (stream >= ? || '/' and stream < ? || '0')) order by seq
"""
_RUN = """
    select seq, stream, number, at, version, body, hash, (select p.hash from entries p where p.seq = e.seq - 1)
    from entries e not indexed where stream = ?1 or (stream > ?1 || '/' and stream < ?1 || '0') order by seq
"""
_LENGTHS = "select stream, count(*) from entries not indexed where seq > ? group by stream"
_TIP = "select seq, hash from entries order by seq desc limit 1"
_STREAMS = "select stream from entries where number = 0 order by seq"


def migrate(db: sqlite3.Connection, path: Path) -> None:
    """Bring the file's tables to today's form, all or nothing."""
    version = checked_version(db, path)
    if version == len(MIGRATIONS):
        return
    db.execute("begin immediate")
    for statement in MIGRATIONS[version:]:
        db.execute(statement)
    db.execute(f"pragma user_version = {len(MIGRATIONS)}")
    db.execute("commit")


def checked_version(db: sqlite3.Connection, path: Path) -> int:
    """The file's version. Refuses one from the future and a database that is not ours."""
    version = int(db.execute("pragma user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise StorageFailed(
            f"The journal {str(path)!r} was written by a newer Autopilot (format {version}).",
            why=f"This version knows formats up to {len(MIGRATIONS)} and could misread it.",
            do="Upgrade Autopilot, then try again.",
        )
    tables = db.execute("select count(*) from sqlite_master").fetchone()[0]
    if version < 0 or (version == 0 and tables):
        raise StorageFailed(
            f"{str(path)!r} is a database, but not a journal of Autopilot.",
            why="Autopilot writes only to files it made.",
            do="Move the file away and try again.",
        )
    return version


def walk(db: sqlite3.Connection, path: Path) -> tuple[Tip, dict[str, int]]:
    """Check the whole chain: its tip, and each stream's length."""
    try:
        return follow(db.execute(_WALK))
    except ChainBroken as broken:
        raise failures.damaged(path, f"{broken.how} (entry {broken.seq})") from broken


def lengths_behind(db: sqlite3.Connection, seq: int) -> dict[str, int]:
    """How many entries each stream has behind that number, counted without the index by which streams are read."""
    return dict(db.execute(_LENGTHS, (seq,)).fetchall())


def tip_of(db: sqlite3.Connection) -> Tip:
    row = db.execute(_TIP).fetchone()
    return Tip(seq=row[0], hash=row[1]) if row else Tip()


def check_head(db: sqlite3.Connection, path: Path, head: Tip | None) -> None:
    """The row HEAD names must be there and be the same. HEAD must have been read before."""
    if head is None:
        if tip_of(db) == Tip():
            return
        raise failures.damaged(path, "its HEAD file is missing or unreadable, so entries may be lost unnoticed")
    row = db.execute("select hash from entries where seq = ?", (head.seq,)).fetchone()
    found = row[0] if row else None
    if head.seq == 0:
        return
    if found is None:
        raise failures.damaged(path, f"entries lost (HEAD names entry {head.seq})")
    if found != head.hash:
        raise failures.damaged(path, f"journal was changed (entry {head.seq} is not what HEAD names)")


def read_stream(db: sqlite3.Connection, path: Path, stream: str) -> tuple[Entry, ...]:
    """The stream's entries, each checked against the one before it in the chain and numbered without a gap."""
    return tuple(_checked(db.execute(_STREAM, (stream,)), path).get(stream, ()))


def read_run(db: sqlite3.Connection, path: Path, run: str) -> dict[str, tuple[Entry, ...]]:
    """Every stream of the run at once, checked in the same way: far quicker than one by one."""
    # A stream of the run begins with its name and a slash, and 0 is the letter behind the slash. Without the index
    # the rows come in the order in which they lie in the file, and nothing has to be sorted.
    return {stream: tuple(entries) for stream, entries in _checked(db.execute(_RUN, (run,)), path).items()}


def _checked(found: Iterable[tuple[Any, ...]], path: Path) -> dict[str, list[Entry]]:
    streams: dict[str, list[Entry]] = {}
    for *fields, digest, previous in found:
        seq, stream, number, at, version, body = fields
        entries, where = streams.setdefault(stream, []), f"entry {number} of {stream!r}"
        if number != len(entries) or (previous is None and seq != 1):
            raise failures.damaged(path, f"entries lost (before {where})")
        if digest != link(previous or GENESIS, fields):
            raise failures.damaged(path, f"journal was changed ({where})")
        entries.append(Entry(number=number, at=at, event=decode(body, version, where), hash=digest))
    return streams


def read_since(db: sqlite3.Connection, path: Path, run: str, seq: int) -> tuple[tuple[int, str, Entry], ...]:
    """The run's entries behind that number of the chain, as they were written: number, stream and entry of each."""
    found = list[tuple[int, str, Entry]]()
    for *fields, digest, previous in db.execute(_SINCE, (seq, run, run, run)):
        at_seq, stream, number, at, version, body = fields
        where = f"entry {number} of {stream!r}"
        if digest != link(previous or GENESIS, fields):
            raise failures.damaged(path, f"journal was changed ({where})")
        entry = Entry(number=number, at=at, event=decode(body, version, where), hash=digest)
        found.append((at_seq, stream, entry))
    return tuple(found)


def read_behind(db: sqlite3.Connection, path: Path, tip: Tip, most: int) -> tuple[list[tuple[str, Entry]], Tip]:
    """Up to `most` entries behind the tip with their streams, checked against the chain, and the tip after them."""
    held = db.execute("select hash from entries where seq = ?", (tip.seq,)).fetchone()
    if tip.seq and (held is None or held[0] != tip.hash):
        raise failures.damaged(path, f"journal was changed (entry {tip.seq} is not what it was)")
    found = list[tuple[str, Entry]]()
    for *fields, digest in db.execute(_BEHIND, (tip.seq, most)):
        seq, stream, number, at, version, body = fields
        if seq != tip.seq + 1:
            raise failures.damaged(path, f"entries lost (before entry {seq})")
        if digest != link(tip.hash, fields):
            raise failures.damaged(path, f"journal was changed (entry {seq})")
        event = decode(body, version, f"entry {number} of {stream!r}")
        found.append((stream, Entry(number=number, at=at, event=event, hash=digest)))
        tip = Tip(seq=seq, hash=digest)
    return found, tip


def read_streams(db: sqlite3.Connection) -> tuple[str, ...]:
    return tuple(row[0] for row in db.execute(_STREAMS))
