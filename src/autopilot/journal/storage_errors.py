"""Storage trouble told in three parts, and the translation of what SQLite and the system raise."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autopilot.domain.errors import ConsentMissing, StorageFailed

RESTORE = (
    "Restore journal.db and journal.head together from a backup, or move both away and start a new run; "
    "commits that were made stay in the repository."
)
_FULL = ("the disk is full", "Nothing more can be recorded; what was recorded is safe.", "Free some space and resume.")
_READ_ONLY = ("it is read-only", "A run must be able to record what it does.", "Make it writable and try again.")
_BY_CODE = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_BUSY: (
        "another process is writing to it",
        "Two writers would mix two runs into one.",
        "Wait for the other process or stop it, then try again.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "it cannot be opened",
        "Without its journal a run can be neither recorded nor resumed.",
        "Check that the folder exists and that you may write to it.",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk reported an error",
        "What was not confirmed may not have been written; everything before it is safe.",
        "Check the disk, then resume.",
    ),
    sqlite3.SQLITE_NOTADB: (
        "it is not a journal",
        "Autopilot writes only to files it made.",
        "Move the file away and try again.",
    ),
    sqlite3.SQLITE_CONSTRAINT: (
        "another process wrote to it",
        "Two writers would mix two runs into one.",
        "Stop the other process, then resume.",
    ),
}


class Changed(StorageFailed):
    """Entries are not as their writer left them. Nobody can say whether a disk or a person did it."""

    exit_code = ConsentMissing.exit_code


class NotTheirs(ConsentMissing):
    """A journal that somebody else wrote, or that was written for another place."""


def changed(path: Path | str, how: str) -> Changed:
    found = damaged(path, how)
    return Changed(found.what, why=found.why, do=found.do)


def not_theirs(path: Path | str, how: str, *, adoptable: bool) -> NotTheirs:
    adopt = "If you moved or copied this project yourself, or lost your key: autopilot adopt. Otherwise remove"
    return NotTheirs(
        f"The journal {str(path)!r} is not yours: {how}.",
        why="A run goes on by its journal: which phases passed, and what comes to your branch. You can look at it.",
        do=f"{adopt if adoptable else 'Remove'} the folder {str(Path(path).parent)!r} and start a new run.",
    )


def damaged(path: Path | str, how: str) -> StorageFailed:
    return StorageFailed(
        f"The journal {str(path)!r} is damaged: {how}.",
        why="A run resumed from it could do finished work again or believe what never happened.",
        do=RESTORE,
    )


def number_taken(stream: str, number: int, length: int) -> StorageFailed:
    return StorageFailed(
        f"Entry {number} of {stream!r} was refused, as the stream has {length} entries: another process wrote.",
        why="Two writers would mix two runs into one.",
        do="Stop the other process, then resume.",
    )


def unreadable(where: str, how: str) -> StorageFailed:
    return StorageFailed(
        f"The journal cannot be read: {where}: {how}.",
        why="A run is resumed from its journal; an entry that cannot be understood may not be skipped.",
        do="Use the version of Autopilot that wrote it, or a newer one; else restore the journal from a backup.",
    )


def of_sqlite(path: Path | str, error: sqlite3.Error) -> StorageFailed:
    """Errors without a code of their own mean that the file's content is not what it should be."""
    primary = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    told = _BY_CODE.get(primary)
    if told is None:
        return damaged(path, "its content cannot be read" if primary == sqlite3.SQLITE_CORRUPT else str(error))
    return StorageFailed(f"The journal {str(path)!r} failed: {told[0]}.", why=told[1], do=told[2])


def of_system(path: Path | str, error: OSError) -> StorageFailed:
    reason = error.strerror or type(error).__name__
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    return StorageFailed(
        f"{str(path)!r} could not be written or read: {reason}.",
        why="What is not on disk is lost when the machine stops." if not full else _FULL[1],
        do="Check that the folder exists and that you may write to it." if not full else _FULL[2],
    )


@contextmanager
def translated(path: Path | str) -> Iterator[None]:
    """Inside, errors of SQLite and of the system about `path` become `StorageFailed`."""
    try:
        yield
    except sqlite3.ProgrammingError:  # a mistake of ours, such as a closed connection
        raise
    except sqlite3.Error as error:
        raise of_sqlite(path, error) from error
    except UnicodeDecodeError as error:  # SQLite quotes a damaged table's text in its message
        raise damaged(path, "its tables cannot be read") from error
    except OSError as error:
        raise of_system(path, error) from error
