"""Where targets that read files put them."""

import tempfile
from functools import cache
from pathlib import Path

MEMORY = Path("/dev/shm")


@cache
def _kept() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="autopilot-fuzz-", dir=MEMORY if MEMORY.is_dir() else None)


def scratch() -> Path:
    """A folder of this process, gone with it."""
    return Path(_kept().name)
