"""A run that is asked to stop by the system does so at once, by an exception that no step swallows."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from autopilot.domain.errors import Interrupted


class Patience:
    """A handler of SIGINT: the first is remembered for the next boundary, the second stops at once."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - a signal handler's signature
        if self.asked:
            raise Interrupted(signal.Signals(number).name)
        self.asked = True

    @contextmanager
    def heeded(self) -> Iterator[None]:
        before = signal.signal(signal.SIGINT, self)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """SIGINT and SIGTERM stop the run at once and cleanly; where there is patience with the first, it is kept."""

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a signal handler's signature
        raise Interrupted(signal.Signals(number).name)

    numbers = [n for n in (signal.SIGINT, signal.SIGTERM) if not isinstance(signal.getsignal(n), Patience)]
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(ValueError):
                signal.signal(number, handler)
