"""Opens files below `.autopilot`: through no link, only plain files with one name, for their owner alone."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from autopilot.domain.errors import StorageFailed

HOME = ".autopilot"
PRIVATE, PRIVATE_FOLDER = 0o600, 0o700
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ALWAYS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_LINK = {errno.ELOOP, errno.EMLINK, errno.ENOTDIR}
_SIDE_FILES = ("", "-wal", "-shm", "-journal")


class Foreign(StorageFailed):
    """Something that Autopilot did not make stands where a file or folder of its own should be."""


def foreign(path: Path, what: str) -> Foreign:
    return Foreign(
        f"{path} is {what}.",
        why="Autopilot made only plain files and folders there: this one would lead elsewhere.",
        do=f"If it came with the repository, look at it and move it away: mv {path} {path}.aside",
    )


@contextmanager
def folder(path: Path, *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder, opened through no link from `.autopilot` on; with `make` it is made as needed."""
    above, below = _split(path)
    if make:
        above.mkdir(parents=True, exist_ok=True)
    here = os.open(above, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in below:
            deeper = _entered(here, part, path, make=make)
            os.close(here)
            here = deeper
        yield here
    finally:
        os.close(here)


def require_folder(path: Path) -> None:
    """Raises `Foreign` if a link, or no folder at all, stands anywhere from `.autopilot` on; absent is well."""
    with suppress(FileNotFoundError), folder(path):
        pass


def open_file(path: Path, flags: int) -> int:
    """A descriptor of a plain file with one name. Others lose their rights to it as soon as it is written to."""
    writes = bool(flags & (os.O_WRONLY | os.O_RDWR))
    with folder(path.parent) as parent:
        try:
            found = os.open(path.name, flags | _ALWAYS, PRIVATE, dir_fd=parent)
        except OSError as error:
            if error.errno in _LINK:
                raise foreign(path, "a link") from error
            raise
    try:
        _checked(os.fstat(found), path, names=1 if writes else None)
        if writes:
            _tighten(found, PRIVATE)
    except BaseException:
        os.close(found)
        raise
    return found


def read_file(path: Path) -> bytes:
    """Raises `FileNotFoundError` where there is none."""
    with os.fdopen(open_file(path, os.O_RDONLY), "rb") as file:
        return file.read()


def secure_database(path: Path) -> None:
    """
    The file is there, and it and those beside it are plain and closed to others, before SQLite opens them by name.

    None that is there is opened: to close it again would take SQLite's locks from it.
    """
    with folder(path.parent) as parent:
        if path.parent.name == HOME:
            _tighten(parent, PRIVATE_FOLDER)
        with suppress(FileExistsError):
            os.close(os.open(path.name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _ALWAYS, PRIVATE, dir_fd=parent))
        for name, found in _database(path, parent):
            if found.st_mode & 0o077 and found.st_uid == os.geteuid():
                os.chmod(name, PRIVATE, dir_fd=parent)


def require_database(path: Path) -> None:
    """For who only reads: raises `Foreign` for a database, or a file beside it, that is a link or no plain file."""
    with suppress(FileNotFoundError), folder(path.parent) as parent:
        list(_database(path, parent))


def _database(path: Path, parent: int) -> Iterator[tuple[str, os.stat_result]]:
    for suffix in _SIDE_FILES:
        name = f"{path.name}{suffix}"
        with suppress(FileNotFoundError):
            found = os.stat(name, dir_fd=parent, follow_symlinks=False)
            _checked(found, path.with_name(name), names=1)
            yield name, found


def require_tree(path: Path) -> None:
    """Raises `Foreign` for a link anywhere below the folder: git goes through them. Absent is well."""
    require_folder(path)
    waiting = [path]
    while waiting:
        with suppress(FileNotFoundError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    raise foreign(Path(entry.path), "a link")
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))


def _split(path: Path) -> tuple[Path, tuple[str, ...]]:
    """What lies above `.autopilot`, and the way from there; for another path the way is its last part."""
    parts = path.absolute().parts
    at = len(parts) - 1 - parts[::-1].index(HOME) if HOME in parts else len(parts) - 1
    return Path(*parts[:at]), parts[at:]


def _entered(here: int, part: str, path: Path, *, make: bool) -> int:
    try:
        if make:
            with suppress(FileExistsError):
                os.mkdir(part, PRIVATE_FOLDER, dir_fd=here)
                os.fsync(here)
        return os.open(part, _FOLDER, dir_fd=here)
    except OSError as error:
        if error.errno in _LINK:
            raise foreign(path, f"behind {part!r}, which is a link or no folder") from error
        raise


def _checked(found: os.stat_result, path: Path, names: int | None) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise foreign(path, "a link")
    if not stat.S_ISREG(found.st_mode):
        raise foreign(path, "not a plain file")
    if names is not None and found.st_nlink != names:
        raise foreign(path, "a file with a second name")


def _tighten(descriptor: int, mode: int) -> None:
    """What is another user's is theirs to change."""
    found = os.fstat(descriptor)
    if found.st_mode & 0o077 and found.st_uid == os.geteuid():
        os.fchmod(descriptor, mode)
