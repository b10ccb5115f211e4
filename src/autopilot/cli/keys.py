"""The keys that matter while a run is looked at: `q` leaves, and `r` ends a wait for an agent."""

import os
import select
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from autopilot.domain.events import Entry, RunFinished, RunStopped, WaitEnded, WaitStarted

if TYPE_CHECKING:
    from autopilot.views.terminal.watch import Pause

LEAVE = frozenset({b"q", b"Q", b"\x04"})
RETRY = frozenset({b"r", b"R"})
LOOK_S = 0.2
Retry = Callable[[], object]


class RetryKey:
    """
    Hears a run, and heeds the terminal while it waits for an agent; `r` calls `retry`.

    The terminal is as it was when no wait is on. Nothing is turned off in it but the wait for a whole line, so that
    one left by a killed run can be used on.
    """

    def __init__(self, typed: TextIO | None, retry: Retry) -> None:
        self._typed = typed if typed is not None and typed.isatty() else None
        self._retry, self._waits, self._done = retry, set[str](), threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self, entry: Entry) -> None:
        match entry.event:
            case WaitStarted(call=call):
                self._waits.add(call)
            case WaitEnded(call=call):
                self._waits.discard(call)
            case RunStopped() | RunFinished():
                self._waits.clear()
        if self._waits and self._thread is None and self._typed is not None:
            self._done.clear()
            self._thread = threading.Thread(target=self._listen, args=(self._typed,), name="retry key", daemon=True)
            self._thread.start()
        elif not self._waits:
            self.close()

    def close(self) -> None:
        """Nobody reads the terminal when this returns."""
        if self._thread is not None:
            self._done.set()
            self._thread.join()
            self._thread = None

    def _listen(self, typed: TextIO) -> None:
        import termios

        keyboard = typed.fileno()
        before = termios.tcgetattr(keyboard)
        at_once = [*before[:3], before[3] & ~termios.ICANON, *before[4:]]
        try:
            while not self._done.is_set():
                if not _in_front(keyboard):
                    self._done.wait(LOOK_S)  # a program in the background that touches the terminal is stopped
                    continue
                termios.tcsetattr(keyboard, termios.TCSANOW, at_once)
                if select.select([keyboard], [], [], LOOK_S)[0] and self._reads(keyboard):
                    self._retry()
        except OSError:
            return  # the terminal is gone, and the run goes on without it
        finally:
            with suppress(OSError, termios.error):
                if _in_front(keyboard):
                    termios.tcsetattr(keyboard, termios.TCSADRAIN, before)

    def _reads(self, keyboard: int) -> bool:
        key = os.read(keyboard, 1)
        if not key:
            self._done.wait()
        return key in RETRY


def _in_front(keyboard: int) -> bool:
    try:
        return os.tcgetpgrp(keyboard) == os.getpgrp()
    except OSError:
        return False


@contextmanager
def patience(typed: TextIO | None, retry: Retry = lambda: None) -> Iterator["Pause"]:
    """
    A way to wait that `q` ends; `r` calls `retry` on the way.

    Where nobody types it only waits; the terminal is left as it was found.
    """
    if typed is None or not typed.isatty():
        yield _wait
        return
    import termios
    import tty

    keyboard = typed.fileno()
    before = termios.tcgetattr(keyboard)
    tty.setcbreak(keyboard)
    try:
        yield lambda seconds: _wait_for_key(keyboard, seconds, retry)
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


def _wait(seconds: float) -> bool:
    time.sleep(seconds)
    return True


def _wait_for_key(keyboard: int, seconds: float, retry: Retry) -> bool:
    """Any other key is swallowed and does not shorten the wait."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if select.select([keyboard], [], [], left)[0]:
            key = os.read(keyboard, 1)
            if not key:
                return _wait(max(0.0, deadline - time.monotonic()))
            if key in RETRY:
                retry()
            if key in LEAVE:
                return False
    return True
