"""Disposable checkouts for facts and reviewers: made from one commit, used once, gone afterwards."""

import fcntl
import os
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from autopilot.workspace.clones import Slot
from autopilot.workspace.files.removal import remove
from autopilot.workspace.git import storage_errors

OWNER, RECORD, INDEX = ".owner", ".json", ".index"
SPARE = "spare-"
MAX_SPARES = 2


@dataclass(frozen=True, slots=True)
class Checkouts:
    """
    Each checkout has an owner file beside it, locked as long as its process lives.

    From `pool_from` bytes of index on, writing every file anew is what takes the time: then the files of a used
    checkout stay as a spare, which the next one resets as thoroughly as an agent's clone.
    """

    folder: Path
    slot_at: Callable[[Path], Slot]
    pool_from: int = 8_000

    @contextmanager
    def new(self) -> Iterator[Slot]:
        path = self.folder / uuid.uuid4().hex[:12]
        with storage_errors("making a checkout"):
            self.folder.mkdir(parents=True, exist_ok=True)
        with self._owned(path, os.O_EXCL):
            self._take_spare(path)
            yield self.slot_at(path)

    @contextmanager
    def taken_up(self, path: Path) -> Iterator[Slot]:
        """One that a process made which is no more."""
        with self._owned(path):
            yield self.slot_at(path)

    @contextmanager
    def _owned(self, path: Path, how: int = 0) -> Iterator[None]:
        """Ours for as long as we live, put away when we leave it."""
        with storage_errors("making a checkout"):
            owner = os.open(f"{path}{OWNER}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | how, 0o600)
        try:
            fcntl.flock(owner, fcntl.LOCK_EX)
            yield
        finally:
            # What cannot be removed now is removed by the next run: no reason to lose what was done in here.
            with suppress(OSError):
                self._put_away(path)
            os.close(owner)

    def _take_spare(self, path: Path) -> None:
        """Whoever gets hold of a spare's record has it; without one the checkout is written anew."""
        for record in sorted(self.folder.glob(f"{SPARE}*{RECORD}")):
            spare = record.with_suffix("")
            with suppress(OSError):
                record.rename(_beside(path, ".part"))
                spare.rename(path)
                _beside(spare, INDEX).rename(_beside(path, INDEX))
                _beside(path, ".part").rename(_beside(path, RECORD))
                return

    def _put_away(self, path: Path) -> None:
        if self._is_worth_keeping(path):
            spare = path.with_name(f"{SPARE}{path.name}")
            with suppress(OSError):
                remove(path / ".planning")
                path.rename(spare)
                _beside(path, INDEX).rename(_beside(spare, INDEX))
                _beside(path, RECORD).rename(_beside(spare, RECORD))
        self._remove(path)

    def _is_worth_keeping(self, path: Path) -> bool:
        with suppress(OSError):
            spares = sum(1 for _ in self.folder.glob(f"{SPARE}*{RECORD}"))
            large = _beside(path, INDEX).stat().st_size >= self.pool_from
            plain = path.is_dir() and not path.is_symlink()
            # One that a command has filled takes longer to clear than to write anew.
            return large and spares < MAX_SPARES and plain and not self.slot_at(path).volume()
        return False

    def _remove(self, path: Path) -> None:
        remove(path)
        for suffix in (RECORD, ".part", INDEX, f"{INDEX}.lock", OWNER):
            _beside(path, suffix).unlink(missing_ok=True)

    def recover(self, sparing: Collection[str] = ()) -> None:
        """Remove the checkouts of processes that are no more, and every spare; not those somebody still works in."""
        if not self.folder.is_dir():
            return
        for name in {entry.name.split(".")[0] for entry in self.folder.iterdir()}:
            path = self.folder / name
            if str(path) not in sparing and not _is_owned(_beside(path, OWNER)):
                self._remove(path)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f"{path.name}{suffix}")


def _is_owned(owner: Path) -> bool:
    try:
        descriptor = os.open(owner, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
