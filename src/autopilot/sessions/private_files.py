"""Small files for the owner alone, replaced as a whole."""

import os
import tempfile
from pathlib import Path

PRIVATE = 0o600


def write_private(path: Path, data: bytes) -> None:
    """A reader sees the old content or the new one, and nobody but the owner sees either."""
    path.parent.mkdir(parents=True, exist_ok=True)
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
