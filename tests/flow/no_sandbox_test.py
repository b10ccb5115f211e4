"""On a machine where nothing can be confined: no run without the user's word, and nothing shown as verified with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.project import plan_answer, reviews, work_answer
from support.runs import driven
from support.worlds import start_of

pytestmark = pytest.mark.sandbox

PLAN = plan_answer("1", [("letter1.txt", "done")])
GOOD = work_answer("1", "01-01", "letter1.txt", "done\n")


def elsewhere(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the code where neither namespaces nor Landlock exist."""
    if not (beginning := start_of("unsandboxed")):
        pytest.skip("such a machine is made by a seccomp filter, for which the system calls must be known")
    words = [*beginning, sys.executable, "-c", code]
    return subprocess.run(words, cwd=folder, env={**os.environ}, capture_output=True, text=True, check=False)


def test_a_run_refuses_to_start_and_says_what_to_do(place: Path) -> None:
    project = driven(place, [*reviews(), PLAN, GOOD])
    code = (
        f"from autopilot.cli.main import main; raise SystemExit(main(['all', '--agent', 'scripted:{project.script}']))"
    )
    done = elsewhere(code, project.root)

    assert done.returncode == 4
    assert "No sandbox holds here (bubblewrap: " in done.stderr
    assert "--unsandboxed" in done.stderr
    assert not (project.root / ".autopilot").exists()


def test_the_doctor_says_so_and_the_demo_goes_on_aloud(place: Path) -> None:
    code = (
        "from autopilot.app.sandbox_checkup import sandbox_check; from autopilot.sandbox.processes.children import ChildProcesses\n"
        "from autopilot.cli.demo.show import _confinement\n"
        "print(sandbox_check(ChildProcesses()).level, _confinement())"
    )
    done = elsewhere(code, place)

    assert done.stdout.splitlines()[0].startswith(
        "No sandbox holds on this machine, so this demo runs as with --unsandboxed"
    )
    assert done.stdout.splitlines()[-1] == "fail none"


def test_what_ran_without_a_sandbox_is_never_shown_as_verified(place: Path) -> None:
    project = driven(place, [*reviews(), PLAN, GOOD])
    assert project.run(sandbox="none").exit == 0

    paper = next(project.root.glob(".planning/phases/*/VERIFICATION.md")).read_text()
    report = next((project.root / ".autopilot").glob("completion-*.md")).read_text()
    assert "PASSED (unsandboxed)" in paper
    assert "VERIFIED" not in paper
    assert "checks passed (unsandboxed)" in report
    assert any("switched off" in warning for warning in project.warnings)


def test_an_interrupted_run_goes_on_without_a_sandbox_only_when_told_so(place: Path) -> None:
    project = driven(place, [*reviews()])
    assert project.run(sandbox="none").exit == 10
    project.rewrite([*reviews(), PLAN, GOOD])

    assert project.run(sandbox="none").exit == 0
    assert sum("switched off" in warning for warning in project.warnings) == 2
