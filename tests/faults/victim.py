"""A run that dies by SIGKILL at the point of the given number; 0 lives, and only names the points it passes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.crash_points import Points
from support.victims import go_on

if __name__ == "__main__":
    folder, agent, last, log = sys.argv[1:]
    Points(int(last), Path(log)).lay()
    sys.exit(go_on(folder, agent))
