"""Reads, writes and removes files beneath one folder, never through a link and never outside."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath


def is_beneath(path: str) -> bool:
    """Whether a path, as it is written, names something inside the folder it is relative to."""
    parts = PurePosixPath(path).parts
    return bool(parts) and ".." not in parts and not path.startswith("/") and "\0" not in path


def write(folder: str, path: str, text: str) -> None:
    """Raises OSError when a part of the path is a link or no folder."""
    with _parent(folder, path, make=True) as (parent, name):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(name, flags, 0o666, dir_fd=parent), "w", encoding="utf-8", newline="") as file:
            file.write(text)


def read(folder: str, path: str, most: int) -> bytes:
    """A plain file that has no other name. Raises OSError for anything else, FileNotFoundError for nothing."""
    with _parent(folder, path, make=False) as (parent, name):
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
        with os.fdopen(file, "rb") as opened:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
                raise OSError(errno.EINVAL, "it is not a plain file of one name")
            held = opened.read(most + 1)
    if len(held) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes")
    return held


def place(folder: str, path: str, content: bytes, mode: int = 0o600) -> None:
    """A new file in the place of whatever was there; a folder there is an error."""
    with _parent(folder, path, make=True) as (parent, name):
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(name, flags, mode, dir_fd=parent), "wb") as file:
            file.write(content)


def remove(folder: str, path: str) -> None:
    """Gone afterwards, whether it was there or not; a link is removed, not what it points to."""
    with suppress(FileNotFoundError), _parent(folder, path, make=False) as (parent, name):
        os.unlink(name, dir_fd=parent)


def make_executable(folder: str, path: str) -> None:
    with _parent(folder, path, make=False) as (parent, name):
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
        try:
            os.fchmod(file, stat.S_IMODE(os.fstat(file).st_mode) | 0o111)
        finally:
            os.close(file)


@contextmanager
def _parent(folder: str, path: str, *, make: bool) -> Iterator[tuple[int, str]]:
    """The folder the path's last name is in, opened name by name so that no link on the way is followed."""
    *parts, name = PurePosixPath(path).parts
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=here)
            deeper = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = deeper
        yield here, name
    finally:
        os.close(here)
