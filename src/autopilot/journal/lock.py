"""One run a repository: the lock file, who holds it, and whether that process still lives."""

import fcntl
import os
import platform
import signal
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import msgspec

from autopilot.domain.errors import RepositoryInvalid, RunLocked
from autopilot.domain.value import Value
from autopilot.files.home_files import open_file
from autopilot.journal.clock import SystemClock
from autopilot.journal.durable_files import make_folder, write_at
from autopilot.journal.storage_errors import translated

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# A look at who holds the lock takes it for an instant; a start waits that out before it gives up.
_TRIES, _MOST_TRIES, _PAUSE_S = 10, 500, 0.02
STOP_SECONDS = 60.0
_STATE_FIELD, _BIRTH_FIELD = 0, 19


class Owner(Value, frozen=True, kw_only=True):
    """The process holding the lock. `birth` and `boot` tell it from a later one with the same number."""

    pid: int
    birth: str = ""
    boot: str = ""
    host: str = ""
    run: str = ""
    since: str = ""


class RunLock:
    """
    Held from entering to leaving, and given up by the system when the process dies, however it dies.

    `folder` is `.autopilot`. The file is never removed: a lock on a removed file keeps nobody out.
    """

    def __init__(self, folder: Path, run: str = "") -> None:
        self._path, self._run = folder / "lock", run
        self._fd = -1

    def __enter__(self) -> Self:
        make_folder(self._path.parent)
        with translated(self._path), ExitStack() as undo:
            self._fd = open_file(self._path, os.O_RDWR | os.O_CREAT)
            undo.callback(self._release)
            if not _taken(self._fd):
                raise _held_by(_content(self._fd))
            self.name_run(self._run)
            undo.pop_all()
        return self

    def name_run(self, run: str) -> None:
        """Write down who holds the lock, and for which run."""
        self._run = run
        owner = Owner(
            pid=os.getpid(),
            birth=birth_of(os.getpid()),
            boot=boot_id(),
            host=platform.node(),
            run=run,
            since=SystemClock().now(),
        )
        text = msgspec.json.encode(owner) + b"\n"
        with translated(self._path):
            write_at(self._fd, text, 0)
            os.ftruncate(self._fd, len(text))

    def __exit__(self, *_: object) -> None:
        self._release()

    def _release(self) -> None:
        # A child between its fork and its exec still has a copy of the descriptor; closing ours alone frees nothing.
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        os.close(self._fd)
        self._fd = -1


def owner(folder: Path) -> Owner | None:
    """Who holds the lock now; None when it is free, whatever an earlier owner left in the file."""
    path = folder / "lock"
    with translated(path):
        try:
            fd = open_file(path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _content(fd)
        else:
            return None
        finally:
            os.close(fd)


def alive(owner: Owner) -> bool:
    """The very process still runs: same number, same start, same boot of this machine."""
    if owner.pid <= 0 or owner.boot != boot_id():
        return False
    return _exists(owner.pid) and birth_of(owner.pid) == owner.birth


def end(owner: Owner, *, now: bool) -> None:
    """Ask the process to stop and wait until it has; with `now` it is not asked."""
    os.kill(owner.pid, signal.SIGKILL if now else signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while alive(owner) and time.monotonic() < deadline:
        time.sleep(0.05)  # the end of a process that is not our child can only be watched for
    if alive(owner):
        raise RepositoryInvalid(
            f"process {owner.pid} did not stop within {STOP_SECONDS:.0f} seconds",
            why="the run may be in the middle of a command that does not end",
            do="use `autopilot stop --now`; nothing is lost by it",
        )


def birth_of(pid: int) -> str:
    """When the process started, in clock ticks since boot; empty when it is gone or the system does not say."""
    fields = _stat(pid)
    return fields[_BIRTH_FIELD] if fields and fields[_STATE_FIELD] not in "ZX" else ""


def boot_id() -> str:
    """Names this boot of the machine; empty where the system has no such name."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _stat(pid: int) -> list[str]:
    """The fields after the program's name, which may hold spaces and brackets: state first."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text[text.rindex(")") + 1 :].split()


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _taken(fd: int) -> bool:
    """A lock whose named owner is gone is held by someone who only looks, however long a busy machine keeps them."""
    for number in range(_MOST_TRIES):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if number >= _TRIES and alive(_content(fd)):
                return False
            time.sleep(_PAUSE_S)
        else:
            return True
    return False


def _content(fd: int) -> Owner:
    """What the file says; an owner just writing its name is given a moment."""
    for _ in range(_TRIES):
        try:
            return msgspec.json.decode(os.pread(fd, 4096, 0), type=Owner)
        except (msgspec.DecodeError, UnicodeDecodeError):
            time.sleep(_PAUSE_S)
    return Owner(pid=0)


def _held_by(owner: Owner) -> RunLocked:
    who = f"process {owner.pid}" if owner.pid else "a process that has not given its number"
    run = f" ({owner.run})" if owner.run else ""
    since = f" since {owner.since}" if owner.since else ""
    return RunLocked(
        f"Another run holds this repository: {who}{run} on {owner.host or 'this machine'}{since}.",
        why="Two runs at once would write over each other's work.",
        do=f"Wait for it, or stop it with `autopilot stop`{f' (or `kill {owner.pid}`)' if owner.pid else ''}.",
    )
