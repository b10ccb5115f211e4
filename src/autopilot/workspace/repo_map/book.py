"""What has been read, kept in SQLite: outlines by blob, and the files of the commit seen last. All of it can go."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import msgspec

from autopilot.domain.repo_map import Exporter, Importer, Language, MappedFile, MapSummary, Outline
from autopilot.workspace.repo_map.glance import EDITION
from autopilot.workspace.repo_map.paper import Amount
from autopilot.workspace.repo_map.reading import Reading

TOP = 5
TABLES = """
create table notes (name text primary key, value text not null) without rowid;
create table outlines (
    key text primary key, body blob not null, exports int not null, imports int not null, functions int not null,
    classes int not null, calls int not null
);
create table files (path text primary key, language text not null, key text) without rowid;
"""
KINDS = {
    "exports": "exports",
    "imports": "imports",
    "functions": "functions",
    "classes": "classes",
    "calls": "call_graph",
}


class Book:
    """One open store. Everything done to it is a transaction that ends when `opened` does."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def note(self, name: str) -> str | None:
        row = self._db.execute("select value from notes where name = ?", (name,)).fetchone()
        return None if row is None else cast("str", row[0])

    def put_note(self, name: str, value: str) -> None:
        self._db.execute("insert or replace into notes values (?, ?)", (name, value))

    def unread(self, keys: Iterable[str]) -> list[str]:
        known = "select 1 from outlines where key = ?"
        return [key for key in dict.fromkeys(keys) if self._db.execute(known, (key,)).fetchone() is None]

    def put_outlines(self, readings: Mapping[str, Reading]) -> None:
        rows = (
            (key, r.body, r.exports, r.imports, r.functions, r.classes, r.calls) for key, r in readings.items()
        )  # fmt: skip
        self._db.executemany("insert or replace into outlines values (?, ?, ?, ?, ?, ?, ?)", rows)

    def put_files(self, rows: Iterable[tuple[str, str, str | None]]) -> None:
        self._db.executemany("insert or replace into files values (?, ?, ?)", rows)

    def remove_files(self, paths: Iterable[str]) -> None:
        self._db.executemany("delete from files where path = ?", ((path,) for path in paths))

    def clear_files(self) -> None:
        self._db.execute("delete from files")

    def amount(self) -> Amount:
        sums = ", ".join(f"coalesce(sum({column}), 0)" for column in KINDS)
        files, parsed = self._db.execute("select count(*), count(key) from files").fetchone()
        facts = self._db.execute(f"select {sums} from files join outlines using (key)").fetchone()  # noqa: S608 - our names
        return Amount(files=files, parsed=parsed, facts=dict(zip(KINDS.values(), facts, strict=True)))

    def summary(self) -> MapSummary:
        count = "select language, count(*) as n from files group by language order by n desc, language"
        languages = dict(self._db.execute(count).fetchall())
        return MapSummary(
            total_files=sum(languages.values()),
            languages=languages,
            top_importers=tuple(Importer(path=path, import_count=n) for path, n in self._top("imports")),
            top_exporters=tuple(Exporter(path=path, export_count=n) for path, n in self._top("exports")),
        )

    def _top(self, column: str) -> list[tuple[str, int]]:
        chosen = f"select path, {column} from files join outlines using (key) where {column} > 0"  # noqa: S608 - our names
        return self._db.execute(f"{chosen} order by {column} desc, path limit {TOP}").fetchall()

    def paths(self) -> Iterator[MappedFile]:
        for path, language in self._db.execute("select path, language from files order by path"):
            yield MappedFile(path=path, language=cast("Language", language))

    def files(self) -> Iterator[MappedFile]:
        decoder = msgspec.json.Decoder(Outline)
        rows = self._db.execute("select path, language, body from files left join outlines using (key) order by path")
        for path, language, body in rows:
            told = decoder.decode(body) if body is not None else Outline()
            yield MappedFile(
                path=path,
                language=cast("Language", language),
                exports=told.exports,
                imports=told.imports,
                functions=told.functions,
                classes=told.classes,
                call_graph=told.call_graph,
            )


@contextmanager
def opened(path: Path) -> Iterator[Book]:
    """The book at the path; one that cannot be read, or is of another edition, is begun anew."""
    connection = _connected(path)
    try:
        with connection:
            connection.execute("begin immediate")
            yield Book(connection)
    finally:
        connection.close()


def _connected(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        connection = _prepared(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        connection = None
    if connection is None:
        for end in ("", "-wal", "-shm", "-journal"):
            path.with_name(path.name + end).unlink(missing_ok=True)
        connection = _prepared(path)
        assert connection is not None
    return connection


def _prepared(path: Path) -> sqlite3.Connection | None:
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
