"""The disk is full, for real: the run stops in three lines, what it prints never ends it, and it goes on later."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.errors import StorageFailed
from autopilot.domain.process import Job
from autopilot.sandbox.keeper import keeper
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox.processes.children import ChildProcesses
from support.faults import full, record, seed
from support.runs import playground
from support.struck_runs import StruckProject

PROGRAM = Path(__file__).parents[1] / "support" / "small_disk.py"
NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")
TRIALS = 100 if full() else 2
ENTRIES = 37


@pytest.fixture
def namespace() -> tuple[str, ...]:
    """Words that start a program where it may mount a disk of its own."""
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare to get a disk of one's own with")
    probe = subprocess.run([*NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("this user may mount nothing, not even in a namespace")
    return NAMESPACE


def trial(namespace: tuple[str, ...], disk: Path, entry: int) -> dict[str, Any]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [*namespace, sys.executable, str(PROGRAM), str(disk), str(entry)]
    done = subprocess.run(words, env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.timeout(600)
def test_a_run_whose_disk_fills_up_goes_on_when_there_is_space(namespace: tuple[str, ...], tmp_path: Path) -> None:
    chance, came, wrong = random.Random(seed()), Counter[str](), dict[int, list[str]]()
    for number in range(TRIALS):
        disk = tmp_path / str(number)
        disk.mkdir()
        told = trial(namespace, disk, entry := chance.randint(1, ENTRIES - 5))
        came[told["came"]] += 1
        wrong |= {entry: told["wrong"]} if told["wrong"] else {}
    record("full disk", **came)
    assert wrong == {}
    assert came["told"] + came["survived"] > 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_what_cannot_be_printed_does_not_end_a_run() -> None:
    with playground() as folder, Path("/dev/full").open("wb") as out:
        project = StruckProject.made(folder / "place")
        ended = project.run(out=out.fileno())

        assert (ended.crashed, project.troubles()) == (False, [])


@pytest.mark.skipif(sys.platform != "linux", reason="calls are held on Linux only")
def test_an_answer_of_which_the_disk_took_only_a_part_is_no_answer(tmp_path: Path) -> None:
    """What a keeper could not keep is told, and the call is made again by the next run."""
    held = KeptProcesses(tmp_path / "keep", ChildProcesses(territory=str(tmp_path)), "boot")
    job = Job(
        argv=("sh", "-c", "echo answer"), cwd=str(tmp_path), env=dict(os.environ), mark="r/1/plan/1", timeout_s=1200
    )
    assert held.run(job).stdout == b"answer\n"
    (output,) = tmp_path.glob(f"keep/*/{keeper.OUTPUT}")
    os.truncate(output, 3)

    with pytest.raises(StorageFailed, match="took only a part"):
        held.run(job)
    assert held.run(job).stdout == b"answer\n"
