"""Runs programs to their end; whatever happens, none of them and nothing they started is left behind."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress

import msgspec

from autopilot.domain.errors import Interrupted
from autopilot.domain.process import Job, Ran
from autopilot.sandbox.processes import marks
from autopilot.sandbox.processes.idleness import idleness_of
from autopilot.sandbox.processes.launch import SYSTEM_FOLDERS, Ceilings, Launcher
from autopilot.sandbox.processes.pipes import TICK_S, Conversation, has_ended

# For a program that is busy ending thousands of others.
PATIENCE_S = 5.0


class ChildProcesses:
    """
    Real processes, each in a session of its own that dies with us.

    A mark belongs to one job at a time: when the job ends, everything that carries it or a mark beneath it is killed.
    Marks are put beneath `territory`, one a repository: two projects may well have runs of the same name.
    """

    def __init__(
        self,
        ceilings: Ceilings = Ceilings(),  # noqa: B008 - frozen, so it is safe to share
        tools: str = SYSTEM_FOLDERS,
        territory: str = "",
    ) -> None:
        self._launcher, self._territory = Launcher(ceilings, tools), territory
        self._turn, self._halted = threading.Lock(), False
        self._endings: list[Callable[[], None]] = []

    def run(self, job: Job, started: Callable[[int], None] | None = None) -> Ran:
        """Run to the end. Raises `AgentUnavailable` when the program does not exist."""
        begun = time.monotonic()
        job = msgspec.structs.replace(job, mark=self.own(job.mark))
        with self._running(job) as child:
            talk = Conversation(child, job.stdin, job.max_output, job.talk)
            with self.in_reach(lambda: os.killpg(child.pid, signal.SIGKILL)):
                if started is not None:
                    started(child.pid)
                ended = talk.until_end(time.monotonic() + job.timeout_s, idleness_of(job))
                if not ended:
                    talk.take_leave()
            _end(child, job)
            talk.drain()
        return Ran(
            exit_code=child.returncode if ended else None,
            stdout=talk.stdout.whole(),
            stderr=talk.stderr.whole(),
            seconds=time.monotonic() - begun,
            idle=talk.idle,
        )

    def sweep(self, mark: str, sparing: Collection[str] = ()) -> int:
        """
        Kill every process still carrying the mark, wait until it is gone, and say how many there were.

        Those with a mark of `sparing`, as it is in their environment, are left alone.
        """
        return marks.sweep(self.own(mark), sparing)

    @contextmanager
    def halted(self) -> Iterator[None]:
        """Ends what every thread is running, by `Interrupted` in that thread, and starts nothing until it is left."""
        with self._turn:
            self._halted = True
            for ending in self._endings:
                with suppress(ProcessLookupError, PermissionError):
                    ending()
        try:
            yield
        finally:
            self._halted = False

    @contextmanager
    def in_reach(self, ending: Callable[[], None]) -> Iterator[None]:
        """`ending` ends what is waited for in here; whose number it goes by must not be reaped meanwhile."""
        with self._turn:
            if self._halted:
                raise Interrupted("halted")
            self._endings.append(ending)
        try:
            yield
        finally:
            with self._turn:
                self._endings.remove(ending)
        if self._halted:
            raise Interrupted("halted")

    def rest(self, seconds: float) -> None:
        """Let the time pass, within reach of those who halt everything."""
        woken = threading.Event()
        with self.in_reach(woken.set):
            woken.wait(seconds)

    def own(self, mark: str) -> str:
        """The mark as it is in the environment of our children."""
        return f"{self._territory}/{mark}" if self._territory and mark else mark

    @contextmanager
    def _running(self, job: Job) -> Iterator[subprocess.Popen[bytes]]:
        """A started child. When we are interrupted everything is gone first, and only then the exception goes on."""
        child: subprocess.Popen[bytes] | None = None
        try:
            child = self._launcher.start(job, {**job.env, marks.MARK: job.mark} if job.mark else job.env)
            yield child
        finally:
            if child is None:
                marks.sweep(job.mark)
            else:
                _end(child, job)
                _close(child)


def _end(child: subprocess.Popen[bytes], job: Job) -> None:
    """Kill whatever carries the mark, in the group or out of it, then the group while the child holds its number."""
    if child.returncode is None:
        alone = job.leaves == "nothing" or (job.leaves == "asked" and _ended_all(child.pid))
        if not alone:
            marks.sweep(job.mark)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        if not alone:
            marks.await_group(child.pid)


def _ended_all(pid: int) -> bool:
    """Have the program end everything beneath it, which it can do better than we: orphans come to it."""
    deadline = time.monotonic() + PATIENCE_S
    if not has_ended(pid):
        os.kill(pid, signal.SIGTERM)
    while not has_ended(pid) and time.monotonic() < deadline:
        time.sleep(TICK_S)
    end = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    return end is not None and end.si_code == os.CLD_EXITED


def _close(child: subprocess.Popen[bytes]) -> None:
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream is not None:
            stream.close()
