"""The hold on a sandbox's first process, and what happens when nobody holds it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from autopilot.sandbox.processes import marks
from autopilot.sandbox.tiers.lifeline import Lifeline

pytestmark = pytest.mark.sandbox

BWRAP = shutil.which("bwrap")


def test_a_sandbox_that_never_told_its_first_process_is_not_taken_for_gone() -> None:
    with Lifeline(b"") as line:
        line.hold(os.getpid())

        assert not line.gone()


def test_a_process_that_is_not_the_sandboxs_own_is_never_held() -> None:
    with subprocess.Popen(["sleep", "60"]) as stranger, Lifeline(b"") as line:
        os.write(line.inherited[0], b'{"child-pid": %d}' % stranger.pid)
        line.hold(1)

        assert not line.gone()
        assert stranger.poll() is None
        stranger.kill()


@pytest.mark.skipif(BWRAP is None, reason="bubblewrap is not installed")
def test_a_sandbox_whose_starter_died_at_once_runs_nothing(tmp_path: Path) -> None:
    """It asks for the parent-death signal before it tells its first process, and starts nothing before that is told."""
    told, telling = os.pipe()
    os.close(told)
    words = [
        str(BWRAP),
        "--info-fd",
        str(telling),
        "--unshare-user",
        "--unshare-pid",
        "--die-with-parent",
        "--bind",
        "/",
        "/",
    ]
    env, mark = {"AUTOPILOT_MARK": tmp_path.name}, tmp_path.name
    child = subprocess.Popen([*words, "touch", str(tmp_path / "ran")], env=env, pass_fds=(telling,))
    os.close(telling)

    assert child.wait() != 0
    assert not (tmp_path / "ran").exists()
    # What is left waits for a word that never comes; a resumed run finds it by its mark.
    assert marks.sweep(mark) <= 1
    assert marks.sweep(mark) == 0
