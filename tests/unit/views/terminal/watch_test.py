"""Runs looked at from outside: how long a replay takes, when it ends, and the same as plain lines."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from autopilot.domain.events import Entry, RunStopped
from autopilot.journal.clock import TickingClock
from autopilot.journal.lock import RunLock
from autopilot.journal.sqlite import SqliteJournal
from autopilot.state.picture import Picture
from autopilot.state.picture_run import picture_of
from autopilot.views.lines.plain import PlainView
from autopilot.views.terminal.follow import Follower
from autopilot.views.terminal.painter import Painter
from autopilot.views.terminal.watch import LONGEST_S, Looking, play, watch, watch_plainly
from support.recordings import Told, feast

RUN = feast()[0][0]
WORKED = picture_of(feast()).worked


def painter(out: io.StringIO) -> Painter:
    return Painter(Console(file=out, force_terminal=True, width=80, height=24, color_system=None))


class Waits(list[float]):
    """How long was waited, without doing so; after `most` waits the person leaves."""

    def __init__(self, most: int = 10**9) -> None:
        super().__init__()
        self.most = most

    def __call__(self, seconds: float) -> bool:
        self.append(seconds)
        return len(self) < self.most


@pytest.mark.parametrize("speed", [10.0, 200.0])
def test_a_replay_takes_as_long_as_its_speed_says(speed: float) -> None:
    waits = Waits()

    assert play(feast(), painter(io.StringIO()), waits, speed)
    assert sum(waits) == pytest.approx(WORKED / speed, rel=0.25)


def test_a_long_silence_is_shortened() -> None:
    waits = Waits()
    play(feast()[:30], painter(io.StringIO()), waits, speed=0.0001)

    assert sum(waits) <= 30 * (LONGEST_S + 0.1)


def test_who_has_seen_enough_is_let_go() -> None:
    waits = Waits(most=7)

    assert not play(feast(), painter(io.StringIO()), waits, speed=20.0)
    assert len(waits) == 7


def test_the_clocks_of_a_replay_are_those_of_the_run() -> None:
    shown = io.StringIO()
    play(feast()[:30], painter(shown), Waits(), speed=20.0)
    told = [60 * int(m or 0) + int(s) for m, s in re.findall(r"running (?:(\d+)m )?(\d+)s", shown.getvalue())]

    assert len(set(told)) > 10
    assert told == sorted(told)


def written(home: Path, told: tuple[Told, ...]) -> None:
    with SqliteJournal(home / "journal.db", TickingClock()) as journal:
        for stream, entry in told:
            journal.append(stream, entry.number, entry.event)


def test_a_run_that_is_over_is_told_once_in_plain_lines(tmp_path: Path) -> None:
    written(tmp_path, feast())
    out, waits = io.StringIO(), Waits()
    watch_plainly(Follower(tmp_path, RUN), PlainView(out), waits)

    assert "[Phase 2] Task 02-02 (2/2): fix attempt 1/2\n" in out.getvalue()
    assert list(waits) == []


def test_a_run_that_goes_on_is_watched_until_the_person_leaves(tmp_path: Path) -> None:
    written(tmp_path, feast()[:63])
    pictures, waits = list[Picture](), Waits(most=3)
    with RunLock(tmp_path, RUN):
        watch(Follower(tmp_path, RUN), pictures.append, waits)

    assert len(pictures) == 3
    assert {picture.state for picture in pictures} == {"running"}


def test_a_run_that_pauses_for_a_person_is_watched_on(tmp_path: Path) -> None:
    pause = Entry(number=3, at=feast()[4][1].at, event=RunStopped(exit_code=11, reason="a look", checkpoint=1))
    written(tmp_path, (*(one for one in feast()[:3] if one[0] == RUN), (RUN, pause)))
    pictures, waits = list[Picture](), Waits(most=2)
    with RunLock(tmp_path, RUN):
        watch(Follower(tmp_path, RUN), pictures.append, waits)

    assert [picture.state for picture in pictures] == ["paused", "paused"]


def test_what_is_looked_at_has_the_time_of_today() -> None:
    out = io.StringIO()
    Looking(painter(out))(picture_of(feast()[:63]))

    assert "debug 02-02" in out.getvalue()
    assert "idle" not in out.getvalue()
