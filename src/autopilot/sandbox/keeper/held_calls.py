"""Runs programs under keepers: after a crash the next process finds them still at work, or what came of them."""

import hashlib
import os
import secrets
import select
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec

from autopilot.domain.errors import StorageFailed
from autopilot.domain.process import Job, Ran
from autopilot.domain.value import Value
from autopilot.files import home_files
from autopilot.sandbox.keeper import keeper
from autopilot.sandbox.keeper.follow_output import Following, Listening
from autopilot.sandbox.keeper.orders import Order, handed_over
from autopilot.sandbox.processes import marks
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.processes.idleness import Idleness, idleness_of
from autopilot.sandbox.processes.launch import find_program, not_started
from autopilot.sandbox.processes.pipes import Kept

LEASE_S = 600.0
RENEWALS = 5
# How often to look what was printed, where somebody listens: less and less often while nothing is.
LISTEN_S, SILENCE_S = 0.2, 2.0
ANSWERED = frozenset({"ended", "timeout", "over"})
PATIENCE_S = 10.0
_PAPER = "order.json"


class Paper(Value, frozen=True, kw_only=True):
    """What a later process has to know of a call that is held: who made it, where it works, what it was asked."""

    call: str
    mark: str
    whose: str
    cwd: str
    asked: str
    boot: str


class End(Value, frozen=True, kw_only=True):
    """
    How it ended: by itself, at its time limit, because all was said, because nobody renewed the lease, or by us.

    The first three leave an answer.
    """

    why: Literal["ended", "timeout", "over", "lapsed", "stopped"]
    exit_code: int | None
    seconds: float
    seen: tuple[int, int]


class KeptProcesses:
    """
    Fulfils `Processes`. `folder` is where calls are held, one folder each; `boot` names this boot of the machine.

    A call that is held already, by a process before us, is not started again: it is waited for. So its mark is its
    name, and what came of it is kept until it is released; a program without a mark is nobody's later.

    `whose` names the agents and how they are confined: what others were asked is not taken up. Empty takes anything.
    A program that wants to be answered while it runs cannot be held: nobody would be there to answer.
    """

    def __init__(
        self, folder: Path, others: ChildProcesses, boot: str, lease_s: float = LEASE_S, whose: str = ""
    ) -> None:
        self._folder, self._others, self._boot, self._lease_s, self._whose = folder, others, boot, lease_s, whose

    def run(self, job: Job, started: Callable[[int], None] | None = None) -> Ran:
        """Run to the end, or take up what was begun. Raises `AgentUnavailable` when the program does not exist."""
        if job.talk is not None and job.talk.replies:
            return self._others.run(job, started)
        place, idle = self._place(job.mark or f"unnamed {secrets.token_hex(8)}"), False
        try:
            if not (self._holds(place, job) and self._ended_well(place, job)):
                self._clear(place)
                self._begin(place, job, started)
                idle = self._wait(place, job)
            if end_of(place) is None:
                self._stop(place)  # the keeper was killed: what it held may still be there
            came = msgspec.structs.replace(ran(place, job), idle=idle)
        except OSError as error:
            self._clear(place)
            raise unkept(place, error.strerror or str(error)) from error
        except BaseException:
            self._clear(place)
            raise
        if not job.mark:
            self._clear(place)
        return came

    def sweep(self, mark: str) -> int:
        """Kill whatever carries the mark, keepers included."""
        return self._others.sweep(mark)

    def place(self, call: str, asked: str) -> str | None:
        """
        The folder a call works in that an earlier process began: it is still going on, or has come to its end.

        It does not end for want of a run before the time of a whole lease has passed.
        """
        place = self._place(call)
        paper = paper_of(place)
        same = paper is not None and paper.asked == digest(asked.encode()) and Path(paper.cwd).is_dir()
        return paper.cwd if paper and same and self._usable(place, paper) and renewed(place) else None

    def held(self) -> dict[str, Paper]:
        """The calls, by their marks, that can be taken up: each goes on though its run is gone, or has its answer."""
        papers = ((place, paper_of(place)) for place in self._places())
        return {paper.mark: paper for place, paper in papers if paper and self._usable(place, paper)}

    def release(self, call: str) -> None:
        """End the call if it still goes on, and forget it."""
        self._clear(self._place(call))

    def release_all(self, but: Callable[[str], bool] = lambda _: False) -> int:
        """End and forget every call but those; how many there were. One that nobody can take up is not kept."""
        kept = {self._place(paper.call) for paper in self.held().values() if but(paper.call)}
        others = [place for place in self._places() if place not in kept]
        for place in others:
            self._clear(place)
        return len(others)

    def _place(self, call: str) -> Path:
        return self._folder / hashlib.sha256(self._others.own(call).encode()).hexdigest()[:24]

    def _places(self) -> Iterator[Path]:
        home_files.require_folder(self._folder)
        return iter(sorted(self._folder.iterdir()) if self._folder.is_dir() else ())

    def _holds(self, place: Path, job: Job) -> bool:
        """Whether it is this very call: what it was asked is part of its name."""
        paper = paper_of(place)
        same = paper is not None and (paper.cwd, paper.asked) == (job.cwd, asked_in(job))
        return paper is not None and same and self._usable(place, paper)

    def _usable(self, place: Path, paper: Paper) -> bool:
        """A call whose keeper was killed, or ended for want of a run, has no answer. What a reboot left may be torn."""
        if paper.boot != self._boot or (self._whose and paper.whose != self._whose):
            return False
        lives, done = alive(place), end_of(place)
        return lives if done is None else done.why in ANSWERED

    def _ended_well(self, place: Path, job: Job) -> bool:
        """Wait for a call that is held. Its keeper may be ending it at this moment because its lease ran out."""
        if not renewed(place):
            return False
        self._wait(place, job)
        done = end_of(place)
        return done is not None and done.why in ANSWERED

    def _begin(self, place: Path, job: Job, started: Callable[[int], None] | None) -> None:
        program = find_program(job.argv[0], job.cwd, job.env)
        mark = self._others.own(job.mark)
        with home_files.folder(self._folder, make=True) as here:
            os.mkdir(place.name, 0o700, dir_fd=here)
        (place / keeper.INPUT).write_bytes(job.stdin)
        (place / keeper.LEASE).touch()
        paper = Paper(call=job.mark, mark=mark, whose=self._whose, cwd=job.cwd, asked=asked_in(job), boot=self._boot)
        (place / _PAPER).write_bytes(msgspec.json.encode(paper))
        order = Order(
            folder=str(place),
            cwd=job.cwd,
            timeout_s=job.timeout_s,
            lease_s=self._lease_s,
            max_output=job.max_output,
            mark=mark,
            inherited=job.inherited,
            held=job.held_open,
            argv=(program, *job.argv[1:]),
            env={**job.env, marks.MARK: mark},
        )
        told = handed_over(order)
        if not told.isdigit():
            self._clear(place)
            code = int(told.removeprefix("failed "))
            raise not_started(job, OSError(code, os.strerror(code)))
        if started is not None:
            started(int(told))

    def _wait(self, place: Path, job: Job) -> bool:
        """Until the keeper is gone, and all that was printed is heard by who listens. Whether it stood still."""
        idle = False
        ear = Listening(job.talk, Following(place, keeper.OUTPUT, job.max_output)) if job.talk else None
        try:
            with watched(place) as hold:
                if hold is not None:
                    with self._others.in_reach(lambda: signal.pidfd_send_signal(hold, signal.SIGTERM)):
                        idle = self._renew(place, hold, ear, idleness_of(job))
            if ear:
                ear.hear()
        finally:
            if ear:
                ear.close()
        reap(place)
        return idle

    def _renew(self, place: Path, hold: int, ear: Listening | None, idleness: Idleness | None) -> bool:
        """
        Keep the lease up until the keeper is gone; whether its program stood still.

        One whose program has said all, or gives no sign of life, is told to end it.
        """
        pause, told, idle, quiet = self._lease_s / RENEWALS, False, False, LISTEN_S
        poller = select.poll()
        poller.register(hold, select.POLLIN)
        due = time.monotonic() + pause
        rest = min(pause, idleness.pause_s if idleness else pause)
        while not poller.poll(min(rest, quiet if ear else rest) * 1000):
            if time.monotonic() >= due:
                renewed(place)
                due = time.monotonic() + pause
            if ear:
                quiet = LISTEN_S if ear.hear() else min(2 * quiet, SILENCE_S)
            idle = idle or (not told and idleness is not None and idleness.lapsed(written_by(place)))
            if not told and (idle or (ear and ear.enough)):
                told = True
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(hold, signal.SIGUSR1)
        return idle

    def _stop(self, place: Path) -> None:
        """Have the keeper end all; should it not, do it in its stead."""
        paper = paper_of(place)
        with watched(place) as hold:
            if hold is not None and paper is not None and paper.boot == self._boot:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(hold, signal.SIGTERM)
                poller = select.poll()
                poller.register(hold, select.POLLIN)
                poller.poll(PATIENCE_S * 1000)
        if paper is not None and end_of(place) is None:
            marks.sweep(paper.mark)
        reap(place)

    def _clear(self, place: Path) -> None:
        if place.exists():
            self._stop(place)
            shutil.rmtree(place, ignore_errors=True)


def unkept(place: Path, reason: str) -> StorageFailed:
    return StorageFailed(
        f"A call could not be held in {str(place)!r}: {reason}.",
        why="What the agent printed is not all there, and half an answer is none.",
        do="Free some space, then run `autopilot resume`: the call is made again.",
    )


def ran(place: Path, job: Job) -> Ran:
    """What came of the call. A keeper that was killed left no end: then the program was cut off."""
    done = end_of(place) or End(why="stopped", exit_code=None, seconds=0.0, seen=(0, 0))
    whole = done.why in ANSWERED
    for name, seen in zip((keeper.OUTPUT, keeper.ERRORS), done.seen, strict=True):
        if seen and (place / name).stat().st_size < min(seen, job.max_output):
            raise unkept(place, "the disk took only a part of it")
    return Ran(
        exit_code=done.exit_code,
        stdout=printed(place, keeper.OUTPUT, job.max_output),
        stderr=printed(place, keeper.ERRORS, job.max_output),
        seconds=done.seconds,
        cut_off="" if whole else "the process that held the call was killed",
    )


def printed(place: Path, name: str, most: int) -> bytes:
    kept = Kept(most)
    for part in (name, f"{name}{keeper.OLDER}", f"{name}{keeper.NEWER}"):
        with suppress(FileNotFoundError):
            kept.add(home_files.read_file(place / part))
    return kept.whole()


def written_by(place: Path) -> int:
    """A number that changes whenever the program has printed something; 0 before it has."""
    seen = 0
    for name in (keeper.OUTPUT, keeper.ERRORS):
        for part in (name, f"{name}{keeper.NEWER}"):
            with suppress(FileNotFoundError):
                held = (place / part).stat()
                seen += held.st_size and held.st_mtime_ns
    return seen


def paper_of(place: Path) -> Paper | None:
    try:
        return msgspec.json.decode(home_files.read_file(place / _PAPER), type=Paper)
    except (OSError, home_files.Foreign, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def end_of(place: Path) -> End | None:
    try:
        told, _, proof = home_files.read_file(place / keeper.RESULT).decode().rstrip().rpartition(" ")
        if proof != keeper.checksum(told):
            return None
        why, code, seconds, out, err = told.split()
        fields = {"why": why, "exit_code": None if code == "-" else int(code), "seconds": seconds, "seen": (out, err)}
        return msgspec.convert(fields, End, strict=False)
    except (OSError, home_files.Foreign, ValueError, msgspec.ValidationError):
        return None


def alive(place: Path) -> bool:
    """Whether the very keeper of the call still runs: a number can be another process's by now."""
    return _keeper(place)[1] not in {"", "Z", "X"}


@contextmanager
def watched(place: Path) -> Iterator[int | None]:
    """A handle to the keeper, None when it is gone."""
    hold = None
    with suppress(OSError):
        hold = os.pidfd_open(_keeper(place)[0])
    try:
        # The number may have become another's before we took hold of it.
        yield hold if alive(place) else None
    finally:
        if hold is not None:
            os.close(hold)


def reap(place: Path) -> None:
    """A keeper of ours that has ended; one that an earlier process started is not ours to wait for."""
    pid, state = _keeper(place)
    if state == "Z":
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def renewed(place: Path) -> bool:
    """Whether the call, if it still goes on, goes on for the time of another lease."""
    try:
        os.utime(place / keeper.LEASE)
    except FileNotFoundError:
        return False
    return True


def _keeper(place: Path) -> tuple[int, str]:
    """Its number and its state; without a state when it is gone, or the number another's."""
    try:
        pid, birth, _ = home_files.read_file(place / keeper.KEEPER).decode().split()
        fields = marks.stat_of(pid)
    except (OSError, home_files.Foreign, ValueError):
        return 0, ""
    return (int(pid), fields[0].decode()) if fields[19] == birth.encode() else (0, "")


def asked_in(job: Job) -> str:
    return digest(job.asked.encode() or job.stdin)


def digest(question: bytes) -> str:
    return hashlib.sha256(question).hexdigest()
