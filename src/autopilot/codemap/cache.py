"""What has been read, kept in SQLite: outlines by blob, and the files of the commit seen last. All of it can go."""

import os
import sqlite3

from autopilot.codemap.bare_io import discard
from autopilot.codemap.freshness import EDITION
from autopilot.codemap.languages import language_of
from autopilot.codemap.render import Tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType
    from typing import TypeVar

    T = TypeVar("T")

TOP = 5
# The part of the map that is as it was while files only change.
LISTING = "listing"
KINDS = ("exports", "imports", "functions", "classes", "call_graph")
COUNTS = "exports, imports, functions, classes, calls"
# How many facts of each kind there are stands with each file, and summed up with each language: a refresh looks at what
# has changed, and not at every file.
TABLES = """
create table notes (name text primary key, value text not null) without rowid;
create table outlines (
    key text primary key, exports int not null, imports int not null, functions int not null, classes int not null,
    calls int not null, body text not null
);
create table files (
    path text primary key, language text not null, key text, exports int not null, imports int not null,
    functions int not null, classes int not null, calls int not null
) without rowid;
create index by_exports on files (exports desc, path);
create index by_imports on files (imports desc, path);
create table languages (
    language text primary key, files int not null, parsed int not null, exports int not null, imports int not null,
    functions int not null, classes int not null, calls int not null
) without rowid;
create trigger added after insert on files begin
    delete from notes where name = 'listing';
    insert or ignore into languages values (new.language, 0, 0, 0, 0, 0, 0, 0);
    update languages set
        files = files + 1, parsed = parsed + (new.key is not null), exports = exports + new.exports,
        imports = imports + new.imports, functions = functions + new.functions, classes = classes + new.classes,
        calls = calls + new.calls
    where language = new.language;
end;
create trigger removed after delete on files begin
    delete from notes where name = 'listing';
    update languages set
        files = files - 1, parsed = parsed - (old.key is not null), exports = exports - old.exports,
        imports = imports - old.imports, functions = functions - old.functions, classes = classes - old.classes,
        calls = calls - old.calls
    where language = old.language;
end;
create trigger changed after update on files begin
    update languages set
        exports = exports + new.exports - old.exports, imports = imports + new.imports - old.imports,
        functions = functions + new.functions - old.functions, classes = classes + new.classes - old.classes,
        calls = calls + new.calls - old.calls
    where language = new.language;
end;
"""
# The language and whether there is a key follow from the path, so neither changes with the text.
PUT_FILE = f"""
insert into files
select ?1, ?2, ?3, ifnull(exports, 0), ifnull(imports, 0), ifnull(functions, 0), ifnull(classes, 0), ifnull(calls, 0)
from (select ?3 as key) left join outlines using (key) where true
on conflict (path) do update set (key, {COUNTS}) = (
    excluded.key, excluded.exports, excluded.imports, excluded.functions, excluded.classes, excluded.calls
)
"""  # noqa: S608 - our names
TALLY = f"select language, files, parsed, {COUNTS} from languages where files > 0 order by files desc, language"  # noqa: S608 - our names
# What is told of a damaged book may hold bytes of it that are no text.
TROUBLE = (sqlite3.Error, UnicodeDecodeError)
ELSEWHERE = frozenset(
    {
        sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
    }
)  # fmt: skip
BODIES = "select path, language, body from files left join outlines using (key) order by path"


class Book:
    """One open store. Everything done to it is a transaction that ends when `Opened` does."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def note(self, name: str) -> str | None:
        row = self._db.execute("select value from notes where name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def put_note(self, name: str, value: str) -> None:
        self._db.execute("insert or replace into notes values (?, ?)", (name, value))

    def unread(self, keys: "Iterable[str]") -> list[str]:
        known = "select 1 from outlines where key = ?"
        return [key for key in keys if self._db.execute(known, (key,)).fetchone() is None]

    def put_outlines(self, answers: "Iterable[tuple[str, bytes]]") -> None:
        """As a reader gives them: the counts, then the outline."""
        rows = ((key, *answer.decode().split(" ", len(KINDS))) for key, answer in answers)
        self._db.executemany("insert or replace into outlines values (?, ?, ?, ?, ?, ?, ?)", rows)

    def put_files(self, rows: "Iterable[tuple[str, str | None]]") -> None:
        """Paths and the keys of their outlines."""
        self._db.executemany(PUT_FILE, ((path, language_of(path), key) for path, key in rows))

    def remove_files(self, paths: "Iterable[str]") -> None:
        self._db.executemany("delete from files where path = ?", ((path,) for path in paths))

    def clear_files(self) -> None:
        self._db.execute("delete from files")

    def tally(self) -> Tally:
        rows = self._db.execute(TALLY).fetchall()
        parsed, *facts = (sum(column) for column in list(zip(*rows, strict=True))[2:]) if rows else (0,)
        return Tally({row[0]: row[1] for row in rows}, parsed, dict(zip(KINDS, facts, strict=False)))

    def top(self, column: str) -> list[tuple[str, int]]:
        chosen = f"select path, {column} from files where {column} > 0"  # noqa: S608 - our names
        return self._db.execute(f"{chosen} order by {column} desc, path limit {TOP}").fetchall()

    def paths(self) -> "Iterator[str]":
        return (path for (path,) in self._db.execute("select path from files order by path"))

    def bodies(self) -> "Iterator[tuple[str, str, str | None]]":
        """Every file with its language and its outline as JSON, None for one that is only listed."""
        yield from self._db.execute(BODIES)


def with_book(path: str, work: "Callable[[Book], T]") -> "T":
    """What comes of the work; a book whose damage shows only now is begun anew, once."""
    try:
        with Opened(path) as book:
            return work(book)
    except TROUBLE as error:
        if not is_damaged(error):
            raise
    _discard(path)
    with Opened(path) as book:
        return work(book)


def is_damaged(error: Exception) -> bool:
    """Whether the book itself is at fault, and not the disk, a lock or our rights."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF not in ELSEWHERE


def _discard(path: str) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        discard(path + end)


class Opened:
    """The book at the path for a while; one that cannot be read, or is of another edition, is begun anew."""

    def __init__(self, path: str) -> None:
        self._connection = _connected(path)

    def __enter__(self) -> Book:
        try:
            self._connection.execute("begin immediate")
        except TROUBLE:
            self._connection.close()
            raise
        return Book(self._connection)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        try:
            self._connection.execute("commit" if kind is None else "rollback")
        finally:
            self._connection.close()


def _connected(path: str) -> sqlite3.Connection:
    os.makedirs(path.rpartition("/")[0], exist_ok=True)  # noqa: PTH103 - importing pathlib is slow
    try:
        connection = _prepared(path)
    except TROUBLE as error:
        if not is_damaged(error):
            raise
        connection = None
    if connection is None:
        _discard(path)
        connection = _prepared(path)
        assert connection is not None
    return connection


def _prepared(path: str) -> sqlite3.Connection | None:
    """None for a book of another edition. It is a cache: losing the last page in a power cut is no loss."""
    connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("pragma synchronous = off")
        (edition,) = connection.execute("pragma user_version").fetchone()
        if edition == 0:
            connection.executescript(f"begin immediate; {TABLES} pragma user_version = {EDITION}; commit;")
    except TROUBLE:
        connection.close()
        raise
    if edition not in {0, EDITION}:
        connection.close()
        return None
    return connection
