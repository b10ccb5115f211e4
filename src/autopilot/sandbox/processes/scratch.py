"""Temporary folders that are known by a lock: those of a process that was killed are removed by the next."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

PREFIX = "autopilot-scratch-"


@dataclass(frozen=True, slots=True)
class Scratch:
    """A private folder. Whoever has `hold` open keeps it from being taken for an abandoned one."""

    path: str
    hold: int


@contextmanager
def scratch_folder(within: str | None = None) -> Iterator[Scratch]:
    """
    In the system's place for such folders, unless another is named. Gone when this is left.

    Should we be killed meanwhile, it is there until `clear_abandoned` comes by.
    """
    made = _made(within)
    try:
        yield made
    finally:
        shutil.rmtree(made.path, ignore_errors=True)
        os.close(made.hold)


@contextmanager
def room() -> Iterator[str]:
    """The same for who needs no more than the path."""
    with scratch_folder() as made:
        yield made.path


def clear_abandoned(within: str | None = None) -> int:
    """Remove the folders nobody holds any more; how many there were."""
    found = 0
    for path in Path(within or tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            hold = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                found += _removed(path, hold)
            finally:
                os.close(hold)
    return found


def _made(within: str | None) -> Scratch:
    """Another process may take a folder for abandoned before it is locked: then there is a next one."""
    while True:
        path = tempfile.mkdtemp(prefix=PREFIX, dir=within)
        hold = None
        with suppress(FileNotFoundError):
            hold = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(hold, fcntl.LOCK_EX)
            if os.path.samestat(os.stat(path), os.fstat(hold)):  # noqa: PTH116 - for every command, so no Path
                return Scratch(path, hold)
        if hold is not None:
            os.close(hold)


def _removed(path: Path, hold: int) -> bool:
    """Whether it was ours to remove: our user's, and locked by nobody. The lock is kept until it is gone."""
    if os.fstat(hold).st_uid != os.geteuid():
        return False
    try:
        fcntl.flock(hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    shutil.rmtree(path, ignore_errors=True)
    return True
