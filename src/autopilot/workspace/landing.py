"""Brings finished work into the user's checkout: a fast-forward that touches nothing of theirs, or nothing at all."""

import errno
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from autopilot.domain.errors import StorageFailed
from autopilot.ports.agents import Landing
from autopilot.workspace.dirty_check import MOST_NAMED, Look, Worktree, indexed
from autopilot.workspace.files.beneath import (
    FOLDER,
    Refused,
    closing,
    made_folder,
    open_beneath,
    opened,
    parts_of,
    read_regular,
    sync_ref,
)
from autopilot.workspace.files.removal import remove
from autopilot.workspace.git import Git
from autopilot.workspace.locks import PATIENCE_S, POLL_S, clear_ref_lock
from autopilot.workspace.own_repository import GITLINK, Store, Touched, parse_difference, shown
from autopilot.workspace.user_repository import Shape, Start, UserRepository

NOTHING = "0"
ATTRIBUTES = ".gitattributes"
NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR}
IN_THE_WAY = {
    errno.EXDEV, errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ELOOP, errno.ENOTEMPTY, errno.EACCES, errno.EPERM,
}  # fmt: skip


class Hindered(Exception):
    """Why the user's branch is left alone."""


def _require(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - a condition is all it takes
    if not holds:
        raise Hindered(otherwise)


@dataclass(frozen=True, slots=True)
class Lander:
    """
    Every effect leaves each path at its old or its new version, so a landing cut off anywhere is finished by another.

    `staging` is a folder of ours on the file system of the checkout.
    """

    user: UserRepository
    store: Store
    staging: Path
    patience_s: float = PATIENCE_S

    def land(self, start: Start, commit: str) -> Landing:
        shape = self.user.shape()
        branch = self.user.publish(self.store, self.store.branch, commit, shape.common_dir)
        forward = False
        try:
            tip = self._tip(start, shape)
            shared = self.user.common(tip, commit)
            forward = shared == tip
            if shared != commit:
                _require(forward, f"{start.branch} has moved on")
                self._apply(shape, f"refs/heads/{start.branch}", tip, commit)
        except Hindered as why:
            return Landing(landed=False, note=f"{why}; merge it with: git merge {'--ff-only ' * forward}{branch}")
        finally:
            remove(self.staging)
        return Landing(landed=True)

    def withdraw(self, commit: str, is_ours: Callable[[str, bytes], bool]) -> None:
        """
        Take back what we wrote into the checkout ahead of a commit that did not land, so that git can merge it.

        Only what is on disk just as in the commit, is not staged, and was written by us: the commit's branch holds it.
        """
        shape, head = self.user.shape(), self.user.start().base
        if self.user.unfinished(shape.git_dir):
            return
        try:
            touched = self._touched(head, commit)
            look = Worktree(self.user.root, self.user.git, commit).look(touched)
            ahead = [t for t in look.entries if t.new and t not in look.files and shown(t.path) not in look.dirty]
            ours = tuple(t for t in ahead if self._holds(t.path, is_ours))
            self._write_files(shape, reverse(ours), head, (Hindered,))
        except Hindered:
            return
        finally:
            remove(self.staging)

    def _holds(self, path: str, is_ours: Callable[[str, bytes], bool]) -> bool:
        with opened(self.user.root) as top, suppress(FileNotFoundError, Refused):
            return is_ours(path, read_regular(top, path))
        return False

    def _tip(self, start: Start, shape: Shape) -> str:
        """The tip of the branch the run started from, if that is still what the user works on."""
        if start.branch is None:
            raise Hindered("the run started from no branch (detached HEAD)")
        now = self.user.branch()
        if now != start.branch:
            raise Hindered(f"{now or 'no branch'} is checked out instead of {start.branch}")
        if busy := self.user.unfinished(shape.git_dir):
            raise Hindered(f"the checkout is in the middle of something ({busy})")
        tip = self.user.tip(start.branch)
        if tip is None:
            raise Hindered(f"{start.branch} has no commit")
        return tip

    def _apply(self, shape: Shape, ref: str, tip: str, commit: str) -> None:
        """All of it, or, when something gets in the way half-way through, none of it."""
        swap = _IndexSwap(shape, self.patience_s)
        swap.wait()
        touched = self._touched(tip, commit)
        look = self._look(touched, commit)
        _prune_all(self.user.root, touched)
        back: list[Callable[[], None]] = []
        try:
            back.append(lambda: self._write_files(shape, reverse(look.files), tip, (Hindered,)))
            self._write_files(shape, look.files, commit)
            swap.swap(self.user, look.entries)
            back.append(lambda: swap.swap(self.user, reverse(look.entries)))
            self._move(shape, ref, tip, commit)
        except (Hindered, StorageFailed, OSError):
            for undo in reversed(back):
                with suppress(Hindered, StorageFailed, OSError):
                    undo()
            raise

    def _touched(self, tip: str, commit: str) -> tuple[Touched, ...]:
        words = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv", tip, commit)
        touched = parse_difference(self.user.git.out(*words)).touched
        if links := [t.path for t in touched if GITLINK in {v[0] for v in (t.old, t.new) if v}]:
            raise Hindered(f"it changes a submodule ({links[0]})")
        return touched

    def _look(self, touched: tuple[Touched, ...], commit: str) -> Look:
        look = Worktree(self.user.root, self.user.git, commit).look(touched)
        if look.dirty:
            more = f" and {len(look.dirty) - 1} more" if len(look.dirty) > 1 else ""
            raise Hindered(f"you have changes in {look.dirty[0]}{more}")
        return look

    def _write_files(
        self, shape: Shape, touched: tuple[Touched, ...], commit: str, tolerated: tuple[type[Hindered], ...] = ()
    ) -> None:
        """Removed files first, then each new one whole, by a rename."""
        self._stage(shape, [t for t in touched if t.new], commit)
        with opened(self.user.root) as top:
            for each in sorted(touched, key=lambda t: t.new is not None):
                with suppress(*tolerated):
                    if each.new:
                        _put(top, each.path, self.staging / each.path)
                    else:
                        _delete(top, each.path)

    def _stage(self, shape: Shape, new: list[Touched], commit: str) -> None:
        """The new files as the user's own settings want them on disk, in a folder of ours."""
        remove(self.staging)
        self.staging.mkdir(parents=True)
        index = self.staging.with_name(f"{self.staging.name}.index")
        index.unlink(missing_ok=True)
        index.with_name(f"{index.name}.lock").unlink(missing_ok=True)
        git = self.user.git.at(GIT_DIR=shape.git_dir, GIT_WORK_TREE=self.staging, GIT_INDEX_FILE=index)
        try:
            self._read_in(git, new, commit)
            names = b"".join(os.fsencode(t.path) + b"\0" for t in new)
            git.run("checkout-index", "-f", "-q", "-z", "--stdin", stdin=names)
        finally:
            index.unlink(missing_ok=True)
        for made in new:
            _sync(self.staging / made.path)

    def _read_in(self, git: Git, new: list[Touched], commit: str) -> None:
        """Into an index: the files and what says how they lie on disk; where that may be much, the whole commit."""
        above = {"/".join(parts[:depth]) for t in new for parts in [t.path.split("/")] for depth in range(len(parts))}
        if len(above) > MOST_NAMED:
            git.run("read-tree", commit)
            return
        named = sorted(f"{folder}/{ATTRIBUTES}".lstrip("/") for folder in above)
        told = self.user.git.out("ls-tree", "-z", "--full-tree", commit, "--", *named) if named else b""
        plain = [line + b"\0" for line in told.split(b"\0") if line.startswith(b"100")]
        git.run("update-index", "-z", "--index-info", stdin=b"".join((*plain, index_info(tuple(new)))))

    def _move(self, shape: Shape, ref: str, tip: str, commit: str) -> None:
        for lock in (shape.common_dir / f"{ref}.lock", shape.git_dir / "HEAD.lock"):
            if not clear_ref_lock(lock, commit, self.user.root, self.patience_s):
                raise Hindered(f"{lock.name} is held by another git")
        ran = self.user.git.run("update-ref", "-m", f"autopilot: {self.store.run}", ref, commit, tip, ok=(0, 1, 128))
        if ran.exit_code:
            raise Hindered(f"{ref.removeprefix('refs/heads/')} moved in the meantime")
        sync_ref(shape.common_dir, ref)


def _delete(top: int, path: str) -> None:
    """The file, and then each folder it leaves empty; nothing where a link has taken a folder's place."""
    *parents, name = parts_of(path)
    try:
        with closing(_parent(top, parents)) as folder:
            os.unlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno not in NOT_THERE:
            raise Hindered(f"{path} cannot be removed ({error.strerror})") from error
    _prune(top, parents)


def _prune_all(root: Path, touched: tuple[Touched, ...]) -> None:
    """Folders an earlier try emptied and had no time to remove."""
    with opened(root) as top:
        for gone in (t for t in touched if t.new is None):
            _prune(top, parts_of(gone.path)[:-1])


def _prune(top: int, parents: list[str]) -> None:
    """Remove the folder and those above it as far as they are empty."""
    with suppress(OSError):
        while parents:
            name = parents.pop()
            with closing(_parent(top, parents)) as folder:
                os.rmdir(name, dir_fd=folder)


def _parent(top: int, parents: list[str]) -> int:
    return open_beneath(top, "/".join(parents), FOLDER) if parents else os.dup(top)


def _put(top: int, path: str, staged: Path) -> None:
    """The new version in one rename; through no link, and over nothing but a file."""
    *parents, name = parts_of(path)
    try:
        with made_folder(top, parents) as folder:
            os.replace(staged, name, dst_dir_fd=folder)
    except OSError as error:
        if error.errno not in IN_THE_WAY:
            raise
        raise Hindered(f"{path} cannot be written ({error.strerror})") from error


def _sync(path: Path) -> None:
    if not path.is_symlink():
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@dataclass(frozen=True, slots=True)
class _IndexSwap:
    """
    Replaces the user's index under its lock.

    The lock is a second name of our own new index, so one left by a cut-off try is known to be ours.
    """

    shape: Shape
    patience_s: float

    @property
    def new(self) -> Path:
        return self.shape.index.with_name("index.autopilot")

    @property
    def lock(self) -> Path:
        return self.shape.index.with_name("index.lock")

    def wait(self) -> None:
        """Returns when nobody else holds the lock."""
        end = time.monotonic() + self.patience_s
        self.tidy()
        while self.lock.exists():
            if time.monotonic() > end:
                raise Hindered("another git holds the index")
            time.sleep(POLL_S)

    def tidy(self) -> None:
        """Remove what a cut-off try left."""
        with suppress(FileNotFoundError):
            if self.lock.samefile(self.new):
                self.lock.unlink()
        self.new.unlink(missing_ok=True)
        self.new.with_name(f"{self.new.name}.lock").unlink(missing_ok=True)

    def swap(self, user: UserRepository, touched: tuple[Touched, ...]) -> None:
        end = time.monotonic() + self.patience_s
        while not self._swapped(user, touched):
            if time.monotonic() > end:
                raise Hindered("another git holds the index")
            time.sleep(POLL_S)

    def _swapped(self, user: UserRepository, touched: tuple[Touched, ...]) -> bool:
        """One try: false when another git holds the lock or wrote the index since we copied it."""
        self.tidy()
        before = _stamp(self.shape.index)
        if before:
            # With its date: git compares the content of files as young as the index, and trusts the others' dates.
            shutil.copy2(self.shape.index, self.new)
        git = user.git.at(GIT_INDEX_FILE=self.new)
        if not _fits(git, touched):
            raise Hindered("you staged changes to the same files meanwhile")
        git.run("update-index", "-z", "--index-info", stdin=index_info(touched))
        _refresh(git, [t.path for t in touched if t.new])
        try:
            os.link(self.new, self.lock)
        except FileExistsError:
            return False
        except OSError as error:
            raise Hindered(f"the index cannot be locked ({error.strerror})") from error
        if _stamp(self.shape.index) != before:
            self.tidy()
            return False
        self.lock.replace(self.shape.index)
        self.new.unlink(missing_ok=True)
        return True


def _fits(git: Git, touched: tuple[Touched, ...]) -> bool:
    """Whether what is staged for the touched paths is still the old or the new version."""
    entries = indexed(git, touched)
    return all(entries.get(t.path, [None]) in ([t.old], [t.new]) for t in touched)


def _refresh(git: Git, paths: list[str]) -> None:
    """The index learns the dates of the files, so the next git need not read them; what is gone is no matter."""
    if 0 < len(paths) <= MOST_NAMED:
        git.at(GIT_LITERAL_PATHSPECS="1").run("add", "--refresh", "--", *paths, ok=(0, 1, 128))
    elif paths:
        git.run("update-index", "-q", "--refresh", ok=(0, 1))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    with suppress(FileNotFoundError):
        found = path.stat()
        return found.st_ino, found.st_mtime_ns, found.st_size
    return None


def reverse(touched: tuple[Touched, ...]) -> tuple[Touched, ...]:
    """The way back."""
    return tuple(replace(t, old=t.new, new=t.old) for t in touched)


def index_info(touched: tuple[Touched, ...]) -> bytes:
    """The touched paths for `update-index -z --index-info`; removals first, so that a file may become a folder."""
    zero = next((v[1] for t in touched for v in (t.old, t.new) if v), "")
    gone = [b"0 " + (NOTHING * len(zero)).encode() + b"\t" + os.fsencode(t.path) for t in touched if t.new is None]
    made = [f"{t.new[0]} {t.new[1]} 0\t".encode() + os.fsencode(t.path) for t in touched if t.new]
    return b"".join(line + b"\0" for line in (*gone, *made))
