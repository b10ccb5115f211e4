"""How long `autopilot demo` takes from start to end, beside its goal of 30 seconds."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOAL_S = 30.0


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        words = [sys.executable, "-m", "autopilot", "demo", "--keep", str(Path(folder) / "till")]
        env = {**os.environ, "XDG_STATE_HOME": f"{folder}/state"}
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, env=env)
        seconds = time.monotonic() - began
    print(f"autopilot demo: {seconds:.1f} s, {seconds / GOAL_S:.2f} of the goal of {GOAL_S:.0f} s")


if __name__ == "__main__":
    main()
