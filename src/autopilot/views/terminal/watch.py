"""A run of another process, and one that is over, shown as if one sat beside it."""

import time
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

import msgspec

from autopilot.journal.clock import SystemClock
from autopilot.state.picture import Picture
from autopilot.state.picture_run import after
from autopilot.text.times import elapsed, iso
from autopilot.views.lines.plain import PlainView
from autopilot.views.terminal.agent_activity import Glances
from autopilot.views.terminal.follow import Follower, Told
from autopilot.views.terminal.painter import Painter

FRAME_S = 0.25
LOOK_S = 1.0
LONGEST_S = 3.0
Pause = Callable[[float], bool]
"""Waits so many seconds; False when the person has seen enough."""


def watch(follower: Follower, show: Callable[[Picture], None], pause: Pause) -> Picture:
    """Show the run until nobody works on it any more or the person leaves. What was seen last is returned."""
    picture = Picture()
    while True:
        # Asked first: what a process wrote before it went is read below.
        alive = follower.alive()
        picture = _told(picture, follower.news())
        picture = picture if alive or picture.over else left(picture)
        show(picture)
        if not alive or not pause(FRAME_S):
            return picture


def watch_plainly(follower: Follower, view: PlainView, pause: Pause) -> None:
    """The same as plain lines, for a screen that is none."""
    while not view.broken:
        alive = follower.alive()
        for stream, entry in follower.news():
            view(stream, entry)
        if not alive or not pause(FRAME_S):
            return


def _told(picture: Picture, news: Iterable[Told]) -> Picture:
    for stream, entry in news:
        picture = after(picture, stream, entry)
    return picture


def left(picture: Picture) -> Picture:
    """As a process that was killed leaves a run."""
    reason = "no process works on it; go on with: autopilot resume"
    return msgspec.structs.replace(picture, state="interrupted", reason=reason, calls={})


class Looking:
    """Draws a run that goes on: with the time it is, and what its agents do."""

    def __init__(self, painter: Painter) -> None:
        self._painter, self._glances, self._clock = painter, Glances(time.monotonic), SystemClock()
        self._looked = -LOOK_S
        self._doing = self._glances.all({})

    def __call__(self, picture: Picture) -> None:
        now = time.monotonic()
        if now - self._looked >= LOOK_S:
            self._looked, self._doing = now, self._glances.all(picture.calls)
        self._painter.show(picture, self._clock.now(), self._doing)


def play(told: Iterable[Told], painter: Painter, pause: Pause, speed: float) -> bool:
    """Show the entries one after the other, `speed` times as fast as they came; False when the person left."""
    picture, player = Picture(), _Player(painter, pause, speed)
    for stream, entry in told:
        if picture.last and not player.wait(picture, entry.at):
            return False
        picture = after(picture, stream, entry)
    painter.show(picture, picture.last)
    return True


class _Player:
    """Lets the time of a run go by. What is too short for a frame of its own is carried on to the next."""

    def __init__(self, painter: Painter, pause: Pause, speed: float) -> None:
        self._painter, self._pause, self._speed = painter, pause, speed
        self._owed = 0.0

    def wait(self, picture: Picture, until: str) -> bool:
        """Up to the next entry; a long silence is shortened to a few seconds. False when the person left."""
        gap = elapsed(picture.last, until)
        shown, began = min(LONGEST_S, gap / self._speed), datetime.fromisoformat(picture.last)
        self._owed += shown
        while self._owed >= FRAME_S:
            self._owed -= FRAME_S
            gone = max(0.0, shown - self._owed) / shown if shown else 0.0
            self._painter.show(picture, iso(began + timedelta(seconds=gap * gone)))
            if not self._pause(FRAME_S):
                return False
        return True
