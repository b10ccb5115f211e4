"""Runs programs under keepers: after a crash the next process finds them still at work, or what came of them."""

import errno
import hashlib
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from io import FileIO
from pathlib import Path
from typing import Literal

import msgspec

from autopilot.domain.running import Job, Ran
from autopilot.domain.value import Value
from autopilot.sandbox import keeper, marks
from autopilot.sandbox.launching import Ceilings, find_program, hold_to, not_started
from autopilot.sandbox.processes import ChildProcesses
from autopilot.sandbox.streams import Kept

LEASE_S = 600.0
RENEWALS = 5
MODES = ("rb", "wb", "rb", "wb")
PATIENCE_S = 10.0
_PAPER = "order.json"


class Paper(Value, frozen=True, kw_only=True):
    """What a later process has to know of a call that is held: whose it is, where it works, what it was asked."""

    mark: str
    cwd: str
    asked: str
    boot: str


class End(Value, frozen=True, kw_only=True):
    """How it ended: by itself, at its time limit, because nobody renewed the lease, or because it was told to."""

    why: Literal["ended", "timeout", "lapsed", "stopped"]
    exit_code: int | None
    seconds: float
    seen: tuple[int, int]


class KeptProcesses:
    """
    Fulfils `Processes`. `folder` is where calls are held, one folder each; `boot` names this boot of the machine.

    A call that is held already, by a process before us, is not started again: it is waited for. So its mark is its
    name, and what came of it is kept until it is released; a program without a mark is nobody's later.
    """

    def __init__(self, folder: Path, others: ChildProcesses, boot: str, lease_s: float = LEASE_S) -> None:
        self._folder, self._others, self._boot, self._lease_s = folder, others, boot, lease_s

    def run(self, job: Job, started: Callable[[int], None] | None = None) -> Ran:
        """Run to the end, or take up what was begun. Raises `AgentUnavailable` when the program does not exist."""
        place = self._place(job.mark or f"unnamed {secrets.token_hex(8)}")
        try:
            if not (self._holds(place, job) and self._ended_well(place)):
                self._clear(place)
                self._begin(place, job, started)
                self._wait(place)
        except BaseException:
            self._stop(place)
            raise
        came = ran(place, job)
        if not job.mark:
            self._clear(place)
        return came

    def sweep(self, mark: str) -> int:
        """Kill whatever carries the mark, keepers included."""
        return self._others.sweep(mark)

    def place(self, call: str) -> str | None:
        """The folder a call works in that an earlier process began: it is still going on, or has come to its end."""
        place = self._place(call)
        paper = paper_of(place)
        return paper.cwd if paper and self._usable(place, paper) else None

    def held(self) -> frozenset[str]:
        """The marks of the calls that go on though their run is gone."""
        papers = ((place, paper_of(place)) for place in self._places())
        return frozenset(p.mark for place, p in papers if p and p.boot == self._boot and alive(place))

    def release(self, call: str) -> None:
        """Forget the call: its answer is on record."""
        self._clear(self._place(call))

    def release_all(self) -> None:
        """End every call that is held and forget it."""
        for place in self._places():
            self._clear(place)

    def _place(self, call: str) -> Path:
        return self._folder / hashlib.sha256(self._others.own(call).encode()).hexdigest()[:24]

    def _places(self) -> Iterator[Path]:
        return iter(sorted(self._folder.iterdir()) if self._folder.is_dir() else ())

    def _holds(self, place: Path, job: Job) -> bool:
        """Whether it is this very call: what it was asked is part of its name."""
        paper = paper_of(place)
        same = paper is not None and (paper.cwd, paper.asked) == (job.cwd, digest(job.stdin))
        return paper is not None and same and self._usable(place, paper)

    def _usable(self, place: Path, paper: Paper) -> bool:
        """A call whose keeper was killed, or ended for want of a run, has no answer. What a reboot left may be torn."""
        if paper.boot != self._boot:
            return False
        done = end_of(place)
        return alive(place) if done is None else done.why in {"ended", "timeout"}

    def _ended_well(self, place: Path) -> bool:
        """Wait for a call that is held. Its keeper may be ending it at this moment because its lease ran out."""
        self._wait(place)
        done = end_of(place)
        return done is not None and done.why in {"ended", "timeout"}

    def _begin(self, place: Path, job: Job, started: Callable[[int], None] | None) -> None:
        program = find_program(job.argv[0], job.cwd, job.env)
        mark = self._others.own(job.mark)
        place.mkdir(parents=True, mode=0o700)
        (place / keeper.INPUT).write_bytes(job.stdin)
        (place / keeper.LEASE).touch()
        paper = Paper(mark=mark, cwd=job.cwd, asked=digest(job.stdin), boot=self._boot)
        (place / _PAPER).write_bytes(msgspec.json.encode(paper))
        order = keeper.Order(
            folder=str(place),
            cwd=job.cwd,
            timeout_s=job.timeout_s,
            lease_s=self._lease_s,
            max_output=job.max_output,
            mark=mark,
            inherited=job.inherited,
            argv=(program, *job.argv[1:]),
            env={**job.env, marks.MARK: mark},
        )
        told = handed_over(order, mark)
        if not told.isdigit():
            self._clear(place)
            code = int(told.removeprefix("failed ") or errno.ECHILD)
            raise not_started(job, OSError(code, os.strerror(code)))
        if started is not None:
            started(int(told))

    def _wait(self, place: Path) -> None:
        """Renew the lease until the keeper is gone."""
        pid = keeper_of(place)
        if pid is None:
            return
        try:
            hold = os.pidfd_open(pid)
        except OSError:
            return
        try:
            poller = select.poll()
            poller.register(hold, select.POLLIN)
            while not poller.poll(self._lease_s / RENEWALS * 1000):
                with suppress(FileNotFoundError):
                    os.utime(place / keeper.LEASE)
        finally:
            os.close(hold)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)

    def _stop(self, place: Path) -> None:
        """Have the keeper end all; should it not, do it in its stead."""
        pid, paper = keeper_of(place), paper_of(place)
        if pid is not None and alive(place):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + PATIENCE_S
            while alive(place) and time.monotonic() < deadline:
                time.sleep(0.01)  # it need not be our child, so its end can only be watched for
        if paper is not None:
            marks.sweep(paper.mark)
        if pid is not None:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def _clear(self, place: Path) -> None:
        if place.exists():
            self._stop(place)
            shutil.rmtree(place, ignore_errors=True)


def handed_over(order: keeper.Order, mark: str) -> str:
    """Start a keeper with the order; what it told: the program's number, or why there is none."""
    with ExitStack() as stack:
        ordering, giving, told, telling = opened = (*os.pipe(), *os.pipe())
        files = {fd: stack.enter_context(FileIO(fd, mode)) for fd, mode in zip(opened, MODES, strict=True)}
        child = subprocess.Popen(
            (sys.executable, "-I", "-S", keeper.__file__, str(ordering), str(telling)),
            cwd="/",
            env={marks.MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=(ordering, telling, *order.inherited),
        )
        child.returncode = 0  # it is waited for by its number, in whichever process that will be
        files[ordering].close()
        files[telling].close()
        # Before it has its order: what it starts is held to them from its first moment.
        hold_to(Ceilings(), child.pid)
        with suppress(BrokenPipeError):
            give(files[giving], keeper.written(order))
        files[giving].close()
        return files[told].readall().decode(errors="replace")


def give(pipe: FileIO, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[pipe.write(rest) :]


def ran(place: Path, job: Job) -> Ran:
    """What came of the call. A keeper that was killed left no end: then the program was cut off."""
    done = end_of(place) or End(why="stopped", exit_code=None, seconds=0.0, seen=(0, 0))
    return Ran(
        exit_code=done.exit_code,
        stdout=printed(place, keeper.OUTPUT, job.max_output),
        stderr=printed(place, keeper.ERRORS, job.max_output),
        seconds=done.seconds,
    )


def printed(place: Path, name: str, most: int) -> bytes:
    kept = Kept(most)
    for part in (name, f"{name}{keeper.OLDER}", f"{name}{keeper.NEWER}"):
        with suppress(FileNotFoundError):
            kept.add((place / part).read_bytes())
    return kept.whole()


def paper_of(place: Path) -> Paper | None:
    try:
        return msgspec.json.decode((place / _PAPER).read_bytes(), type=Paper)
    except (OSError, msgspec.DecodeError):
        return None


def end_of(place: Path) -> End | None:
    try:
        why, code, seconds, out, err = (place / keeper.RESULT).read_text().split()
    except (OSError, ValueError):
        return None
    return msgspec.convert(
        {"why": why, "exit_code": None if code == "-" else int(code), "seconds": float(seconds), "seen": (out, err)},
        End,
        strict=False,
    )


def keeper_of(place: Path) -> int | None:
    try:
        return int((place / keeper.KEEPER).read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def alive(place: Path) -> bool:
    """Whether the very keeper of the call still runs: a number can be another process's by now."""
    try:
        pid, birth, _ = (place / keeper.KEEPER).read_text().split()
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except (OSError, ValueError):
        return False
    return fields[19] == birth and fields[0] not in "ZX"


def digest(stdin: bytes) -> str:
    return hashlib.sha256(stdin).hexdigest()
