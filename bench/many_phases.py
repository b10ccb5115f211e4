"""
A run of 300 phases with agents that answer at once: what a phase costs at 300 beside what it costs at 30.

CPU time of the program and its children, and the program's own memory, are read at the end of every phase; medians over
ten phases are compared. Beside it: what writing state.json costs after 1,000 events, and after 100,000 of the same run
when its agents were asked that much more often; with `--writes` only that.
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

from autopilot.domain.events import (  # noqa: E402 - as above
    AgentAnswered,
    AgentStarted,
    Entry,
    PhaseFinished,
    PhaseStarted,
    StepStarted,
    stream_of,
)
from autopilot.engine.perform.run_log import Streams  # noqa: E402 - as above
from autopilot.journal.clock import SystemClock  # noqa: E402 - as above
from autopilot.journal.sqlite import SqliteJournal  # noqa: E402 - as above
from autopilot.journal.state_file import StateFile  # noqa: E402 - as above
from autopilot.state.build_state import Projection  # noqa: E402 - as above
from support.long_journal import long_run, write_journal  # noqa: E402 - as above
from support.project import ACTION, rate_answer, reviews, test_text, work_answer  # noqa: E402 - from the tests beside us
from support.records import RUN, Story, brief, phase, started  # noqa: E402 - as above
from support.runs import Drive, driven  # noqa: E402 - as above

GOAL, WINDOW = 1.2, 10
FEW, MANY, FINISHED, WRITES = 1_000, 100_000, 24, 40


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
    # Scores that are all alike are suspicious: the run would tell of it at every phase, and look harder.
    rates = [rate_answer(9.0 + n % 3 * 0.4) | {"phase": str(n)} for n in range(1, phases + 1)]
    drive = driven(place, [*rates, *reviews(), *plans, *work], *map(str, range(1, phases + 1)))
    config = {"workflow": {"research": False, "self_audit": False, "integration_check": False}}
    (drive.root / ".planning" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return drive


def many_phases(phases: int) -> None:
    early = max(WINDOW, phases // 10)
    ends: list[tuple[float, float]] = []

    def look(entry: Entry) -> None:
        if isinstance(entry.event, PhaseFinished):
            ends.append((cpu(), resident_mb()))

    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        os.environ |= {"AUTOPILOT_CACHE": f"{place}/cache", "XDG_STATE_HOME": f"{place}/state"}
        drive = project(Path(place), phases)
        drive.meanwhile = look
        # What it is about are the phases; a listener that keeps every entry would be measured with them.
        drive.entries = _Forgetful()
        end = drive.run()
    assert end.exit in {0, 12}, end
    costs = [after[0] - before[0] for before, after in itertools.pairwise(ends)]
    then, now = statistics.median(costs[early - WINDOW : early]), statistics.median(costs[-WINDOW:])
    memory_then, memory_now = ends[early - 1][1], ends[-1][1]
    print(f"phase {early:>4}   {then:6.2f} s CPU   {memory_then:7.1f} MB")
    print(f"phase {phases:>4}   {now:6.2f} s CPU   {memory_now:7.1f} MB")
    tell("time", now / then)
    tell("memory", memory_now / memory_then)


def write_ms(events: int) -> float:
    """What it takes to write the state at a step of a phase under way, behind finished phases with so many events."""
    last = phase(str(FINISHED + 1))
    short = list(long_run(FINISHED, FEW))[1:-1]
    asked = sum(isinstance(event, AgentStarted | AgentAnswered) for _, event in short)
    often = 1 + (events - len(short)) // asked if events > FEW else 1
    told = [one for one in short for _ in range(often if isinstance(one[1], AgentStarted | AgentAnswered) else 1)]
    known = (*(phase(str(n)) for n in range(1, FINISHED + 1)), last)
    given, stream = brief(phase=last, position=FINISHED + 1, total=FINISHED + 1), stream_of(RUN, last.id, 0)
    under_way = [(stream, entry.event) for entry in Story(given).planned().executed().entries]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        path = Path(place) / ".autopilot" / "journal.db"
        write_journal(path, iter([(RUN, started(*known)), *told, (RUN, PhaseStarted(brief=given)), *under_way]))
        with SqliteJournal(path, SystemClock()) as journal:
            streams, file, projection = Streams(journal, RUN, ()), StateFile(path.parent), Projection()
            costs = []
            for n in range(WRITES):
                streams.append(stream, _begins(n))
                before = time.process_time()
                file.write(projection.state(streams.run(), streams))
                costs.append(time.process_time() - before)
    return statistics.median(costs) * 1000


def _begins(n: int) -> StepStarted:
    return StepStarted(step="execute", n=n, base="base", nonce="nonce", boot="boot")


def tell(name: str, ratio: float) -> None:
    print(f"{name:<8} {ratio:.2f}x  goal {GOAL}x  {'ok' if ratio <= GOAL else 'MISSED'}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--phases", type=int, default=300)
    parser.add_argument("--writes", action="store_true")
    asked = parser.parse_args()
    if not asked.writes:
        many_phases(asked.phases)
    # In turns: a machine that is busy for a while is so for both.
    turns = [(write_ms(FEW), write_ms(MANY)) for _ in range(3)]
    few, many = (statistics.median(costs) for costs in zip(*turns, strict=True))
    print(f"a write of state.json: {few:.2f} ms CPU after {FEW:,} events, {many:.2f} ms after {MANY:,}")
    tell("write", many / few)


class _Forgetful(list):  # type: ignore[type-arg]  # a list that keeps nothing
    def append(self, item: object) -> None:
        """Nothing is kept."""


if __name__ == "__main__":
    main()
