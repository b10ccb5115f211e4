"""A run asked for in the words of the command line, killed with SIGKILL right after what it is told to die behind."""

import os
import signal
import sys

from autopilot.app import prepare as app
from autopilot.cli.parser import parse
from autopilot.cli.verbs.run import request_of
from autopilot.domain.events import Entry, PhaseFinished, StepFinished


class Executioner:
    """
    A listener, and so called the instant an entry is on disk, before anything else happens.

    `behind` is a phase and a step of it, or a phase and `end`, for the end of its first pass.
    """

    def __init__(self, behind: str) -> None:
        self._behind = behind

    def __call__(self, stream: str, entry: Entry) -> None:
        match entry.event:
            case StepFinished(step=step):
                here = f"{stream.partition('/')[2].partition('~')[0]} {step}"
            case PhaseFinished(outcome=outcome):
                here = f"{outcome.phase} end"
            case _:
                return
        if here == self._behind:
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    folder, behind, *words = sys.argv[1:]
    app.start(request_of(parse("run", words), folder=folder), Executioner(behind), print)
