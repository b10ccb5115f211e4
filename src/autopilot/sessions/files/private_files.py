"""Small files for the owner alone, replaced as a whole."""

import os
import tempfile
from pathlib import Path

from autopilot.domain.errors import StorageFailed
from autopilot.files.home_files import folder

PRIVATE = 0o600


def write_private(path: Path, data: bytes) -> None:
    """A reader sees the old content or the new one, and nobody but the owner sees either."""
    try:
        with folder(path.parent, make=True):
            pass
        _replace(path, data)
    except OSError as error:
        raise unwritable(path, error) from error


def remove(path: Path) -> None:
    """Gone when this returns, whether it was there or not."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> StorageFailed:
    return StorageFailed(
        f"{path} cannot be written: {error.strerror or error}.",
        why="It keeps what sessions do; without it they could not be told apart, counted or learned from.",
        do="Make room or set its permissions right, then start again.",
    )


def _replace(path: Path, data: bytes) -> None:
    fd, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    fresh = Path(name)
    try:
        with os.fdopen(fd, "wb") as file:
            os.fchmod(file.fileno(), PRIVATE)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
