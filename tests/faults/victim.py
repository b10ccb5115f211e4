"""A run that dies by SIGKILL at the point of the given number; 0 lives, and only names the points it passes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from autopilot import app
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.modes import Modes
from autopilot.domain.request import RunRequest
from support.crash_points import Points

if __name__ == "__main__":
    folder, agent, last, log = sys.argv[1:]
    modes = Modes(sequential=True)
    Points(int(last), Path(log)).lay()
    try:
        end = app.resume(folder, lambda *_: None, print)
    except UsageInvalid:
        request = RunRequest(folder=folder, phases="all", agent=agent, sandbox="none", modes=modes)
        end = app.start(request, lambda *_: None, print)
    sys.exit(end.exit)
