"""The journal's table: its migrations, and reading from it with every row checked against the chain."""

import sqlite3
from collections.abc import Iterable
from hmac import compare_digest
from pathlib import Path
from typing import Any

import msgspec

from autopilot.authority.seal import Place, Seal
from autopilot.domain.errors import StorageFailed
from autopilot.domain.events import Entry
from autopilot.domain.value import Value
from autopilot.journal import storage_errors as failures
from autopilot.journal.chain import GENESIS, Chain, ChainBroken, Tip, Unchecked, binding, chain_of, follow, start_of
from autopilot.journal.codec import decode
from autopilot.journal.head import Head

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
    # Whose journal it is, and of which repository; `hash` is what the first entry follows.
    "create table binding (place text not null, hash text not null)",
)
BOUND = 2
UNBOUND = "a version of Autopilot wrote it that did not bind journals to their user"
NOT_THE_KEY = "it was not written with your key"

INSERT = "insert into entries (seq, stream, number, at, version, body, hash) values (?, ?, ?, ?, ?, ?, ?)"
WALK = "select seq, stream, number, at, version, body, hash from entries order by seq"
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
_BINDING = "select place, hash from binding"
_STREAMS = "select stream from entries where number = 0 order by seq"


def migrate(db: sqlite3.Connection, path: Path, seal: Seal) -> None:
    """Bring the file's tables to today's form, all or nothing; a new one is bound to the seal."""
    version = checked_version(db, path)
    if version == len(MIGRATIONS):
        return
    db.execute("begin immediate")
    for statement in MIGRATIONS[version:]:
        db.execute(statement)
    if version < BOUND:
        bind(db, seal)
    db.execute(f"pragma user_version = {len(MIGRATIONS)}")
    db.execute("commit")


def bind(db: sqlite3.Connection, seal: Seal) -> None:
    db.execute("delete from binding")
    db.execute("insert into binding values (?, ?)", (binding(seal.place), chain_of(seal).start))


class Bound(Value, frozen=True, kw_only=True):
    """
    Whose journal it is. `strange` says why it is not the user's own; empty where it is.

    `place` is None where nobody can tell, `known` is whether the user's key made it.
    """

    place: Place | None = None
    known: bool = False
    strange: str = ""


def bound_to(db: sqlite3.Connection, version: int, seal: Seal | None) -> tuple[Bound, Chain]:
    """The chain checks entries with the key that made them, or not at all where it is not the user's."""
    if version < BOUND:
        return Bound(strange=UNBOUND), Unchecked()
    row = db.execute(_BINDING).fetchone()
    place = _place(row[0]) if row else None
    if seal is None or place is None or not _made_by(seal.key, *row):
        return Bound(place=place, strange=NOT_THE_KEY), Unchecked()
    return Bound(place=place, known=True, strange=place.difference(seal.place)), Chain(seal.key, row[1])


def _made_by(key: bytes, bound: str, digest: object) -> bool:
    return isinstance(digest, str) and digest.isascii() and compare_digest(start_of(key, bound), digest)


def _place(text: object) -> Place | None:
    try:
        return msgspec.json.decode(text, type=Place) if isinstance(text, str) else None
    except (msgspec.DecodeError, RecursionError):
        return None


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


def walk(db: sqlite3.Connection, path: Path, chain: Chain) -> tuple[Tip, dict[str, int]]:
    """Check the whole chain: its tip, and each stream's length."""
    try:
        return follow(db.execute(WALK), chain)
    except ChainBroken as broken:
        raise failures.changed(path, f"{broken.how} (entry {broken.seq})") from broken


def lengths_behind(db: sqlite3.Connection, seq: int) -> dict[str, int]:
    """How many entries each stream has behind that number, counted without the index by which streams are read."""
    return dict(db.execute(_LENGTHS, (seq,)).fetchall())


def tip_of(db: sqlite3.Connection) -> Tip:
    row = db.execute(_TIP).fetchone()
    return Tip(seq=row[0], hash=row[1]) if row else Tip()


def check_head(db: sqlite3.Connection, path: Path, head: Head | None) -> None:
    """The row HEAD names must be there and be the same. HEAD must have been read before."""
    if head is None:
        if tip_of(db) == Tip():
            return
        raise failures.changed(path, "its HEAD file is missing or unreadable, so entries may be lost unnoticed")
    tip = head.tip
    if tip.seq == 0:
        return
    row = db.execute("select hash from entries where seq = ?", (tip.seq,)).fetchone()
    if row is None:
        raise failures.changed(path, f"entries lost (HEAD names entry {tip.seq})")
    if row[0] != tip.hash:
        raise failures.changed(path, f"journal was changed (entry {tip.seq} is not what HEAD names)")
    if head.alone and tip_of(db).seq == tip.seq:
        raise failures.changed(path, f"its HEAD file was changed, so entries behind entry {tip.seq} may be lost")


def read_stream(db: sqlite3.Connection, path: Path, chain: Chain, stream: str) -> tuple[Entry, ...]:
    """The stream's entries, each checked against the one before it in the chain and numbered without a gap."""
    return tuple(_checked(db.execute(_STREAM, (stream,)), path, chain).get(stream, ()))


def read_run(db: sqlite3.Connection, path: Path, chain: Chain, run: str) -> dict[str, tuple[Entry, ...]]:
    """Every stream of the run at once, checked in the same way: far quicker than one by one."""
    # A stream of the run begins with its name and a slash, and 0 is the letter behind the slash. Without the index
    # the rows come in the order in which they lie in the file, and nothing has to be sorted.
    return {stream: tuple(entries) for stream, entries in _checked(db.execute(_RUN, (run,)), path, chain).items()}


def _checked(found: Iterable[tuple[Any, ...]], path: Path, chain: Chain) -> dict[str, list[Entry]]:
    streams: dict[str, list[Entry]] = {}
    for *fields, digest, previous in found:
        seq, stream, number, at, version, body = fields
        entries, where = streams.setdefault(stream, []), f"entry {number} of {stream!r}"
        if number != len(entries) or (previous is None and seq != 1):
            raise failures.changed(path, f"entries lost (before {where})")
        if not chain.holds(previous or GENESIS, fields, digest):
            raise failures.changed(path, f"journal was changed ({where})")
        entries.append(Entry(number=number, at=at, event=decode(body, version, where), hash=digest))
    return streams


def read_since(
    db: sqlite3.Connection, path: Path, chain: Chain, run: str, seq: int
) -> tuple[tuple[int, str, Entry], ...]:
    """The run's entries behind that number of the chain, as they were written: number, stream and entry of each."""
    found = list[tuple[int, str, Entry]]()
    for *fields, digest, previous in db.execute(_SINCE, (seq, run, run, run)):
        at_seq, stream, number, at, version, body = fields
        where = f"entry {number} of {stream!r}"
        if not chain.holds(previous or GENESIS, fields, digest):
            raise failures.changed(path, f"journal was changed ({where})")
        entry = Entry(number=number, at=at, event=decode(body, version, where), hash=digest)
        found.append((at_seq, stream, entry))
    return tuple(found)


def read_behind(
    db: sqlite3.Connection, path: Path, chain: Chain, tip: Tip, most: int
) -> tuple[list[tuple[str, Entry]], Tip]:
    """Up to `most` entries behind the tip with their streams, checked against the chain, and the tip after them."""
    held = db.execute("select hash from entries where seq = ?", (tip.seq,)).fetchone()
    if tip.seq and (held is None or held[0] != tip.hash):
        raise failures.changed(path, f"journal was changed (entry {tip.seq} is not what it was)")
    found = list[tuple[str, Entry]]()
    for *fields, digest in db.execute(_BEHIND, (tip.seq, most)):
        seq, stream, number, at, version, body = fields
        if seq != tip.seq + 1:
            raise failures.changed(path, f"entries lost (before entry {seq})")
        if not chain.holds(tip.hash, fields, digest):
            raise failures.changed(path, f"journal was changed (entry {seq})")
        event = decode(body, version, f"entry {number} of {stream!r}")
        found.append((stream, Entry(number=number, at=at, event=event, hash=digest)))
        tip = Tip(seq=seq, hash=digest)
    return found, tip


def read_streams(db: sqlite3.Connection) -> tuple[str, ...]:
    return tuple(row[0] for row in db.execute(_STREAMS))
