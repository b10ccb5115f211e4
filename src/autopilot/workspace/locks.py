"""Locks a killed git leaves behind: removed only where it is proven that nobody holds them."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from autopilot.workspace.files.removal import remove

PATIENCE_S = 2.0
POLL_S = 0.02


def remove_locks(folder: Path) -> None:
    """Every git lock below a folder that only we write to; the caller holds the run's lock."""
    for lock in folder.rglob("*.lock"):
        remove(lock)


def clear_ref_lock(lock: Path, target: str, repository: Path, patience_s: float = PATIENCE_S) -> bool:
    """
    True when the lock is not there (any more).

    One left by our own killed git is empty or holds our target, or as much of it as a power cut has left; it is removed
    after a wait, and only if no process has it open and no git works in the repository.
    """
    end = time.monotonic() + patience_s
    while lock.exists():
        if time.monotonic() > end:
            return _is_ours(lock, target) and not in_use(lock, repository) and _removed(lock)
        time.sleep(POLL_S)
    return True


def _removed(lock: Path) -> bool:
    lock.unlink(missing_ok=True)
    return True


def _is_ours(lock: Path, target: str) -> bool:
    with suppress(OSError):
        return target.startswith(lock.read_text(encoding="utf-8", errors="replace").replace("\0", "").strip())
    return False


def in_use(lock: Path, repository: Path) -> bool:
    """Whether a process may hold the lock. Where the system does not tell, the answer is yes."""
    if not Path("/proc/self/fd").exists():
        return True
    inside = {str(repository), str(lock.parent)}
    return any(_holds(process, lock, inside) for process in _processes())


def _processes() -> Iterator[Path]:
    own = str(os.getpid())
    return (p for p in Path("/proc").iterdir() if p.name.isdigit() and p.name != own)


def _holds(process: Path, lock: Path, inside: set[str]) -> bool:
    with suppress(OSError):
        if (process / "comm").read_text().strip() == "git":
            where = str((process / "cwd").readlink())
            if any(where == folder or where.startswith(f"{folder}/") for folder in inside):
                return True
        return any(_target(handle) == str(lock) for handle in (process / "fd").iterdir())
    return False


def _target(handle: Path) -> str:
    with suppress(OSError):
        return str(handle.readlink())
    return ""
