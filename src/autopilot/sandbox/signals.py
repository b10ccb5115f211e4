"""A run that is asked to stop by the system does so at once, by an exception that no step swallows."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from autopilot.domain.errors import Interrupted


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """SIGINT and SIGTERM stop the run at once and cleanly; a second one is not swallowed either."""

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a signal handler's signature
        raise Interrupted(signal.Signals(number).name)

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(ValueError):
                signal.signal(number, handler)
