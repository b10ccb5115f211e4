"""The repository map in whole runs: made before a phase, followed commit by commit, never in the way."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autopilot.codemap.grammars import missing
from autopilot.domain.agent_call import REVIEWERS
from autopilot.domain.codemap import MAP_PATH, SHOWN_PATH
from autopilot.domain.events import Entry, PhaseStarted, StepStarted
from autopilot.engine.perform.visibility import MAPPED
from autopilot.steps import research
from autopilot.views.lines.run_lines import Narrator
from support.calculator import GOOD, plan, project, worker
from support.records import Story, brief
from support.runs import Drive

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"the extra `map` is not installed: {missing()}")


def made(place: Path) -> Drive:
    return project(place, plan(), *worker(GOOD))


def told(drive: Drive) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(drive.reads(".autopilot/repo-map.json"))
    return found


def test_rmap_01_a_map_is_made_before_the_phase_and_told(place: Path) -> None:
    """RMAP-05: the pass is told where it is."""
    drive = made(place)
    drive.run()
    (started,) = drive.of(PhaseStarted)

    assert started.brief.repo_map == "Repo-map generated: 5 files across 3 languages."
    assert started.brief.repo_map_path == ".autopilot/repo-map.json"
    narrator = Narrator()
    lines = [line for stream, entry in drive.entries for line in narrator.tell(stream, entry)]
    assert lines.index(started.brief.repo_map) < lines.index("--- [PHASE 1/1] Double ---")


def test_rmap_07_after_the_phase_the_map_has_what_the_phase_made(place: Path) -> None:
    drive = made(place)
    assert drive.run().exit == 0

    (calc,) = (file for file in told(drive)["files"] if file["path"] == "calc.py")
    assert [function["name"] for function in calc["functions"]] == ["add", "double"]
    assert calc["call_graph"] == [{"caller": "double", "callees": ["add"], "line": 5}]


def test_rmap_07_the_map_is_that_of_the_commit_before_it_is_verified(place: Path) -> None:
    drive, seen = made(place), list[list[str]]()

    def watch(entry: Entry) -> None:
        if isinstance(entry.event, StepStarted) and entry.event.step == "verify":
            (calc,) = (file for file in told(drive)["files"] if file["path"] == "calc.py")
            seen.append([function["name"] for function in calc["functions"]])

    drive.meanwhile = watch
    drive.run()
    assert seen == [["add", "double"]]


def test_rmap_05_workers_and_the_researcher_find_the_map_and_reviewers_do_not() -> None:
    """RMAP-06: research is asked for a section on the structure of the code."""
    record = Story(brief(repo_map_path=MAP_PATH)).record

    assert f"Repo map path: {SHOWN_PATH}" in research.prompt(record)
    assert "`Codebase Structure`" in research.prompt(record)
    assert "Repo map path" not in research.prompt(Story().record)
    assert MAPPED.isdisjoint(REVIEWERS)


@pytest.mark.parametrize("words", [["--help"], ["status"]], ids=" ".join)
def test_verbs_that_only_tell_do_not_load_the_map(place: Path, words: list[str]) -> None:
    argv = [sys.executable, "-X", "importtime", "-m", "autopilot", *words]
    told = subprocess.run(argv, cwd=made(place).root, capture_output=True, text=True, check=False).stderr

    assert "autopilot" in told
    assert "repo_map" not in told
    assert "tree_sitter" not in told


def test_a_map_that_cannot_be_made_stops_nothing(place: Path) -> None:
    drive = made(place)
    (drive.root / ".autopilot" / "repo-map.json").mkdir(parents=True)

    assert drive.run().exit == 0
    (started,) = drive.of(PhaseStarted)
    assert started.brief.repo_map.startswith("Repo-map left out: ")
    assert started.brief.repo_map_path == ""
