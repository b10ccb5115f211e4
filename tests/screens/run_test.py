"""Whole runs through the command: what a user sees and what a script gets."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from support.project import honest, make_project, reviews, work_answer

COMMAND = [sys.executable, "-m", "autopilot"]


def environment(tmp_path: Path) -> dict[str, str]:
    return os.environ | {"AUTOPILOT_CACHE": str(tmp_path / "cache"), "GIT_CONFIG_GLOBAL": os.devnull}


def autopilot(root: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, *words],
        cwd=root,
        env=environment(root.parent),
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_run_ends_with_its_result_as_json_and_status_remembers_it(tmp_path: Path) -> None:
    root = make_project(tmp_path / "letters", honest())
    done = autopilot(root, "1", "--agent", f"scripted:{tmp_path}/letters.toml", "--sandbox", "none", "--json")
    told = json.loads(done.stdout.splitlines()[-1])

    assert (done.returncode, told["exit"], told["phases"]["1"]["status"]) == (0, 0, "completed")
    assert "[Phase 1] Task 01-01 (1/1): VERIFIED\n" in done.stderr
    assert "To continue: autopilot 2 3\n" in done.stderr
    assert autopilot(root, "status").stdout.startswith(f"Run {told['run']}: completed\n")


def test_a_lie_is_shown_beside_the_command_that_contradicts_it(tmp_path: Path) -> None:
    lie = work_answer("1", "01-01", "letter1.txt", "nothing yet\n")
    others = [answer for answer in honest() if answer.get("task") != "01-01"]
    root = make_project(tmp_path / "letters", [lie, *others])
    done = autopilot(root, "1", "--agent", f"scripted:{tmp_path}/letters.toml", "--sandbox", "none")

    assert done.returncode == 10
    said = "[Phase 1] Task 01-01: the agent reported success; `grep -q done letter1.txt` exited 1 (and 1 more)\n"
    assert said in done.stdout
    assert "VERIFIED" not in done.stdout


def test_an_interrupted_run_is_told_so_and_how_to_go_on(tmp_path: Path) -> None:
    root = make_project(tmp_path / "letters", reviews())
    command = [*COMMAND, "1", "--agent", "exec:sleep 60", "--sandbox", "none"]
    with subprocess.Popen(
        command,
        cwd=root,
        env=environment(tmp_path),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        for line in run.stdout:
            if "RESEARCH (3/9)" in line:
                break
        run.send_signal(signal.SIGINT)
        told = run.stderr.read()

    assert run.returncode == 130
    assert told.endswith("autopilot: Interrupted.\n  Every finished step is kept.\n  Go on with: autopilot resume\n")
    assert "To continue: autopilot resume" in autopilot(root, "status").stdout
