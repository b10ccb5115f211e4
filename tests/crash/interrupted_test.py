"""What an agent had half done when the run died is kept aside, and the step runs again as if it had never begun."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.journal.earlier_runs import read_ledger
from autopilot.journal.sqlite import SqliteJournal
from support.aftermath import survivors
from support.letters import Letters
from support.repos import git
from support.waiting import soon

VICTIM = Path(__file__).parent / "victim.py"
HALF = """
if [ ! -e "$here/seen" ]; then
  echo half > letter1.txt
  touch "$here/seen"
  (setsid sleep 60 &)
  sleep 60
fi
"""


@pytest.fixture
def letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Letters:
    """Its agent gets stuck in the middle of the first task, once, and leaves a daemon behind."""
    monkeypatch.setenv("AUTOPILOT_CACHE", str(tmp_path / "cache"))
    made = Letters(tmp_path)
    fragment = made.home / "answers" / "1-execute-1.sh"
    fragment.write_text(HALF + fragment.read_text(encoding="utf-8"), encoding="utf-8")
    return made


def begin(letters: Letters) -> subprocess.Popen[bytes]:
    """A run that is stuck in its first task when this returns."""
    run = subprocess.Popen(
        [sys.executable, str(VICTIM), str(letters.root), letters.agent, letters.phases, "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert soon((letters.home / "seen").exists)
    return run


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are found through /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda n: n.name)
def test_half_done_work_is_kept_and_the_step_runs_again(
    letters: Letters, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOPILOT_LEASE", "0.5")
    run = begin(letters)
    os.kill(run.pid, number)
    run.wait()
    assert soon(lambda: not survivors(letters.root))

    assert app.resume(str(letters.root), lambda *_: None, print).exit == 0
    ours = f"--git-dir={letters.root}/.autopilot/repo.git"
    refs = git(letters.root, ours, "for-each-ref", "--format=%(refname)", "refs/autopilot/interrupted").splitlines()
    assert [git(letters.root, ours, "show", f"{ref}:letter1.txt") for ref in refs] == ["half"]
    assert git(letters.root, "show", "HEAD:letter1.txt") == "done 1"
    assert not survivors(letters.root)


def test_a_stopped_run_says_so_in_its_journal_and_can_go_on(letters: Letters) -> None:
    run = begin(letters)
    assert app.stop(str(letters.root), now=False).startswith("Stopped run-")
    run.wait()

    ledger = read_ledger(SqliteJournal.read_only(letters.root / ".autopilot" / "journal.db"))
    assert ledger.resumable
    assert ledger.newest is not None
    assert type(ledger.newest.end).__name__ == "RunStopped"
    assert app.resume(str(letters.root), lambda *_: None, print).exit == 0
