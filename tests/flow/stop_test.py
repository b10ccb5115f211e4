"""`autopilot stop` from another terminal, in the middle of a command that Autopilot itself runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.journal.earlier_runs import read_ledger
from autopilot.journal.sqlite import SqliteJournal
from support.aftermath import survivors
from support.project import honest
from support.repos import git, write
from support.runs import driven
from support.waiting import soon

SLOW = """# Roadmap

### Phase 1: Letter 1
**Goal**: Write letter 1.
**Success Criteria** (what must be TRUE):
  1. The letter is there -- verified by: `{command}`
"""


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are found through /proc")
@pytest.mark.parametrize("now", [False, True], ids=["stop", "stop --now"])
def test_a_stopped_run_takes_the_command_under_way_with_it(place: Path, *, now: bool) -> None:
    project, seen = driven(place, honest()), place / "seen"
    command = f"touch {seen}; (setsid sleep 61 &); sleep 60"
    write(project.root, {".planning/ROADMAP.md": SLOW.format(command=command)})
    git(project.root, "commit", "-qam", "slow")
    words = ["run", "1", "--agent", f"scripted:{project.script}", "--unsandboxed"]
    with subprocess.Popen(
        [sys.executable, "-m", "autopilot", *words],
        cwd=project.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as run:
        try:
            assert soon(lambda: seen.exists() and bool(survivors(project.root)))
            assert app.stop(str(project.root), now=now).startswith("Stopped run-")
        finally:
            run.kill()
    assert not survivors(project.root)
    assert read_ledger(SqliteJournal.read_only(project.root / ".autopilot" / "journal.db")).resumable
