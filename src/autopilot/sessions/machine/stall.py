"""Whether a session still moves: its heartbeat, sampled while it runs, and two strikes before it counts as a stall."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from autopilot.domain.value import Value
from autopilot.text.numbers import whole

CADENCE_S = 30.0
TIMEOUT_S = 600.0
STRIKES = 2
MARKER = "heartbeat"


class Sample(Value, frozen=True, kw_only=True):
    """One look at the heartbeat. A session that has none yet has not stalled, and has not moved either."""

    progressed: bool
    stall_seconds: int
    has_marker: bool


class Stalled(Value, frozen=True, kw_only=True):
    seconds: int
    timeout_s: float = TIMEOUT_S

    @property
    def words(self) -> str:
        return f"stalled {self.seconds}s \u2265 threshold {self.timeout_s:g}s (marker={MARKER})"


class Pulse(Value, frozen=True, kw_only=True):
    """All samples of a session so far: strikes in a row, how often that made a stall, and the longest of them."""

    timeout_s: float = TIMEOUT_S
    strikes: int = 0
    stalls: int = 0
    longest: int = 0

    @property
    def stalled(self) -> Stalled | None:
        return Stalled(seconds=self.longest, timeout_s=self.timeout_s) if self.stalls else None


def sample(age_ms: float | None) -> Sample:
    """A heartbeat younger than the time between two looks is progress; one from the future is brand new."""
    if age_ms is None:
        return Sample(progressed=False, stall_seconds=0, has_marker=False)
    age = max(0.0, age_ms)
    return Sample(progressed=age < CADENCE_S * 1000, stall_seconds=whole(age / 1000), has_marker=True)


def felt(pulse: Pulse, seen: Sample) -> Pulse:
    """The pulse with one more sample. Two strikes in a row make one stall, however long it then lasts."""
    if seen.progressed or not seen.has_marker or seen.stall_seconds < pulse.timeout_s:
        return Pulse(timeout_s=pulse.timeout_s, stalls=pulse.stalls, longest=pulse.longest)
    strikes = pulse.strikes + 1
    return Pulse(
        timeout_s=pulse.timeout_s,
        strikes=strikes,
        stalls=pulse.stalls + (strikes == STRIKES),
        longest=max(pulse.longest, seen.stall_seconds) if strikes >= STRIKES else pulse.longest,
    )


class Watch:
    """Samples a heartbeat in the background while a session runs. It only looks; it never ends a session."""

    def __init__(
        self, age_ms: Callable[[], float | None], timeout_s: float = TIMEOUT_S, every_s: float = CADENCE_S
    ) -> None:
        self._age_ms, self._every_s, self.pulse = age_ms, every_s, Pulse(timeout_s=timeout_s)

    @contextmanager
    def watching(self) -> Iterator[None]:
        self.pulse = Pulse(timeout_s=self.pulse.timeout_s)
        done = threading.Event()
        eye = threading.Thread(target=self._look, args=(done,), name="stall-watch", daemon=True)
        eye.start()
        try:
            yield
        finally:
            done.set()
            eye.join()

    def _look(self, done: threading.Event) -> None:
        while not done.wait(self._every_s):
            self.pulse = felt(self.pulse, sample(self._age_ms()))
