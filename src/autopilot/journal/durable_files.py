"""Writing files so that a crash at any instant leaves the old or the new content, never half of one."""

import contextlib
import fcntl
import os
import tempfile
import time
from pathlib import Path

from autopilot.files import home_files
from autopilot.journal.storage_errors import translated

TORN = ".*.tmp"
YOUNG_S = 60.0


def flush(fd: int) -> None:
    """The file's data is on the disk itself when this returns, also on macOS, where fsync stops at the drive."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        fcntl.fcntl(fd, full)
    else:
        os.fdatasync(fd)


def write_at(fd: int, data: bytes, offset: int) -> None:
    """All of it: the system may take only a part of what it is given at a time."""
    while data:
        done = os.pwrite(fd, data, offset)
        data, offset = data[done:], offset + done


def flush_folder(folder: Path) -> None:
    """Names made or changed in the folder survive a power cut."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def make_folder(folder: Path) -> None:
    with translated(folder):
        if home_files.HOME in folder.absolute().parts:
            with home_files.folder(folder, make=True):
                return
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            flush_folder(folder.parent)


def write_atomic(path: Path, data: bytes) -> None:
    """Replace the file's content; on disk, name and all, when this returns."""
    with translated(path):
        _rename(_written(path, data), path)
        flush_folder(path.parent)


def replace_with_backup(path: Path, data: bytes) -> None:
    """
    Replace the content and keep the old one as `<name>.backup`. One flush: after a power cut the file holds the old or
    the new content, and either is whole.
    """
    with translated(path):
        fresh = _written(path, data)
        try:
            _keep(path)
        except (OSError, home_files.Foreign):
            fresh.unlink(missing_ok=True)
            raise
        _rename(fresh, path)


def clear_torn(folder: Path) -> int:
    """
    Remove what writers that were killed left beside their files, in the folder and those right in it; how many.

    One that is just being written is young, and let be.
    """
    found = 0
    with contextlib.suppress(OSError):
        for path in (*folder.glob(TORN), *folder.glob(f"*/{TORN}")):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - path.lstat().st_mtime > YOUNG_S:
                    path.unlink()
                    found += 1
    return found


def backup_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.backup")


def _written(path: Path, data: bytes) -> Path:
    if home_files.HOME in path.absolute().parts:
        home_files.require_folder(path.parent)
    fd, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    fresh = Path(name)
    try:
        with open(fd, "wb") as file:  # noqa: PTH123 - an open descriptor has no path
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), _mode(path))
            flush(file.fileno())
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
    return fresh


def _mode(path: Path) -> int:
    """An existing file keeps its permissions; a new one is for its owner to write and for all to read."""
    try:
        return path.lstat().st_mode & 0o777
    except FileNotFoundError:
        return 0o644


def _rename(fresh: Path, path: Path) -> None:
    try:
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def _keep(path: Path) -> None:
    """A hard link costs nothing; where the file system has none, a copy."""
    spare = path.with_name(f".{path.name}.backup.tmp")
    spare.unlink(missing_ok=True)
    try:
        os.link(path, spare)
    except FileNotFoundError:
        return
    except OSError:
        spare = _written(backup_of(path), home_files.read_file(path))
    spare.replace(backup_of(path))
    # Renaming one link of a file onto another does nothing and leaves both.
    with contextlib.suppress(FileNotFoundError):
        spare.unlink()
