"""Real Claude Code stays within the default caps, although each of its turns reads its own long prompt."""

from pathlib import Path

import pytest

from autopilot.cli.demo import sample_project as demo
from support.fake_models.brain import Brain
from support.real_runs import RealRun, till_answers

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(1800)]
A_TURN = 18_000
OLD_CAP = 500_000


def test_the_sample_roadmap_is_finished_under_default_caps_with_18000_tokens_a_turn(tmp_path: Path) -> None:
    root = demo.make(str(tmp_path / "project"))
    with RealRun("claude", root, Brain(till_answers("1", "2")), input_tokens=A_TURN) as run:
        ended = run.start("1-2")

    assert ended.exit == 0, ended.told
    assert {phase["status"] for phase in ended.end["phases"].values()} == {"completed"}
    usages = [answer.usage for answer in run.answers()]
    assert sum(usage.input_tokens or 0 for usage in usages) > OLD_CAP, "the run was too small to show anything"
    assert all(usage.cost_usd for usage in usages), "the caps in dollars rest on what Claude Code says it cost"
