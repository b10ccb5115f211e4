"""What has been read, kept in SQLite: outlines by blob, and the files of the commit seen last. All of it can go."""

import os
import sqlite3

from autopilot.workspace.repo_map.glance import EDITION
from autopilot.workspace.repo_map.languages import language_of
from autopilot.workspace.repo_map.paper import Tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

TOP = 5
# How many facts of each kind there are stands with the file too, so that nothing has to be opened to be counted.
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
"""
KINDS = ("exports", "imports", "functions", "classes", "call_graph")
PUT_FILE = """
insert or replace into files
select ?1, ?2, ?3, ifnull(exports, 0), ifnull(imports, 0), ifnull(functions, 0), ifnull(classes, 0), ifnull(calls, 0)
from (select ?3 as key) left join outlines using (key)
"""
TALLY = """
select language, count(*) as n, count(key), sum(exports), sum(imports), sum(functions), sum(classes), sum(calls)
from files group by language order by n desc, language
"""
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

    def paths(self) -> "Iterator[tuple[str, str, None]]":
        return ((path, "", None) for (path,) in self._db.execute("select path from files order by path"))

    def bodies(self) -> "Iterator[tuple[str, str, str | None]]":
        """Every file with its language and its outline as JSON, None for one that is only listed."""
        yield from self._db.execute(BODIES)


class Opened:
    """The book at the path for a while; one that cannot be read, or is of another edition, is begun anew."""

    def __init__(self, path: str) -> None:
        self._connection = _connected(path)

    def __enter__(self) -> Book:
        try:
            self._connection.execute("begin immediate")
        except sqlite3.Error:
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
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        connection = _prepared(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        connection = None
    if connection is None:
        for name in (path, f"{path}-wal", f"{path}-shm", f"{path}-journal"):
            if os.path.lexists(name):
                os.unlink(name)
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
    except sqlite3.DatabaseError:
        connection.close()
        raise
    if edition not in {0, EDITION}:
        connection.close()
        return None
    return connection
