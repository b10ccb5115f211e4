"""A dry run through the command itself: it tells what a run then does, and leaves no trace."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autopilot.app import prepare as app
from autopilot.domain.events import AgentAnswered, RunStarted
from autopilot.domain.request import RunRequest
from autopilot.pipeline import PIPELINE
from autopilot.planning.start import build_forecast as forecast
from support.project import honest, make_project, plan_answer, plan_text, reviews, work_answer
from support.repos import write
from support.runs import Drive, driven, roadmap_of, snapshot

REQUIREMENTS = "# Requirements\n\n## v1\n\n- [ ] **LET-01**: Every letter holds the word done\n\n## Traceability\n\n| Requirement | Phase | Status |\n|---|---|---|\n| LET-01 | Phase 1 | Pending |\n"


def autopilot(root: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "autopilot", *words]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def seen(root: Path, *words: str) -> dict[str, Any]:
    done = autopilot(root, *words, "--dry-run", "--json", "--agent", f"scripted:{root.parent / 'project.toml'}")
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def ids(found: dict[str, Any], key: str = "phases") -> list[str]:
    return [phase["id"] for phase in found[key]]


@pytest.mark.parametrize(
    "words", [["all", "--dry-run"], ["all", "--dry-run", "--json"], ["doctor"], ["progress"]], ids=" ".join
)
def test_looking_writes_nothing_at_all(words: list[str], place: Path) -> None:
    root = make_project(place / "project", honest())
    before = snapshot(root)
    done = autopilot(root, *words)

    assert done.returncode == 0, done.stderr
    assert snapshot(root) == before
    assert not (root / ".autopilot").exists()


def test_it_names_the_phases_in_the_order_in_which_they_run(place: Path) -> None:
    root = make_project(place / "project", [], roadmap_of("1>3", "2", "3"))
    found = seen(root, "all")

    assert ids(found) == ["2", "3", "1"]
    assert (found["problems"], found["resumes"], found["usd"]) == ([], None, None)
    assert found["tokens"]["expected"] == 3 * 240_000


def test_what_is_left_out_is_told_with_the_reason(place: Path) -> None:
    roadmap = "- [x] **Phase 1: Letter 1**\n\n" + roadmap_of("1", "2>1", "3>2", "4")
    found = seen(make_project(place / "project", [], roadmap), "--only", "3")

    assert [(p["id"], p["why"]) for p in found["left_out"]] == [
        ("1", "already completed"),
        ("2", "not asked for"),
        ("4", "not asked for"),
    ]
    assert found["phases"][0]["waits_for"] == ["2"]


def test_a_plan_and_requirements_change_the_forecast(place: Path) -> None:
    root = make_project(place / "project", [], roadmap_of("1", "2"))
    plan = plan_text("1", [("web/letter.html", "done"), ("web/b.css", "done")])
    write(root, {".planning/phases/01-letter-1/PLAN.md": plan, ".planning/REQUIREMENTS.md": REQUIREMENTS})
    first, second = seen(root, "all")["phases"]

    assert (first["type"], first["plan"], first["prompts"], first["tasks"]["simple"]) == ("ui", True, {}, 2)
    assert first["tokens"]["expected"] == 96_000
    assert first["task_types"] == "2 auto tasks, 0 checkpoint:human-verify tasks"
    assert "research" not in first["route"]
    assert (first["confidence"]["score"] >= 5, second["confidence"]["score"]) == (True, 3)
    assert second["prompts"].keys() == {"research", "plan"}


def test_the_forecast_knows_the_steps_of_the_pipeline() -> None:
    assert (*forecast.BEFORE, *forecast.STEPS) == tuple(stage.name for stage in PIPELINE)[:-2]


def test_an_unfinished_run_would_go_on_with_what_is_left(place: Path) -> None:
    letters = [plan_answer("1", [("letter1.txt", "done")]), work_answer("1", "01-01", "letter1.txt", "done\n")]
    project = driven(place, [*letters, *reviews()], "1", "2")
    assert project.run().exit == 10
    before = snapshot(project.root)
    found = seen(project.root)

    assert (found["resumes"].startswith("run-"), found["agent"]) == (True, f"scripted:{project.script}")
    assert ids(found) == ["2"]
    assert snapshot(project.root) == before


def test_a_run_within_bounds_runs_only_these_and_the_rest_stays_outstanding(place: Path) -> None:
    project = driven(place, honest(), "1", "2", "3")
    assert project.run("", first="2", last="2").phases.keys() == {"2"}

    assert ids(seen(project.root, "all")) == ["1", "3"]
    assert "Next: autopilot 1 (phase 1 is next)" in autopilot(project.root, "progress").stdout


def test_amb_06_a_lost_journal_does_not_undo_what_is_archived(place: Path) -> None:
    project: Drive = driven(place, honest(), "1", "2", "3")
    assert project.run("1").exit == 0
    for path in (project.root / ".autopilot").glob("journal.db*"):
        path.unlink()

    assert ids(seen(project.root, "all")) == ["2", "3"]
    assert "| 1 | Letter 1 | Completed   | 9.4   |" in autopilot(project.root, "progress").stdout


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--from", "9", "--dry-run"], 2, "Phase 9 not found in roadmap."),
        (["--dry-run"], 2, "no phases named, and no unfinished run to go on with"),
        (["1", "--only", "2"], 2, "No phase fits all of '1 --only 2'."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_selected_is_refused(words: list[str], code: int, told: str, place: Path) -> None:
    done = autopilot(make_project(place / "project", honest()), *words)

    assert (done.returncode, told in done.stderr) == (code, True)


def test_the_forecast_goes_by_what_the_calls_of_earlier_runs_cost(place: Path) -> None:
    usage = {"input_tokens": 90_000, "cached_tokens": 80_000, "output_tokens": 10_000, "cost_usd": 0.5}
    answers = [
        plan_answer("1", [("letter1.txt", "done")]),
        work_answer("1", "01-01", "letter1.txt", "done\n"),
        *reviews(),
    ]
    drive = driven(place, [{**answer, "usage": usage} for answer in answers], "1", "2")
    request = RunRequest(folder=str(drive.root), phases="2", agent=f"scripted:{drive.script}", sandbox="none")
    before = app.foresee(request)
    assert drive.run("1").exit == 0
    after = app.foresee(request)

    stream = f"{drive.of(RunStarted)[0].run}/1"
    calls = [entry for at, entry in drive.entries if at == stream and isinstance(entry.event, AgentAnswered)]
    assert (before.tokens.expected, before.token_note, before.usd) == (240_000, "", None)
    assert after.tokens.expected == 100_000 * len(calls)
    assert after.token_note.endswith("as 1 phase with scripted took here.")
    assert after.usd is not None
    assert after.usd.expected == pytest.approx(after.tokens.expected / 1_000_000 * 5, abs=0.01)


def test_notes_on_the_planning_files_that_are_left_out_are_counted(place: Path) -> None:
    text = roadmap_of(*(f"{n}>99" for n in range(1, 10)))
    root = make_project(place / "project", [], text)

    notes = [note for note in seen(root, "all")["notes"] if "ROADMAP.md" in note or "more notes" in note]

    assert len(notes) == 6, notes
    assert notes[-1] == "and 5 more notes: `autopilot phases check` and `autopilot doctor` list them"
    listed = autopilot(root, "phases", "check").stdout
    assert sum("99" in line for line in listed.splitlines()) == 9
