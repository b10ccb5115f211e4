"""Waiting for what other processes do, with the patience a busy machine needs."""

import os
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 1200.0
"""How long to wait for what must happen: long enough for any machine, and less than the limit of a test."""


def soon(holds: Callable[[], bool]) -> bool:
    """Whether it comes true; false only after so long that something must hang."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)  # what is waited for needs the processor as well
    return holds()


def is_alive(pid: int) -> bool:
    """Whether it runs; a zombie does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"
