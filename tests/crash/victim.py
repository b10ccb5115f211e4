"""A run that dies: killed with SIGKILL right after the journal write of the given number, from inside."""

import os
import signal
import sys

from autopilot.app import prepare as app
from autopilot.domain.events import Entry
from autopilot.domain.request import RunRequest
from autopilot.domain.settings import Modes


class Executioner:
    """A listener, and so called the instant an entry is on disk, before anything else happens."""

    def __init__(self, after: int) -> None:
        self._left = after

    def __call__(self, stream: str, entry: Entry) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    folder, agent, phases, after, *jobs = sys.argv[1:]
    modes = Modes(jobs=int(jobs[0])) if jobs else Modes()
    request = RunRequest(folder=folder, phases=phases, agent=agent, sandbox="none", modes=modes)
    app.start(request, Executioner(int(after)), print)
