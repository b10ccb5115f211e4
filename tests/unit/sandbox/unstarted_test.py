"""A sandbox that fails before the program begins: it is started again, and an agent is not blamed for it."""

import os
import shutil
from pathlib import Path

import pytest

from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.running import Job, Ran, killer
from autopilot.sandbox.agent_cages import BubblewrapAgents
from autopilot.sandbox.agent_view import AgentView
from autopilot.sandbox.bubblewrap import Bubblewrap, Walls
from autopilot.sandbox.processes import ChildProcesses
from autopilot.sandbox.toolchain import look, private_places

BWRAP = shutil.which("bwrap") or ""
needs_bwrap = pytest.mark.skipif(not BWRAP, reason="bubblewrap is not installed")
# As bubblewrap does when a file it is to hide is gone by the time it starts.
FAILS = """#!/bin/sh
count=$(cat {count} 2>/dev/null || echo 0)
echo $((count + 1)) > {count}
if [ "$count" -lt {times} ]; then
  echo "bwrap: Can't create file at /etc/new.lock: Read-only file system" >&2
  exit 1
fi
exec {bwrap} "$@"
"""


def walls(folder: Path, times: int) -> Walls:
    script = folder / "bwrap"
    script.write_text(FAILS.format(count=folder / "count", times=times, bwrap=BWRAP), encoding="utf-8")
    script.chmod(0o755)
    return Walls(bwrap=str(script), toolchain=look(os.environ), disable_userns=False)


@needs_bwrap
@pytest.mark.parametrize("times", [1, 2])
def test_a_command_is_run_again_when_its_sandbox_did_not_start(tmp_path: Path, times: int) -> None:
    ran = Bubblewrap(ChildProcesses(), walls(tmp_path, times)).run("echo here", str(tmp_path), 30)

    assert (ran.exit_code, ran.stdout) == (0, b"here\n")


@needs_bwrap
def test_a_sandbox_that_never_starts_says_so(tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable, match=r"new\.lock"):
        Bubblewrap(ChildProcesses(), walls(tmp_path, 99)).run("echo here", str(tmp_path), 30)


@needs_bwrap
def test_a_command_that_only_talks_like_the_sandbox_has_failed_by_itself(tmp_path: Path) -> None:
    ran = Bubblewrap(ChildProcesses(), walls(tmp_path, 0)).run("echo 'bwrap: no' >&2; exit 1", str(tmp_path), 30)

    assert ran.exit_code == 1


@needs_bwrap
def test_an_agent_whose_sandbox_did_not_start_was_interrupted(tmp_path: Path) -> None:
    agents = BubblewrapAgents(ChildProcesses(), walls(tmp_path, 1), AgentView())
    job = Job(argv=("/bin/sh", "-c", "echo here"), cwd=str(tmp_path), env=dict(os.environ))

    first, second = agents.run(job), agents.run(job)

    assert first.interruption == (
        "the sandbox did not start: bwrap: Can't create file at /etc/new.lock: Read-only file system"
    )
    assert (second.interruption, second.stdout) == ("", b"here\n")


@pytest.mark.parametrize(
    ("code", "signal"),
    [(-9, "SIGKILL"), (137, "SIGKILL"), (143, "SIGTERM"), (-2, "SIGINT"), (129, "SIGHUP"), (131, "SIGQUIT")],
)
def test_a_signal_that_others_send_is_an_interruption(code: int, signal: str) -> None:
    assert killer(code) == signal
    assert Ran(exit_code=code, stdout=b"", stderr=b"", seconds=0.0).interruption == f"killed from outside by {signal}"


@pytest.mark.parametrize("code", [None, 0, 1, 2, 9, 75, 124, 127, 128, -11, 139, -6, 134, 255])
def test_every_other_end_is_the_programs_own(code: int | None) -> None:
    assert Ran(exit_code=code, stdout=b"", stderr=b"", seconds=0.0).interruption == ""


def test_a_file_that_vanishes_while_we_look_at_etc_is_passed_over(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("secret", encoding="utf-8")
        (tmp_path / name).chmod(0o600)

    places = private_places(str(tmp_path))
    first = next(places)
    (tmp_path / "b").unlink()

    assert [first, *places] == [str(tmp_path / "a"), str(tmp_path / "c")]
