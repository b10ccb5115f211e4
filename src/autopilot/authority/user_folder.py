"""The user's own folder, which no repository can fill: the key of the journals, grants, and answers to questions."""

import errno
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from autopilot.authority.places import user_folder_name
from autopilot.domain.errors import StorageFailed

KEY_BYTES = 32
_PRIVATE = 0o700
MOST_BYTES = 4_000_000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)?")
ELSEWHERE = "To use another folder, set XDG_STATE_HOME."
_MOVE = f"Move it away and try again. {ELSEWHERE}"


def user_folder_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the folder is."""
    return Path(user_folder_name(environment))


class UserFolder:
    """
    Opened by its descriptor, made when it is missing, and tightened to its owner alone.

    Names have at most one folder in them, such as `grants/x.json`. Files are read and written through no link.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or user_folder_path()
        try:
            self._fd = _opened(self.path)
        except OSError as error:
            raise _unusable(self.path, error) from error

    def key(self) -> bytes:
        """The secret that the user's journals are bound to; made when it is first needed."""
        return self.known_key() or self._made_key()

    def read(self, name: str) -> bytes | None:
        """None where there is no such file."""
        try:
            with self._folder_of(name, make=False) as (folder, last):
                return _content(folder, last, self.path / name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(self.path / name, error) from error

    def write(self, name: str, data: bytes) -> None:
        """On disk as a whole when this returns, for the owner alone; after a failure the file is as it was."""
        try:
            with self._folder_of(name, make=True) as (folder, last):
                _replace(folder, last, data)
        except OSError as error:
            raise _unusable(self.path / name, error) from error

    def remove(self, name: str) -> None:
        """Gone when this returns, whether it was there or not."""
        try:
            with self._folder_of(name, make=False) as (folder, last):
                os.unlink(last, dir_fd=folder)
                os.fsync(folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _unusable(self.path / name, error) from error

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Inside, no other process and no other thread that asks for the same name. Not to be nested."""
        try:
            with self._folder_of(name, make=True) as (folder, last):
                flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
                lock = os.open(f".{last}.lock", flags, 0o600, dir_fd=folder)
        except OSError as error:
            raise _unusable(self.path / name, error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)
            os.close(lock)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with suppress(AttributeError, OSError):
            self.close()

    def known_key(self) -> bytes | None:
        """None where none was made yet. Raises `StorageFailed` for one that cannot be the user's."""
        held = self.read("key")
        if held is not None and len(held) != KEY_BYTES:
            raise StorageFailed(
                f"{self.path / 'key'} is damaged: it has {len(held)} bytes and not {KEY_BYTES}.",
                why="Your runs are bound to this key. Another one would not open them.",
                do="Restore it from a backup. If it is lost, move it away and use `autopilot adopt` in each project.",
            )
        return held

    def _made_key(self) -> bytes:
        with self.locked("key"):
            if (held := self.known_key()) is not None:
                return held
            fresh = secrets.token_bytes(KEY_BYTES)
            self.write("key", fresh)
            return fresh

    @contextmanager
    def _folder_of(self, name: str, *, make: bool) -> Iterator[tuple[int, str]]:
        if not _NAME.fullmatch(name):
            raise ValueError(f"not a name in the user's folder: {name!r}")
        below, _, last = name.rpartition("/")
        if not below:
            yield self._fd, last
            return
        if make:
            with suppress(FileExistsError):
                os.mkdir(below, 0o700, dir_fd=self._fd)
                os.fsync(self._fd)
        folder = os.open(below, _FOLDER, dir_fd=self._fd)
        try:
            _check_owner(folder, self.path / below)
            yield folder, last
        finally:
            os.close(folder)


def _opened(path: Path) -> int:
    if path.is_symlink():
        raise _refused(path, "it is a link")
    check_place(path)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
    if not path.is_dir():
        raise _refused(path, "it is not a folder")
    folder = os.open(path, _FOLDER)
    try:
        _check_owner(folder, path)
    except BaseException:
        os.close(folder)
        raise
    return folder


def _check_owner(folder: int, path: Path) -> None:
    """And for the owner alone from now on."""
    found = os.fstat(folder)
    if found.st_uid != os.geteuid():
        raise _refused(path, "it belongs to another user")
    if stat.S_IMODE(found.st_mode) != _PRIVATE:
        os.fchmod(folder, _PRIVATE)


def check_place(path: Path) -> None:
    """
    Raises `StorageFailed` for one in a repository.

    The home itself may be one, as of people who keep their settings in git: its files are their own.
    """
    home = Path.home().resolve()
    for above in path.resolve().parents:
        if above != home and (above / ".git").exists():
            raise _refused(path, f"it lies in the git repository {above}")


def _content(folder: int, name: str, path: Path) -> bytes:
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise _refused(path, "it is not a regular file")
        if found.st_uid != os.geteuid():
            raise _refused(path, "it belongs to another user")
        if stat.S_IMODE(found.st_mode) & 0o077:
            os.fchmod(file.fileno(), 0o600)
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise _refused(path, f"it is larger than {MOST_BYTES} bytes")
    return content


def _replace(folder: int, name: str, data: bytes) -> None:
    part = f".{name}.{secrets.token_hex(8)}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(part, flags, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):
            os.unlink(part, dir_fd=folder)
        raise
    os.fsync(folder)


def _refused(path: Path, how: str) -> StorageFailed:
    return StorageFailed(
        f"Autopilot does not use {path}: {how}.",
        why="It keeps your key and what you have allowed. Someone else could have put it there.",
        do=_MOVE,
    )


def _unusable(path: Path, error: OSError) -> StorageFailed:
    if error.errno == errno.ELOOP:
        return _refused(path, "it is a link")
    return StorageFailed(
        f"{path} cannot be read or written: {error.strerror or error}.",
        why="It keeps your key and what you have allowed, and no run starts without them.",
        do=f"Check its permissions and the free space. {ELSEWHERE}",
    )
