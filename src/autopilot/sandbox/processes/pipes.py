"""Feeds a child its input and keeps what it prints, in bounded memory, until it ends or its time is up."""

import math
import os
import select
import subprocess
import time
from contextlib import suppress

from autopilot.domain.process import Talk
from autopilot.sandbox.processes.idleness import Idleness

CHUNK = 1 << 16
# What can still lie in a pipe when its writer has ended; more than that comes from somebody who should be gone.
PIPE_CAPACITY = 1 << 20
# How often to look, where the kernel cannot tell us that a child has ended.
TICK_S = 0.01
# For a program whose talk is over to end by itself, and for one that was asked to leave off.
LINGER_S = 3.0
# How often to look at the clock: who wakes up much later than asked was stopped, and its children were, most likely.
LOOK_S, STALLED_S = 1.0, 0.5
LEAVE_S = 2.0


class Kept:
    """The beginning and the end of a stream; the end is what matters most, so it gets most of the room."""

    def __init__(self, limit: int) -> None:
        self._room_head = limit // 8
        self._room_tail = limit - self._room_head
        self._head, self._tail, self.seen = bytearray(), bytearray(), 0

    def add(self, chunk: bytes) -> None:
        self.seen += len(chunk)
        missing = self._room_head - len(self._head)
        self._head += chunk[:missing]
        self._tail += chunk[missing:]
        if len(self._tail) > 2 * self._room_tail:
            del self._tail[: len(self._tail) - self._room_tail]

    def whole(self) -> bytes:
        """All of it, or beginning and end with a line between that says how much was left out."""
        if self.seen <= self._room_head + self._room_tail:
            return bytes(self._head + self._tail)
        note = b"\n[... %d bytes left out ...]\n" % (self.seen - self._room_head - self._room_tail)
        room = max(0, self._room_tail - len(note))
        return bytes(self._head + note + self._tail[len(self._tail) - room :])


class Overheard(Kept):
    """A stream that is kept and listened to. `outbox` is what the listener wants sent in return."""

    def __init__(self, limit: int, talk: Talk | None) -> None:
        super().__init__(limit)
        self._talk, self.outbox = talk, b""

    def add(self, chunk: bytes) -> None:
        super().add(chunk)
        if self._talk is not None and chunk:
            self.outbox += self._talk.heard(chunk)


class Conversation:
    """One child's three streams. Never waits for a stream somebody else holds open after the child has ended."""

    def __init__(self, child: subprocess.Popen[bytes], stdin: bytes, max_output: int, talk: Talk | None = None) -> None:
        assert child.stdout is not None
        assert child.stderr is not None
        self.stdout, self.stderr = Overheard(max_output, talk), Kept(max_output)
        self._child, self._talk_with = child, talk
        self._unsent = memoryview(stdin)
        self._over_since: float | None = None
        self.idle = False
        self._sinks = {child.stdout.fileno(): self.stdout, child.stderr.fileno(): self.stderr}
        self._poller = select.poll()
        for fd in self._sinks:
            self._watch(fd, select.POLLIN)
        if child.stdin is not None:
            self._watch(child.stdin.fileno(), select.POLLOUT)

    def until_end(self, deadline: float, idleness: Idleness | None = None) -> bool:
        """
        Whether the child ended before the deadline (on the monotonic clock), and did not come to a standstill.

        It is not reaped here.
        """
        try:
            hold = os.pidfd_open(self._child.pid)
        except (OSError, AttributeError):
            return self._talk(deadline, None, idleness)
        try:
            self._poller.register(hold, select.POLLIN)
            return self._talk(deadline, hold, idleness)
        finally:
            os.close(hold)

    @property
    def seen(self) -> int:
        """How many bytes it has printed."""
        return self.stdout.seen + self.stderr.seen

    def take_leave(self) -> None:
        """Ask a program that is still running to leave off by itself, where its talk knows how, and wait a little."""
        wish = b"" if self._talk_with is None or self._talk_with.over else self._talk_with.farewell()
        if wish:
            self._say(wish)
            self.until_end(time.monotonic() + LEAVE_S)

    def drain(self) -> None:
        """Take what still lies in the pipes."""
        for fd, sink in self._sinks.items():
            _drain(fd, sink)

    def _talk(self, deadline: float, hold: int | None, idleness: Idleness | None = None) -> bool:
        looked = time.monotonic()
        while (left := self._left(deadline)) > 0:
            if idleness is not None and idleness.lapsed(self.seen):
                self.idle = True
                return False
            wait = min(left, LOOK_S if hold is not None else TICK_S, idleness.pause_s if idleness else left)
            ready = [fd for fd, _ in self._poller.poll(math.ceil(wait * 1000))]
            looked, late = time.monotonic(), stalled(looked, wait)
            deadline += late
            if idleness is not None:
                idleness.excuse(late)
            for fd in ready:
                if fd != hold:
                    self._serve(fd)
            if hold in ready or (hold is None and has_ended(self._child.pid)):
                return True
        return has_ended(self._child.pid)

    def _left(self, deadline: float) -> float:
        """Seconds until we end the program: its own time, or a little more than its talk took."""
        now = time.monotonic()
        if self._talk_with is None or not self._talk_with.over:
            self._over_since = None
            return deadline - now
        if self._over_since is None:
            self._over_since = now
            self._hang_up()
        return min(deadline, self._over_since + LINGER_S) - now

    def _serve(self, fd: int) -> None:
        sink = self._sinks.get(fd)
        more = self._send(fd) if sink is None else _receive(fd, sink)
        if not more:
            self._poller.unregister(fd)  # a closed stream would be reported for ever
        if self.stdout.outbox:
            self._say(self.stdout.outbox)
            self.stdout.outbox = b""

    def _say(self, more: bytes) -> None:
        stdin = self._child.stdin
        if stdin is not None and not stdin.closed:
            self._unsent = memoryview(bytes(self._unsent) + more)
            self._watch(stdin.fileno(), select.POLLOUT)

    def _hang_up(self) -> None:
        stdin = self._child.stdin
        if stdin is not None and not stdin.closed:
            with suppress(KeyError):
                self._poller.unregister(stdin.fileno())
            stdin.close()

    def _send(self, fd: int) -> bool:
        try:
            self._unsent = self._unsent[os.write(fd, self._unsent[:CHUNK]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            self._unsent = self._unsent[:0]
        waits = self._talk_with is not None and self._talk_with.replies and not self._talk_with.over
        if not self._unsent and self._child.stdin is not None and not waits:
            self._child.stdin.close()
        return bool(self._unsent)

    def _watch(self, fd: int, events: int) -> None:
        os.set_blocking(fd, False)
        self._poller.register(fd, events)


def stalled(looked: float, wait: float) -> float:
    """Seconds for which we were stopped since we looked at the clock and wanted to wait so long: nobody had them."""
    late = time.monotonic() - looked - wait
    return late if late > STALLED_S else 0.0


def has_ended(pid: int) -> bool:
    """Whether our child has ended; it stays unreaped, so that its id still means it."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def _receive(fd: int, sink: Kept) -> bool:
    """False at the end of the stream."""
    try:
        chunk = os.read(fd, CHUNK)
    except BlockingIOError:
        return True
    sink.add(chunk)
    return bool(chunk)


def _drain(fd: int, sink: Kept) -> None:
    taken = 0
    while taken < PIPE_CAPACITY:
        try:
            chunk = os.read(fd, CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            return
        sink.add(chunk)
        taken += len(chunk)
