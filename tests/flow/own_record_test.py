"""Phases that our own runs ended: what the planning files say of them is neither a dispute nor a finding."""

from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.app.planning_checkup import planning_checks
from autopilot.domain.request import RunRequest
from support.project import honest
from support.repos import git, write
from support.runs import Drive, driven

BOXES = "# Roadmap: Letters\n\n- [ ] **Phase 1: Letter 1** - One\n- [ ] **Phase 2: Letter 2** - Two\n"


@pytest.fixture
def passed(place: Path) -> Drive:
    """Phase 1 has passed in a run of ours: its folder has a summary, and its box in the roadmap is still open."""
    project = driven(place, honest(), "1", "2")
    text = project.reads(".planning/ROADMAP.md").replace("# Roadmap: Letters\n", BOXES)
    write(project.root, {".planning/ROADMAP.md": text})
    git(project.root, "commit", "-qam", "boxes")
    assert project.run("1").exit == 0
    return project


def test_a_phase_that_we_passed_is_no_dispute(passed: Drive) -> None:
    """The weighing of the planning files yields to our own journal, in every place that shows its result."""
    foreseen = app.foresee(RunRequest(folder=str(passed.root), phases="all", agent=f"scripted:{passed.script}"))
    desk = app.desk(str(passed.root))
    (roadmap, *_) = planning_checks(lambda: app.read_project(passed.root))

    assert not [note for note in foreseen.notes if "SUMMARY.md" in note]
    assert not [note.what for note in desk.findings() if "SUMMARY.md" in note.what]
    assert [phase.status for phase in desk.roadmap().phases] == ["completed", "not_started"]
    assert "SUMMARY.md" not in roadmap.found
    assert passed.run("2").exit == 0
    assert not [line for line in passed.warnings if "SUMMARY.md" in line]


def test_files_of_a_phase_that_no_run_knows_are_still_weighed(passed: Drive) -> None:
    for name in ("PLAN.md", "SUMMARY.md"):
        write(passed.root, {f".planning/phases/02-letter-2/02-01-{name}": "# Done\n"})

    (finding,) = (note.what for note in app.desk(str(passed.root)).findings() if "SUMMARY.md" in note.what)

    assert finding.startswith("phase 2: ")
    assert finding.endswith("a run stops and asks")
