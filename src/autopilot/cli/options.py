"""The flags that say in which mode phases are run."""

import argparse

from autopilot.domain import settings as modes
from autopilot.domain.settings import Modes

MOST_JOBS = 64
NAMING = ("--map", "--force", "--quality", "--gaps", "--discuss")


def describe(parser: argparse.ArgumentParser) -> None:
    for flag in ("--complete", "--lenient", "--visual", "--sequential"):
        parser.add_argument(flag, action="store_true")
    for flag in NAMING:
        parser.add_argument(flag, nargs="?", const="", metavar="PHASES")
    parser.add_argument("--checkpoint-every", type=positive, metavar="N")
    parser.add_argument("--jobs", type=jobs, default=1, metavar="N")
    parser.add_argument("--answers", metavar="FILE")


def chosen(options: argparse.Namespace) -> Modes:
    """Raises `UsageInvalid` for flags that exclude each other."""
    asked = Modes(
        complete=options.complete,
        map=options.map,
        force=options.force,
        quality=options.quality,
        gaps=options.gaps,
        discuss=options.discuss,
        sequential=options.sequential,
        checkpoint_every=options.checkpoint_every,
        jobs=options.jobs,
    )
    modes.check(asked)
    return asked


def positive(word: str) -> int:
    """Raises `ValueError`, as argparse wants it, for what is no whole number from 1 on."""
    value = int(word)
    if value < 1:
        raise ValueError(word)
    return value


def jobs(word: str) -> int:
    value = positive(word)
    if value > MOST_JOBS:
        raise ValueError(word)
    return value
