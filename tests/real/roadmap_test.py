"""Real agent programs drive the sample project's roadmap; a mind on this machine answers them, and tools do the work."""

import subprocess
import sys
from pathlib import Path

import pytest

from autopilot.cli.demo import sample_project as demo
from support.fake_models.brain import Brain
from support.real_runs import RealRun, till_answers
from support.repos import git

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(900)]
COMMITS = [
    "A till that can read one item",
    "feat(01): 01-01 - Total of a basket",
    "feat(01): 01-02 - Command line",
    "docs(01): planning files of phase 1",
    "feat(02): 02-01 - Ten percent off from 50.00",
    "docs(02): planning files of phase 2",
]
# All that are asked in it; the debugger because the executor of the second phase says untrue things.
ROLES = {
    "research", "plan", "plan_check", "execute", "mini_verify", "debug", "verify", "judge", "judge_divergence", "rate",
    "integration", "audit",
}  # fmt: skip


def price(root: Path, *items: str) -> str:
    """What the program that was written says a basket costs."""
    argv = [sys.executable, "-B", "-m", "till", *items]
    return subprocess.run(argv, cwd=root, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("agent", ["claude", "codex", "goose"])
def test_a_roadmap_of_two_phases_is_driven_home(agent: str, tmp_path: Path) -> None:
    root = demo.make(str(tmp_path / "project"))
    before = (root / demo.DIRTY).read_text()
    with RealRun(agent, root, Brain(till_answers("1", "2"))) as run:
        ended = run.start("1-2")
        status = run.ask("status")

    assert (ended.exit, status.exit) == (0, 0), ended.told
    assert {phase["reason"] for phase in ended.end["phases"].values()} == {"every gate passed"}
    assert "2/2 phases over: 2 completed" in status.told
    assert run.outcomes().keys() == ROLES
    assert {outcome for outcomes in run.outcomes().values() for outcome in outcomes} == {"ok"}
    assert "not-seen-to-run" not in ended.told, "each command a reviewer named was seen among the program's events"
    assert git(root, "log", "--reverse", "--format=%s").splitlines() == COMMITS
    assert (price(root, "2x25.00"), price(root, "1x49.99")) == ("45.00", "49.99")
    assert ((root / demo.DIRTY).read_text(), git(root, "status", "--porcelain")) == (before, f"M {demo.DIRTY}")
    assert run.left() == []
