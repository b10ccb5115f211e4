"""Removes and repairs folders whatever an agent did to them: links, missing permissions, absurd depth."""

import os
import re
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from autopilot.workspace.files.beneath import FOLDER, closing, open_beneath, opened, parts_of

DEEPEST = 64
LONGEST = 4000
OWNER = 0o700
FOREIGN_BITS = 0o7022
# macOS leaves these out when it compares names.
IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
GIT_FILES = {".gitmodules", "gitmod~1"}


def remove(path: Path) -> None:
    """Whatever is at `path` is gone when this returns. The way there is trusted; what is there is not."""
    try:
        parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    with closing(parent):
        _remove(parent, path.name)


def remove_below(folder: Path, path: str) -> None:
    """The same for a path of which only `folder` is trusted; where a link stands in the way nothing is removed."""
    *parents, name = parts_of(path)
    with opened(folder) as top:
        try:
            parent = open_beneath(top, "/".join(parents), FOLDER) if parents else os.dup(top)
        except OSError:
            return
        with closing(parent):
            _remove(parent, name)


def _remove(parent: int, name: str) -> None:
    if not _unlinked(parent, name):
        with _unlocked(parent, name) as top:
            _empty(top)
        os.rmdir(name, dir_fd=parent)


def _empty(top: int) -> None:
    while names := _names(top):
        for name in names:
            _clear(top, top, name, 0)


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _clear(top: int, parent: int, name: str, depth: int) -> None:
    if _unlinked(parent, name):
        return
    with _unlocked(parent, name) as folder:
        for below in _names(folder):
            if depth < DEEPEST:
                _clear(top, folder, below, depth + 1)
            else:
                # Brought up to the top, where the next round takes it: no depth can exhaust us.
                os.rename(below, uuid.uuid4().hex, src_dir_fd=folder, dst_dir_fd=top)
    os.rmdir(name, dir_fd=parent)


def _unlinked(parent: int, name: str) -> bool:
    try:
        os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        return True
    except IsADirectoryError:
        return False
    except PermissionError:
        # Some systems answer so for a folder.
        if not stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise
        return False
    return True


@contextmanager
def _unlocked(parent: int, name: str) -> Iterator[int]:
    """A folder opened, its owner's permissions given back first."""
    try:
        folder = os.open(name, FOLDER, dir_fd=parent)
    except PermissionError:
        _give_back(parent, name)
        folder = os.open(name, FOLDER, dir_fd=parent)
    try:
        mode = stat.S_IMODE(os.fstat(folder).st_mode)
        if mode & OWNER != OWNER:
            os.fchmod(folder, mode | OWNER)
        yield folder
    finally:
        os.close(folder)


def _give_back(parent: int, name: str) -> None:
    if not hasattr(os, "O_PATH"):
        os.chmod(name, OWNER, dir_fd=parent, follow_symlinks=False)
        return
    handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=parent)
    try:
        Path(f"/proc/self/fd/{handle}").chmod(OWNER)
    finally:
        os.close(handle)


def tidy_modes(path: Path) -> None:
    """Folders an earlier agent made read-only or open to all get ordinary permissions again."""
    with opened(path) as top:
        for folder, _ in _folders(top):
            if stat.S_IMODE(os.fstat(folder).st_mode) & (FOREIGN_BITS | OWNER) != OWNER:
                os.fchmod(folder, 0o755)


def make_plain(path: Path) -> None:
    """Leaves only readable files, links and folders with names git takes: no repository inside, no pipe, no device."""
    with opened(path) as top:
        for folder, where in _folders(top):
            with os.scandir(folder) as entries:
                found = [(entry.name, entry.stat(follow_symlinks=False).st_mode) for entry in entries]
            for name, mode in found:
                if name == ".git" and not where:
                    continue
                if is_refused(name, mode):
                    _clear(folder, folder, name, 0)
                else:
                    _make_plain(folder, name, mode)


def is_refused(name: str, mode: int) -> bool:
    """Whether git takes the name for its own on some system, and so adds nothing at all where one is."""
    plain = IGNORED.sub("", name).partition(":")[0].rstrip(" .").casefold()
    return plain in {".git", "git~1"} or (stat.S_ISLNK(mode) and plain in GIT_FILES)


def _make_plain(folder: int, name: str, mode: int) -> None:
    if stat.S_ISREG(mode) and not mode & stat.S_IRUSR:
        # In a folder whose processes are gone; were it swapped for a link, only a mode would change.
        with suppress(FileNotFoundError):
            os.chmod(name, stat.S_IMODE(mode) | stat.S_IRUSR | stat.S_IWUSR, dir_fd=folder)
    elif not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
        _clear(folder, folder, name, 0)


def _folders(top: int) -> Iterator[tuple[int, str]]:
    """Every folder from `top` down, opened, with its path; a child is unlocked before it is entered."""
    waiting = [""]
    while waiting:
        path = waiting.pop()
        with closing(open_beneath(top, path, FOLDER) if path else os.dup(top)) as folder:
            yield folder, path
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
            for name in names:
                below = f"{path}/{name}" if path else name
                if len(os.fsencode(below)) < LONGEST and below != ".git":
                    with _unlocked(folder, name):
                        waiting.append(below)
