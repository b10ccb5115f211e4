"""The one key that matters while a run is looked at: `q` leaves."""

import os
import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from autopilot.views.watching import Pause

LEAVE = frozenset({b"q", b"Q", b"\x04"})


@contextmanager
def patience(typed: TextIO | None) -> Iterator["Pause"]:
    """A way to wait that `q` ends. Where nobody types it only waits; the terminal is left as it was found."""
    if typed is None or not typed.isatty():
        yield _wait
        return
    import termios
    import tty

    keyboard = typed.fileno()
    before = termios.tcgetattr(keyboard)
    tty.setcbreak(keyboard)
    try:
        yield lambda seconds: _wait_for_key(keyboard, seconds)
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


def _wait(seconds: float) -> bool:
    time.sleep(seconds)
    return True


def _wait_for_key(keyboard: int, seconds: float) -> bool:
    """Any other key is swallowed and does not shorten the wait."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if select.select([keyboard], [], [], left)[0]:
            key = os.read(keyboard, 1)
            if not key:
                return _wait(max(0.0, deadline - time.monotonic()))
            if key in LEAVE:
                return False
    return True
