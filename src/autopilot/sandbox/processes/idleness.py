"""Whether a program still moves: what it prints, and what changes in the folder it works in."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from autopilot.domain.process import Job

# How much further the clock on the wall may go than the other one before the machine is taken to have slept.
SLEPT_S = 30.0
LOOKS, LEAST_PAUSE_S, MOST_PAUSE_S = 20, 0.05, 15.0
Clock = Callable[[], float]


@dataclass(slots=True)
class Idleness:
    """
    Counts how long there was no sign of life.

    The folder is looked at only when that long was nothing printed, so mostly never. Time in which the machine slept
    does not count, and after it the program has the whole time anew: its connections are gone.
    """

    folder: str
    limit_s: float
    may_be_silent: bool = False
    steady: Clock = time.monotonic
    wall: Clock = time.time
    _seen: int = 0
    _since: float = field(init=False)
    _looked: tuple[float, float] = field(init=False)

    def __post_init__(self) -> None:
        self._since = self.steady()
        self._looked = self.steady(), self.wall()

    @property
    def pause_s(self) -> float:
        """How long not to look again."""
        return min(max(self.limit_s / LOOKS, LEAST_PAUSE_S), MOST_PAUSE_S)

    def excuse(self, seconds: float) -> None:
        """Time in which we were stopped: nobody looked."""
        self._since += seconds

    def lapsed(self, seen: int) -> bool:
        """Whether the time is up. `seen` changes whenever something was printed, and is 0 before."""
        now, wall = self.steady(), self.wall()
        before, wall_before = self._looked
        if now - before < self.pause_s:
            return False
        self._looked = now, wall
        slept = (wall - wall_before) - (now - before) > SLEPT_S
        if slept or seen != self._seen or (self.may_be_silent and not seen):
            self._since, self._seen = now, seen
            return False
        if now - self._since < self.limit_s:
            return False
        self._since = max(self._since, now - max(0.0, wall - newest_change(self.folder, wall - self.limit_s)))
        return now - self._since >= self.limit_s


def idleness_of(job: Job) -> Idleness | None:
    """None for a job that may take its time."""
    return Idleness(job.cwd, job.idle_s, job.may_be_silent) if job.idle_s > 0 else None


def newest_change(folder: str, enough: float) -> float:
    """When something in the folder last changed; the first change found that is newer than `enough` will do."""
    newest, left = 0.0, [folder]
    while left and newest <= enough:
        try:
            with os.scandir(left.pop()) as found:
                for entry in found:
                    held = entry.stat(follow_symlinks=False)
                    newest = max(newest, held.st_mtime, held.st_ctime)
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
        except OSError:
            continue  # it was removed at this moment, or is not for us to see
    return newest
