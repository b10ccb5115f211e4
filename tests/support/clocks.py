"""A clock that moves only when somebody rests."""

from collections.abc import Callable
from datetime import datetime, timedelta

from autopilot.text.times import iso


class Sundial:
    """Fulfils `Clock`. `meanwhile` is called at every rest; `asleep` is time that the wall clock alone goes on by."""

    def __init__(self, start: str = "2026-01-01T12:00:00.000Z") -> None:
        self._start, self._seconds, self._slept = datetime.fromisoformat(start), 0.0, 0.0
        self.rests: list[float] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def now(self) -> str:
        self._seconds += 0.001
        return iso(self._start + timedelta(seconds=self._seconds + self._slept))

    def monotonic(self) -> float:
        return self._seconds

    def rest(self, seconds: float) -> None:
        self.rests.append(seconds)
        # Faster than a second at a time, so that half a day is soon over.
        self._seconds += max(seconds, 20.0) if seconds >= 1.0 else seconds
        self.meanwhile()

    def sleep(self, seconds: float) -> None:
        """As a machine does whose lid is closed, or with a clock that is put back."""
        self._slept += seconds
