"""`autopilot verdict`: what a person makes of a phase that waits for them."""

import argparse
from collections.abc import Callable
from typing import Protocol

import msgspec

from autopilot.cli import console
from autopilot.cli.verbs.run import here, warn
from autopilot.domain.request import VerdictEnd
from autopilot.views.lines.announcement import lines


class Judge(Protocol):
    """What this verb needs of the program; `autopilot.app` is one."""

    def verdict(
        self, folder: str, phase: str, word: str, issues: tuple[str, ...], warn: Callable[[str], None]
    ) -> VerdictEnd: ...


def perform(options: argparse.Namespace, app: Judge) -> int:
    end = app.verdict(here(), options.phase, options.word, tuple(options.issues), warn)
    console.say(msgspec.json.encode(end).decode() if options.json else "\n".join(lines(end)))
    return 0
