"""Journals that were copied, or frozen before they were bound to anyone, made the test's own."""

import sqlite3
from contextlib import closing
from pathlib import Path

from autopilot.authority.seal import Seal, place_of
from autopilot.journal import adoption, rows
from support.trusting import trust


def adopted(root: Path) -> Path:
    """The project with its journal bound to the place it is in now and to the test's key."""
    path = root / ".autopilot" / "journal.db"
    if path.exists() and not adoption.look_over(path).own:
        adoption.adopt(path)
    trust(root)
    return root


def bound(root: Path) -> Path:
    """The same for one that an early version wrote, whose chain had no key."""
    path = root / ".autopilot" / "journal.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("begin")
        for statement in rows.MIGRATIONS[int(db.execute("pragma user_version").fetchone()[0]) : rows.BOUND]:
            db.execute(statement)
        rows.bind(db, Seal(b"nobody", place_of(root)))
        db.execute(f"pragma user_version = {rows.BOUND}")
        db.execute("commit")
    path.with_suffix(".head").unlink()
    adoption.adopt(path)
    trust(root)
    return root
