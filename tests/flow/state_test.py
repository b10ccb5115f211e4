"""What `.autopilot/state.json` says while a run goes on, after it, and when it is taken up again."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from autopilot.app import prepare as app
from autopilot.cli.main import main
from autopilot.domain.errors import Interrupted, UsageInvalid
from autopilot.domain.events import Entry, PhaseFinished, RunResumed, StepFinished, StepStarted
from support.project import honest, plan_answer, reviews, work_answer
from support.repos import git
from support.runs import Drive, driven

PLAN = plan_answer("1", [("letter1.txt", "done")])
GOOD = work_answer("1", "01-01", "letter1.txt", "done 1\n")


def held(drive: Drive) -> Any:
    return json.loads(drive.reads(".autopilot/state.json"))


def archived(drive: Drive) -> Any:
    (path,) = (drive.root / ".autopilot" / "archive").glob("run-*.json")
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_file_is_there_and_whole_after_every_change_of_a_step(place: Path) -> None:
    """STATE-10, CTXE-02: written whole at each transition, and no two files in a row differ by much."""
    drive = driven(place, [*reviews(), PLAN, GOOD])
    seen: list[tuple[str | None, list[str]]] = []

    def look(entry: Entry) -> None:
        if isinstance(entry.event, StepStarted | StepFinished) and (drive.root / ".autopilot/state.json").exists():
            seen.append((held(drive)["_meta"]["current_step"], drive.reads(".autopilot/state.json").splitlines()))

    drive.meanwhile = look
    assert drive.run().exit == 0

    assert [step for step, _ in seen if step] != []
    changed = [len(set(after) - set(before)) for (_, before), (_, after) in pairwise(seen)]
    assert max(changed) < 120


def test_rsm_01_without_a_run_there_is_nothing_to_resume(place: Path) -> None:
    drive = driven(place, honest())

    with pytest.raises(UsageInvalid) as refused:
        drive.resume()
    assert refused.value.what == "No run found."


def test_rsm_02_a_completed_run_is_over_and_its_state_archived(place: Path) -> None:
    """STATE-12, COMP-02: nothing is left to take up."""
    drive = driven(place, [*reviews(), PLAN, GOOD])
    drive.run()

    assert drive.resume().reason == "Already finished. Start new with `autopilot <phases>`."
    assert archived(drive)["_meta"]["status"] == "completed"
    assert not (drive.root / ".autopilot" / "state.json").exists()


def test_state_13_a_failed_run_keeps_its_file(place: Path) -> None:
    condemned = {"role": "judge", "result": {"recommendation": "halt", "concerns": ["wrong"]}}
    drive = driven(place, [condemned, *reviews(), PLAN, GOOD])

    assert drive.run().exit == 10
    assert held(drive)["_meta"]["status"] == "failed"


def test_flags_that_exclude_each_other_are_an_event_of_the_open_run(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """FLAG-01: and without an open run there is nothing to write to."""
    condemned = {"role": "judge", "result": {"recommendation": "halt", "concerns": ["wrong"]}}
    drive = driven(place, [condemned, *reviews(), PLAN, GOOD])
    monkeypatch.chdir(drive.root)
    assert main(["1", "--force", "--quality"]) == 2
    assert not (drive.root / ".autopilot").exists()
    drive.run()

    assert main(["1", "--force", "--quality"]) == 2

    last = held(drive)["event_log"][-1]
    assert last["event"] == "flag_mutual_exclusivity_error"
    assert last["details"]["message"].startswith("Cannot combine --force")
    assert "Use one or the other." in capfd.readouterr().err
    drive.rewrite([*reviews(), PLAN, GOOD])
    assert drive.resume().exit == 0


def test_rsm_04_an_interrupted_run_goes_on_behind_its_last_finished_step(place: Path) -> None:
    """RSM-04, RSM-07: the next step is the first thing that happens."""
    drive = driven(place, [*reviews(), PLAN, GOOD])

    def cut(entry: Entry) -> None:
        if isinstance(entry.event, StepFinished) and entry.event.step == "plan_check":
            raise Interrupted

    drive.meanwhile = cut
    with pytest.raises(Interrupted):
        drive.run()
    assert held(drive)["_meta"]["status"] == "paused"
    drive.meanwhile = lambda _: None
    done = len(drive.steps)

    assert drive.resume().exit == 0
    assert drive.steps[done:][0] == "execute"
    assert len(drive.of(RunResumed)) == 1


def test_state_14_a_finished_phase_leaves_its_checkpoint(place: Path) -> None:
    drive = driven(place, [*reviews(), PLAN, GOOD])
    drive.run()
    (finished,) = drive.of(PhaseFinished)
    state = archived(drive)

    assert state["phases"]["1"]["checkpoint_sha"] == finished.outcome.commit
    assert state["phases"]["1"]["commit_shas"] == list(finished.outcome.commit_shas)
    assert state["phases"]["1"]["completed_at"] > state["phases"]["1"]["started_at"]
    assert state["_meta"]["last_checkpoint"] >= state["phases"]["1"]["completed_at"]
    assert state["last_checkpoint_sha"]


def test_state_15_what_autopilot_keeps_is_ignored_and_the_phases_folder_is_not(place: Path) -> None:
    drive = driven(place, [*reviews(), PLAN, GOOD])
    drive.run()

    assert git(drive.root, "status", "--porcelain", "--ignored=no") == ""
    assert git(drive.root, "check-ignore", ".autopilot/state.json").strip() == ".autopilot/state.json"
    assert ".planning/phases" in git(drive.root, "ls-files", ".planning")


def test_cb_03_a_score_below_seven_is_planned_again_and_not_debugged(place: Path) -> None:
    """CB-03, AMB-21."""
    drive = driven(place, [*reviews(6.0), PLAN, GOOD])
    drive.run()

    assert drive.steps[drive.steps.index("rate") + 1 :][:2] == ["research", "plan"]
    assert "debug" not in drive.steps
    assert held(drive)["phases"]["1"]["replan_attempts"] == 1


def test_a_listener_that_asks_for_the_state_gets_what_rebuild_would_write(place: Path) -> None:
    """STATE-06: the file is computed from the journal, so it can be made again."""
    drive = driven(place, [*reviews(5.0), PLAN, GOOD])
    drive.run()
    before = drive.reads(".autopilot/state.json")

    app.rebuild(str(drive.root))
    assert drive.reads(".autopilot/state.json") == before
