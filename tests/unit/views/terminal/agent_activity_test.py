"""What real processes are seen to do."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autopilot.journal.lock import birth_of
from autopilot.state.picture import AgentCall
from autopilot.views.terminal.agent_activity import Glance, Glances
from support.waiting import soon

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not show processes")
SLEEPER = "import time; print(flush=True); time.sleep(60)"


@contextmanager
def agent(line: str) -> Iterator[AgentCall]:
    """A shell that runs the line and then goes on, with pid and birth as the journal would have them."""
    with subprocess.Popen(["bash", "-c", f"{line}; true"], stdout=subprocess.PIPE, start_new_session=True) as shell:
        assert shell.stdout is not None
        shell.stdout.readline()
        try:
            yield AgentCall(
                call="c",
                stream="r/1",
                role="execute",
                phase="1",
                task="",
                began="",
                pid=shell.pid,
                birth=birth_of(shell.pid),
            )
        finally:
            os.killpg(shell.pid, signal.SIGKILL)


def cpu_time(pid: int) -> int:
    """Clock ticks a process has worked: a busy machine may not let it work for a while."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


def test_the_newest_program_below_an_agent_is_what_it_does() -> None:
    with agent(f"{sys.executable} -c '{SLEEPER}' --token=ghp_{'a' * 36}") as call:
        seen = Glances(time.monotonic)(call)

    assert seen.doing.startswith("python")
    assert "time.sleep(60)" in seen.doing
    assert "ghp_" not in seen.doing


def test_an_agent_that_does_nothing_is_idle_and_one_that_works_is_not() -> None:
    now = [100.0]
    glances = Glances(lambda: now[0])
    with agent(f"{sys.executable} -c '{SLEEPER}'") as still, agent("echo; while :; do :; done") as busy:
        glances(busy)
        glances(still)
        now[0] += 30
        before = cpu_time(busy.pid)
        assert soon(lambda: cpu_time(busy.pid) > before + 2)
        told = glances(still).idle, glances(busy).idle

    assert told == (30.0, 0.0)


def test_a_process_that_is_gone_or_another_is_not_looked_at() -> None:
    with agent(f"{sys.executable} -c '{SLEEPER}'") as call:
        other = AgentCall(
            call="d", stream="r/1", role="plan", phase="1", task="", began="", pid=call.pid, birth="another"
        )
        assert Glances(time.monotonic)(other) == Glance()
    assert Glances(time.monotonic)(call) == Glance()


def test_calls_that_are_over_are_forgotten() -> None:
    glances = Glances(time.monotonic)
    with agent(f"{sys.executable} -c '{SLEEPER}'") as call:
        assert glances.all({"c": call})["c"].idle is not None
        assert glances.all({}) == {}
    assert glances._marks == {}
