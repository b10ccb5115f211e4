"""What facts cost: how often the project's test command really runs in a phase."""

from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.errors import Interrupted
from autopilot.domain.events import Entry, StepFinished, StepStarted
from support.calculator import project
from support.project import ACTION
from support.runs import Drive

ROADMAP = (
    "# Roadmap\n\n### Phase 1: Modules\n**Goal**: Write modules.\n**Success Criteria** (what must be TRUE):\n"
    "  1. The first is there -- verified by: `bash m1.sh`\n"
)


def many(count: int, command: str) -> list[dict[str, Any]]:
    """A plan of tasks that each write a script, change an old test, and have the test command as a criterion."""
    parts, answers = ["# Plan: Phase 1 -- Modules\n\n## Wave 1\n"], list[dict[str, Any]]()
    for n in range(1, count + 1):
        parts.append(
            f'<task id="01-0{n}" type="auto" complexity="simple">\n### Task 01-0{n}: Module {n}\n'
            f"**Files:** m{n}.sh, tests/test_all.sh\n**Action:** {ACTION}\n**Verify:**\n"
            f"- module {n} works -- verified by: `bash m{n}.sh`\n- the tests pass -- verified by: `{command}`\n"
            f"**Done:** Module {n}.\n</task>\n"
        )
        tests = "".join(f"bash m{k}.sh\n" for k in range(1, n + 1))
        files = {f"m{n}.sh": "echo fine\n", "tests/test_all.sh": f"set -e\n{tests}"}
        result = {"tasks_completed": "1/1", "tasks_failed": "0/1"}
        answers.append({"role": "execute", "task": f"01-0{n}", "result": result, "write": files})
    plan = {"role": "plan", "result": {"total_tasks": count}, "write": {"{dir}/PLAN.md": "\n".join(parts)}}
    return [plan, *answers]


def counted(place: Path, count: int) -> tuple[Drive, Path]:
    """The project whose test command leaves a line for every time it is run."""
    log = place / "runs.log"
    command = f"echo run >> {log}; for t in tests/test_*.sh; do bash $t; done"
    files = {"tests/test_all.sh": "true\n", ".planning/ROADMAP.md": ROADMAP}
    return project(place, *many(count, command), test=command, files=files), log


def runs(log: Path) -> int:
    return len(log.read_text().splitlines())


@pytest.mark.parametrize("tasks", [1, 3, 5])
def test_a_phase_of_t_tasks_runs_the_test_command_at_most_four_and_three_t_times(place: Path, tasks: int) -> None:
    drive, log = counted(place, tasks)

    assert drive.run().exit == 0
    assert tasks < runs(log) <= 4 + 3 * tasks


def test_what_the_journal_holds_is_not_run_again_after_a_resume(place: Path) -> None:
    drive, log = counted(place, 1)
    cut: list[int] = []

    def stop(entry: Entry) -> None:
        if isinstance(entry.event, StepStarted) and entry.event.step == "mini_verify" and not cut:
            cut.append(runs(log))
            raise Interrupted

    drive.meanwhile = stop
    with pytest.raises(Interrupted):
        drive.run()

    assert drive.resume().exit == 0
    assert drive.steps.count("execute") == 1
    # The old tests and the canary of the whole phase; the gates themselves are known.
    assert runs(log) - cut[0] == 2
    assert all(s.commit for s in drive.of(StepFinished))
