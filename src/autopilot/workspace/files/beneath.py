"""Files below a folder that somebody hostile may have filled: no link is ever followed out of it."""

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

MAX_BYTES = 1_000_000
MAX_ENTRIES = 20_000
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
OPENAT2 = 437
RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH = 0x02, 0x04, 0x08
NOT_OFFERED = {errno.ENOSYS, errno.EPERM}


class Refused(Exception):
    """A file that is not read, and why."""


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def parts_of(path: str) -> list[str]:
    """The components of a relative path; raises `ValueError` for one that could lead elsewhere."""
    parts = path.split("/")
    if "\0" in path or any(part in {"", ".", ".."} for part in parts):
        raise ValueError(f"not a path below a folder: {path!r}")
    return parts


def open_beneath(folder: int, path: str, flags: int) -> int:
    """A descriptor of `path` below `folder`, with no link anywhere on the way."""
    parts = parts_of(path)
    if sys.platform == "linux":
        how = _OpenHow(flags, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)
        name = os.fsencode(path)
        found: int = _libc().syscall(OPENAT2, folder, name, ctypes.byref(how), ctypes.sizeof(how))
        if found >= 0:
            return found
        if (code := ctypes.get_errno()) not in NOT_OFFERED:
            raise OSError(code, os.strerror(code), path)
    return _open_by_parts(folder, parts, flags)


def _open_by_parts(folder: int, parts: list[str], flags: int) -> int:
    here = os.dup(folder)
    try:
        for part in parts[:-1]:
            below = os.open(part, FOLDER, dir_fd=here)
            os.close(here)
            here = below
        return os.open(parts[-1], flags | os.O_NOFOLLOW, dir_fd=here)
    finally:
        os.close(here)


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """A folder's descriptor; the last component may not be a link."""
    folder = os.open(path, FOLDER)
    try:
        yield folder
    finally:
        os.close(folder)


@contextmanager
def closing(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """The names in the folder are on disk when this returns."""
    with opened(path) as folder:
        os.fsync(folder)


def sync_tree(path: Path) -> None:
    """Every file and every name below the folder is on disk when this returns."""
    for place, _, names in os.walk(path):
        for name in names:
            with open(f"{place}/{name}", "rb") as file:  # noqa: PTH123 - os.walk deals in text
                os.fsync(file.fileno())
        sync_folder(Path(place))


def sync_ref(git_dir: Path, ref: str) -> None:
    """
    The ref's new name is on disk when this returns, and every name git made before it.

    git waits for the content of what it writes, but not for the renaming that puts it in its place.
    """
    folder = (git_dir / ref).parent
    sync_folder(folder if folder.is_dir() else git_dir)


def read_regular(folder: int, path: str, most: int = MAX_BYTES) -> bytes:
    """The bytes of a plain file; raises `Refused` for anything else, `FileNotFoundError` when there is none."""
    try:
        descriptor = open_beneath(folder, path, READ)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Refused("a link" if error.errno == errno.ELOOP else os.strerror(error.errno or 0)) from error
    with closing(descriptor):
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise Refused("not a regular file")
        if found.st_nlink != 1:
            raise Refused("a file with a second name")
        content = bytearray()
        while chunk := os.read(descriptor, min(most + 1 - len(content), 1 << 16)):
            content += chunk
            if len(content) > most:
                raise Refused(f"larger than {most} bytes")
        return bytes(content)


def walk(folder: int, top: str) -> Iterator[str]:
    """Every path below `top` that is not a folder, and each folder that cannot be looked into; sorted."""
    waiting, seen = [top], 0
    while waiting:
        path = waiting.pop()
        try:
            descriptor = open_beneath(folder, path, FOLDER)
        except FileNotFoundError:
            continue
        except OSError:
            yield path
            continue
        with closing(descriptor), os.scandir(descriptor) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        seen += len(found)
        if seen > MAX_ENTRIES:
            yield path
            return
        below = [(f"{path}/{entry.name}", entry.is_dir(follow_symlinks=False)) for entry in found]
        yield from (name for name, is_folder in below if not is_folder)
        waiting.extend(name for name, is_folder in reversed(below) if is_folder)


@contextmanager
def made_folder(folder: int, parts: list[str]) -> Iterator[int]:
    """The folder at `parts` below `folder`, made as needed, through no link."""
    here = os.dup(folder)
    try:
        for part in parts:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=here)
            below = os.open(part, FOLDER, dir_fd=here)
            os.close(here)
            here = below
        yield here
    finally:
        os.close(here)


def write_new(folder: int, path: str, content: bytes) -> None:
    """A file that was not there before."""
    *parents, name = parts_of(path)
    with made_folder(folder, parents) as parent:
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)


def write_atomic(folder: int, path: str, content: bytes) -> None:
    """On disk as a whole when this returns; on failure the file is as it was."""
    *parents, name = parts_of(path)
    part = f".{name}.autopilot-part"
    with made_folder(folder, parents) as parent:
        with suppress(FileNotFoundError):
            os.unlink(part, dir_fd=parent)
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=parent)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, name, src_dir_fd=parent, dst_dir_fd=parent)
        except OSError:
            with suppress(OSError):
                os.unlink(part, dir_fd=parent)
            raise
        os.fsync(parent)
