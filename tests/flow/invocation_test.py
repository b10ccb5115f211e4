"""How a run begins, and begins again: resumed, started anew, or halted because its agent is gone."""

import sys
from pathlib import Path

import pytest

from autopilot.cli.help import VERBS
from autopilot.domain.errors import AgentUnavailable
from autopilot.domain.events import PhaseStarted, RunResumed, RunStarted, RunStopped
from support.deferring import CONDEMNED, letters
from support.project import reviews
from support.runs import driven


def test_inv_01_an_open_run_is_gone_on_with_and_other_phases_start_anew(place: Path) -> None:
    """INV-01, AMB-01: bare, or with the same phases, it resumes; after a failure other phases are a new run."""
    project = driven(place, [CONDEMNED | {"phase": "1"}, *reviews(), *letters("1", "2", "3")], "1", "2>1", "3")
    assert project.run("1-2").exit == 10

    assert project.run("").exit == 10
    assert (len(project.of(RunStarted)), len(project.of(RunResumed))) == (1, 1)
    assert project.run("3").exit == 0
    assert len(project.of(RunStarted)) == 2
    assert "resume" in VERBS, "INV-09"


def test_inv_14_a_run_starts_with_two_lines_and_asks_nobody(place: Path) -> None:
    """INV-09, INV-14, INV-15, INV-18, LRNG-03: a phase without a plan is researched and planned."""
    project = driven(place, [*reviews(), *letters("1", "2")], "1", "2")
    (project.root / ".autopilot").mkdir()
    (project.root / ".autopilot/learnings.md").write_text("# Learnings (current run)\n\nold\n", encoding="utf-8")

    assert project.run("1").exit == 0
    told = project.told()
    assert told[0].startswith("Autopilot: Phases 1 | Spec: .planning/ROADMAP.md (")
    assert f") | Model: scripted:{project.script}"[:60] in told[0], "an agent without such a model is named itself"
    assert told[1] == "Starting phase 1..."
    assert project.steps[:4] == ["preflight", "triage", "research", "plan"]
    assert (project.root / ".git/info/exclude").read_text(encoding="utf-8").count(".autopilot") == 1
    assert "Learnings file reset for new run." in project.warnings
    assert [path.name for path in (project.root / ".autopilot/archive").glob("learnings-*.md")]


def test_inv_20_an_agent_that_is_gone_halts_the_run_and_none_takes_its_place(place: Path) -> None:
    """INV-20: at once, with the state saved; when it is there again the run goes on from there."""
    project = driven(place, [*reviews(), *letters("1")], "1")
    program = place / "agent.py"
    program.write_text(f"#!{sys.executable}\nraise SystemExit(1)\n", encoding="utf-8")
    program.chmod(0o755)
    project.agent = f"exec:{program}"
    project.meanwhile = lambda entry: program.unlink(missing_ok=True) if isinstance(entry.event, PhaseStarted) else None

    with pytest.raises(AgentUnavailable) as halted:
        project.run("1")

    assert halted.value.exit_code == 3
    assert project.of(RunStopped)[-1].exit_code == 3
    assert project.state()["_meta"]["status"] == "paused"
    assert "resume" not in project.steps
