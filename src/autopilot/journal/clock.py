"""Where the time comes from: the system, or a written-down time for tests and replays."""

import time
from datetime import UTC, datetime, timedelta

from autopilot.text.times import iso


class SystemClock:
    """
    The time of day when it was made, and from then on the clock that nobody sets and that sleeps with the machine.

    So no duration is wrong, and no limit of time reached, because the time of day was corrected or a lid was closed.
    """

    def __init__(self) -> None:
        self._made, self._since = datetime.now(UTC), time.monotonic()

    def now(self) -> str:
        return iso(self._made + timedelta(seconds=time.monotonic() - self._since))

    def monotonic(self) -> float:
        return time.monotonic()


class FixedClock:
    """Time stands still."""

    def __init__(self, at: str = "2026-01-01T00:00:00.000Z") -> None:
        self._at = iso(datetime.fromisoformat(at))

    def now(self) -> str:
        return self._at

    def monotonic(self) -> float:
        return 0.0


class TickingClock:
    """Each look at it moves it on by `step_s`."""

    def __init__(self, start: str = "2026-01-01T00:00:00.000Z", step_s: float = 1.0) -> None:
        self._start = datetime.fromisoformat(start)
        self._step_s = step_s
        self._looks = 0

    def now(self) -> str:
        return iso(self._start + timedelta(seconds=self.monotonic()))

    def monotonic(self) -> float:
        elapsed = self._looks * self._step_s
        self._looks += 1
        return elapsed
