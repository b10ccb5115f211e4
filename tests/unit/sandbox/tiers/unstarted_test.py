"""A sandbox that fails before the program begins: it is started again, and an agent is not blamed for it."""

import os
import secrets
import shutil
from pathlib import Path

import pytest

from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.process import Job, Ran, killer
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.agent_view import AgentView
from autopilot.sandbox.tiers.agents import BubblewrapAgents
from autopilot.sandbox.tiers.bubblewrap import Bubblewrap, Walls
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


def agent(script: str, folder: Path) -> Job:
    return Job(argv=("/bin/sh", "-c", script), cwd=str(folder), env=dict(os.environ), mark="agent")


@needs_bwrap
def test_an_agent_is_started_once_more_when_its_sandbox_did_not_start(tmp_path: Path) -> None:
    ran = BubblewrapAgents(ChildProcesses(), walls(tmp_path, 1), AgentView()).run(agent("echo here", tmp_path))

    assert (ran.interruption, ran.stdout) == ("", b"here\n")


@needs_bwrap
def test_an_agent_that_is_held_beyond_our_life_is_started_once_more_too(tmp_path: Path) -> None:
    held = KeptProcesses(tmp_path / "held", ChildProcesses(), "this boot")
    ran = BubblewrapAgents(held, walls(tmp_path, 1), AgentView()).run(agent("echo here", tmp_path))
    held.release_all()

    assert (ran.interruption, ran.stdout) == ("", b"here\n")


@needs_bwrap
def test_an_agent_whose_sandbox_never_starts_was_interrupted(tmp_path: Path) -> None:
    ran = BubblewrapAgents(ChildProcesses(), walls(tmp_path, 9), AgentView()).run(agent("echo here", tmp_path))

    assert ran.interruption == (
        "the sandbox did not start: bwrap: Can't create file at /etc/new.lock: Read-only file system"
    )


@needs_bwrap
def test_an_agent_that_only_talks_like_the_sandbox_is_not_started_again(tmp_path: Path) -> None:
    script = 'echo x >> started; echo "bwrap: Can\'t create file at /etc/x" >&2; exit 1'
    ran = BubblewrapAgents(ChildProcesses(), walls(tmp_path, 0), AgentView()).run(agent(script, tmp_path))

    assert (ran.exit_code, ran.interruption) == (1, "")
    assert (tmp_path / "started").read_text() == "x\n"


@needs_bwrap
@pytest.mark.skipif(not os.access("/etc", os.W_OK), reason="only the superuser can put a file into /etc")
def test_a_file_in_etc_that_comes_and_goes_keeps_no_agent_from_its_work(tmp_path: Path) -> None:
    """A private file, so that it is hidden by name; it is there when we look, and gone when bubblewrap starts."""
    passing = Path("/etc") / f"autopilot-{secrets.token_hex(4)}.lock"
    made = walls(tmp_path, 0)
    script = Path(made.bwrap)
    script.write_text(f"#!/bin/sh\nrm -f {passing}\n{script.read_text().removeprefix('#!/bin/sh')}", encoding="utf-8")
    passing.touch(mode=0o600)
    try:
        ran = BubblewrapAgents(ChildProcesses(), made, AgentView()).run(agent("echo here", tmp_path))
    finally:
        passing.unlink(missing_ok=True)

    assert (ran.interruption, ran.stdout) == ("", b"here\n")
    assert (tmp_path / "count").read_text() == "2\n", "the first start did fail"


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
