"""`autopilot verdict`: what a person makes of a phase that waits for them."""

import argparse
from collections.abc import Callable, Iterator
from typing import Protocol

import msgspec

from autopilot.cli import console
from autopilot.cli.verbs import here, warn
from autopilot.domain.request import VerdictEnd
from autopilot.views.text import clean


class Judge(Protocol):
    """What this verb needs of the program; `autopilot.app` is one."""

    def verdict(
        self, folder: str, phase: str, word: str, issues: tuple[str, ...], warn: Callable[[str], None]
    ) -> VerdictEnd: ...


def perform(options: argparse.Namespace, app: Judge) -> int:
    end = app.verdict(here(), options.phase, options.word, tuple(options.issues), warn)
    console.say(msgspec.json.encode(end).decode() if options.json else "\n".join(lines(end)))
    return 0


def lines(end: VerdictEnd) -> Iterator[str]:
    if not end.taken:
        yield f"Recorded: phase {end.phase} {end.verdict}. The run that is going on takes it in at its next step."
        return
    yield f"Phase {end.phase}: human verdict recorded: {end.verdict}."
    if end.landed:
        yield f"Landed on your branch: phase {' '.join(end.landed)}"
    yield from (f"Not on your branch yet: {clean(note, 300)}" for note in end.notes)
    if end.behind:
        yield f"Built upon it, and landed when it is mended: phase {' '.join(end.behind)}"
    if end.do:
        yield f"{'To go on' if end.verdict == 'pass' else 'To mend it'}: {end.do}"
