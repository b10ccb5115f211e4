"""
A run of 300 phases with agents that answer at once: what a phase costs at 300 beside what it costs at 30.

CPU time of the program and its children, and the program's own memory, are read at the end of every phase; medians over
ten phases are compared. Beside it: what writing state.json costs after 300 events and after 100,000.
"""

import argparse
import itertools
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from autopilot.domain.events import Entry, PhaseFinished  # noqa: E402 - as above
from support.project import ACTION, reviews, test_text, work_answer  # noqa: E402 - from the tests beside us
from support.runs import Drive, driven  # noqa: E402 - as above

GOAL, WINDOW = 1.2, 10


def resident_mb() -> float:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def cpu() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def plan(phase: int) -> dict[str, Any]:
    task = f"{phase:02}-01"
    text = (
        f'# Plan: Phase {phase} -- Letter {phase}\n\n## Wave 1\n\n<task id="{task}" type="auto" complexity="simple">\n'
        f"### Task {task}: Write it\n**Files:** letter{phase}.txt\n**Action:** {ACTION}\n**Verify:**\n"
        f"- it says done -- verified by: `grep -q done letter{phase}.txt`\n"
        f"- the test passes -- verified by: `bash .planning/phases/{phase:02}-letter-{phase}/tests/task-{task}.sh`\n"
        f"**Done:** It is there.\n</task>\n"
    )
    written = {"{dir}/PLAN.md": text, f"{{dir}}/tests/task-{task}.sh": test_text(f"letter{phase}.txt", "done")}
    return {"role": "plan", "phase": str(phase), "result": {"total_tasks": 1}, "write": written}


def project(place: Path, phases: int) -> Drive:
    work = [work_answer(str(n), f"{n:02}-01", f"letter{n}.txt", "done\n") for n in range(1, phases + 1)]
    plans = [plan(n) for n in range(1, phases + 1)]
    drive = driven(place, [*reviews(), *plans, *work], *map(str, range(1, phases + 1)))
    config = {"workflow": {"research": False, "self_audit": False, "integration_check": False}}
    (drive.root / ".planning" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return drive


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--phases", type=int, default=300)
    phases = parser.parse_args().phases
    early = max(WINDOW, phases // 10)
    ends: list[tuple[float, float, float]] = []

    def look(entry: Entry) -> None:
        if isinstance(entry.event, PhaseFinished):
            ends.append((cpu(), time.monotonic(), resident_mb()))

    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        os.environ["AUTOPILOT_CACHE"] = f"{place}/cache"
        drive = project(Path(place), phases)
        drive.meanwhile = look
        # What it is about are the phases; a listener that keeps every entry would be measured with them.
        drive.entries = _Forgetful()
        end = drive.run()
    assert end.exit in {0, 12}, end
    costs = [after[0] - before[0] for before, after in itertools.pairwise(ends)]
    then, now = statistics.median(costs[early - WINDOW : early]), statistics.median(costs[-WINDOW:])
    memory_then, memory_now = ends[early - 1][2], ends[-1][2]
    print(f"phase {early:>4}   {then:6.2f} s CPU   {memory_then:7.1f} MB")
    print(f"phase {phases:>4}   {now:6.2f} s CPU   {memory_now:7.1f} MB")
    for name, ratio in (("time", now / then), ("memory", memory_now / memory_then)):
        print(f"{name:<8} {ratio:.2f}x  goal {GOAL}x  {'ok' if ratio <= GOAL else 'MISSED'}")


class _Forgetful(list):  # type: ignore[type-arg]  # a list that keeps nothing
    def append(self, item: object) -> None:
        """Nothing is kept."""


if __name__ == "__main__":
    main()
