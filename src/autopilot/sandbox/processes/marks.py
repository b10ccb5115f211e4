"""Finds and ends every process that carries a mark in its environment, wherever it has hidden itself."""

import os
import select
import signal
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

MARK = "AUTOPILOT_MARK"
PROC = Path("/proc")
# A process the kernel cannot end (a hung disk) must not hang us as well.
PATIENCE_S = 10.0
YOUNG_S, LOADING_S, LOADING_LOOKS = 2.0, 0.001, 5
LINKS_OF_ONE = 3


def sweep(mark: str, sparing: Collection[str] = ()) -> int:
    """
    Kill every process whose mark is `mark` or lies beneath it, and say how many there were, all gone by then.

    Those with a mark of `sparing`, or one beneath it, are left alone.
    """
    if not mark or not PROC.is_dir():
        return 0
    killed, deadline = set[int](), time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with ExitStack() as stack:
            found = dict(carriers(mark, stack))
            spared = {pid for pid in found for kept in sparing if _carries(str(pid), kept.encode())}
            for pid in (*lineage(), *spared) if found else ():
                found.pop(pid, None)
            if not found:
                break
            killed |= found.keys()
            for pid, hold in found.items():
                _kill(pid, hold)
            _await_ends([hold for hold in found.values() if hold is not None], deadline)
    return len(killed)


def carriers(mark: str, stack: ExitStack) -> Iterator[tuple[int, int | None]]:
    """Each carrier's id, and a handle to it taken before its mark was read, so that a reused id is never hit."""
    for name in os.listdir(PROC):  # noqa: PTH208 - a thousand Path objects a scan would cost more than the scan
        if not name.isdigit() or not _carries_soon(name, mark.encode()):
            continue
        hold = _hold(int(name))
        if hold is not None:
            stack.callback(os.close, hold)
        if _carries(name, mark.encode()):
            yield int(name), hold


def await_group(leader: int) -> None:
    """
    Wait for the rest of a killed group whose leader is reaped.

    What dies has lost its environment, and with it the mark, while it still holds its ports, locks and folders: for a
    second, if it has much memory to give back.
    """
    try:
        os.killpg(leader, 0)
    except (ProcessLookupError, PermissionError):
        return
    with ExitStack() as stack:
        holds = [hold for pid in _members(leader) if (hold := _hold(pid)) is not None]
        for hold in holds:
            stack.callback(os.close, hold)
        _await_ends(holds, time.monotonic() + PATIENCE_S)


def _members(group: int) -> Iterator[int]:
    for name in os.listdir(PROC) if PROC.is_dir() else ():  # noqa: PTH208 - see the scan
        with suppress(OSError):
            if name.isdigit() and int(stat_of(name)[2]) == group:
                yield int(name)


def lineage() -> Iterator[int]:
    """Ourselves, our parent, its parent, and so on."""
    pid = os.getpid()
    while pid > 0:
        yield pid
        try:
            pid = int(stat_of(str(pid))[1])
        except OSError:
            return


def stat_of(pid: str) -> list[bytes]:
    """State, parent, group and the rest, without the name in brackets, which may itself contain brackets and spaces."""
    with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123 - see the scan
        return file.readall().rpartition(b")")[2].split()


def _carries_soon(pid: str, mark: bytes) -> bool:
    """As `_carries`, but a program that is just being loaded has no environment yet: it is looked at again."""
    for _ in range(LOADING_LOOKS):
        environment = _environment(pid)
        if environment or not _is_loading(pid):
            return _has(environment, mark)
        time.sleep(LOADING_S)
    return False


def _carries(pid: str, mark: bytes) -> bool:
    """Whether the environment the process was started with has the mark; a zombie's is empty."""
    return _has(_environment(pid), mark)


def _has(environment: bytes, mark: bytes) -> bool:
    entry = b"\0" + MARK.encode() + b"=" + mark
    framed = b"\0" + environment + b"\0"
    return entry + b"\0" in framed or entry + b"/" in framed


def _environment(pid: str) -> bytes:
    """Where a program's first thread has ended and others go on, theirs."""
    found = _content(f"/proc/{pid}/environ")
    with suppress(OSError):
        # A thread is a link: nearly all that have no environment have one thread, and are not looked at further.
        if not found and os.stat(f"/proc/{pid}/task").st_nlink > LINKS_OF_ONE:  # noqa: PTH116 - see the scan
            tasks = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - see the scan
            return next(filter(None, (_content(f"/proc/{pid}/task/{task}/environ") for task in tasks)), b"")
    return found


def _content(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - see the scan
            return file.readall()
    except OSError:
        return b""


def _is_loading(pid: str) -> bool:
    """A program of ours without an environment that has only just come to life; kernel threads have no program."""
    try:
        os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115 - see the scan
        return time.time() - os.stat(f"/proc/{pid}").st_mtime < YOUNG_S  # noqa: PTH116 - see the scan
    except OSError:
        return False


def _hold(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        return None


def _kill(pid: int, hold: int | None) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hold is None:
            os.kill(pid, signal.SIGKILL)
        else:
            signal.pidfd_send_signal(hold, signal.SIGKILL)


def _await_ends(holds: list[int], deadline: float) -> None:
    """Wait for the processes behind the handles; without any, give the kernel a moment."""
    if not holds:
        time.sleep(0.002)
    for hold in holds:
        poller = select.poll()
        poller.register(hold, select.POLLIN)
        poller.poll(max(0.0, deadline - time.monotonic()) * 1000)
