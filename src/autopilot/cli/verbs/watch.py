"""`autopilot status --watch` and `autopilot replay`: a run looked at from another terminal, or once more."""

import argparse
import sys
from contextlib import suppress
from pathlib import Path

from autopilot.cli import console, keys
from autopilot.cli.verbs.run import here
from autopilot.cli.verbs.status import home_of
from autopilot.cli.view_choice import has_picture
from autopilot.domain.errors import AutopilotError, UsageInvalid
from autopilot.views.lines.plain import PlainView
from autopilot.views.terminal.follow import Follower, named, newest


def perform(options: argparse.Namespace) -> int:
    """Looks only; the exit code says nothing about how the run fares."""
    home = Path(home_of(here()))
    plain = options.plain or not has_picture(sys.stdout)
    if options.verb == "replay":
        _replay(named(home, options.run), options.speed, plain=plain)
        return 0
    if options.json or not options.watch:
        raise UsageInvalid(
            "--watch and --json cannot be combined." if options.json else "--plain goes with --watch only.",
            why="One is a picture that goes on changing, the other the state at one moment.",
            do="Use one of: autopilot status, autopilot status --json, autopilot status --watch [--plain]",
        )
    _watch(newest(home), plain=plain)
    return 0


def _watch(follower: Follower, *, plain: bool) -> None:
    from autopilot.views.terminal import watch as watching
    from autopilot.views.terminal.painter import Painter, terminal

    with keys.patience(sys.stdin, _retry) as pause:
        if plain:
            watching.watch_plainly(follower, PlainView(sys.stdout), pause)
            return
        painter = Painter(terminal(sys.stdout))
        try:
            watching.watch(follower, watching.Looking(painter), pause)
        finally:
            painter.close()


def _retry() -> None:
    from autopilot.app import prepare as app

    with suppress(AutopilotError):
        app.retry(here())


def _replay(follower: Follower, speed: float, *, plain: bool) -> None:
    if plain:
        view = PlainView(sys.stdout)
        for stream, entry in follower.news():
            view(stream, entry)
        return
    from autopilot.views.terminal import watch as watching
    from autopilot.views.terminal.painter import Painter, terminal

    painter = Painter(terminal(sys.stdout))
    try:
        with keys.patience(sys.stdin) as pause:
            watching.play(follower.news(), painter, pause, speed)
    finally:
        painter.close()
    console.say(f"This was {follower.run}, {speed:g} times as fast as it happened.")
