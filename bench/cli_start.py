"""How long `autopilot --help` and `autopilot status` take, as multiples of starting Python alone (CPU time)."""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from autopilot.authority.places import grant_name, user_folder_name

REPETITIONS = 25
PHASES, STATE_BYTES = 112, 200_000
RUN = "run-2026-02-09-143052"
GOALS = {"--help": 2.0, "status": 2.5}


def state_text() -> str:
    """A run of 112 phases in a state file of about 200 KB."""
    meta = {"version": "1.0", "run_id": RUN, "status": "running", "current_phase": "7"}
    phases = {
        str(n): {"name": f"Phase {n}", "status": "completed", "alignment_score": 9.2, "reason": ""}
        for n in range(1, PHASES + 1)
    }
    event = {"timestamp": "2026-02-09T14:30:52.000Z", "phase": "3", "step": "execute", "event": "step_completed"}
    state: dict[str, object] = {"_meta": meta, "spec": {"path": ".planning/ROADMAP.md"}, "phases": phases}
    room = STATE_BYTES - len(json.dumps(state, indent=2))
    details = "x" * (room // 200 - len(json.dumps(event, indent=2)) - 60)
    return json.dumps(state | {"event_log": [event | {"details": details}] * 200}, indent=2)


def cpu_seconds(command: list[str], folder: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    script = Path(sys.executable).with_name("autopilot")
    installed = [str(script)] if script.exists() else [sys.executable, "-m", "autopilot"]
    commands = {"python -c pass": [sys.executable, "-c", "pass"], **{word: [*installed, word] for word in GOALS}}
    times: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / ".autopilot"
        home.mkdir()
        (home / "state.json").write_text(state_text(), encoding="utf-8")
        # The run is the user's own, in a folder of this bench: only for others does `status` look any further.
        os.environ["XDG_STATE_HOME"] = str(Path(folder) / "state")
        grant = Path(user_folder_name()) / grant_name(RUN, os.path.realpath(folder))
        grant.parent.mkdir(parents=True)
        grant.touch()
        for _ in range(REPETITIONS):
            for name, command in commands.items():
                times[name].append(cpu_seconds(command, folder))
    medians = {name: statistics.median(values) for name, values in times.items()}
    floor = medians["python -c pass"]
    print(f"python -c pass    {floor * 1000:6.1f} ms")
    for name, goal in GOALS.items():
        ratio = medians[name] / floor
        met = "ok" if ratio <= goal else "MISSED"
        print(f"{name:<16}  {medians[name] * 1000:6.1f} ms  {ratio:.2f}x  goal {goal}x  {met}")


if __name__ == "__main__":
    main()
