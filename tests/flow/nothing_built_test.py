"""Whole runs in which nothing was built: opinions alone never let a phase pass, and every view says what it is."""

import json
from pathlib import Path
from typing import Any

import pytest

from autopilot.app import prepare as app
from autopilot.cli.verbs import status
from autopilot.domain.events import PhaseFinished, PhaseStarted, StepFinished
from autopilot.domain.request import RunEnd
from autopilot.domain.results import Triaged
from autopilot.policy.outcomes import NOTHING_BUILT
from autopilot.views.lines.announcement import announcement
from autopilot.views.lines.run_lines import Narrator
from support.project import LOOKED, plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, driven

TESTS = "bash check.sh"
GATE_ONLY = "**Success Criteria** (what must be TRUE):\n  1. All tests pass -- verified by: `bash  check.sh 2>&1`\n"
LETTER = "**Success Criteria** (what must be TRUE):\n  1. It is there -- verified by: `grep -q done letter1.txt`\n"
PROSE = "  2. A reader understands the letter.\n"
SHORT = ["preflight", "triage", "verify", "judge", "judge_divergence"]
PLAN = plan_answer("1", [("letter1.txt", "done")])
IDLE = {"role": "execute", "result": {"tasks_completed": "1/1", "tasks_failed": "0/1"}}


def project_with(place: Path, criteria: str, *answers: dict[str, Any], letter: bool = True) -> Drive:
    """One phase, whose letter the user has written already, and a test command that is green."""
    project = driven(place, [*reviews(9.8, ["A reader understands the letter."]), *answers], "1")
    roadmap = f"# Roadmap: Letters\n\n### Phase 1: Letter 1\n**Goal**: Write letter 1.\n{criteria}"
    config = {"project": {"commands": {"test": TESTS}}}
    files = {
        ".planning/ROADMAP.md": roadmap,
        ".planning/config.json": json.dumps(config),
        "check.sh": "test -e notes.txt\n",
    }
    write(project.root, files | ({"letter1.txt": "done\n"} if letter else {}))
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "by hand")
    return project


def last_words(project: Drive, end: RunEnd) -> list[str]:
    narrator = Narrator()
    for stream, entry in project.entries:
        list(narrator.tell(stream, entry))
    return list(announcement(end, narrator))


def routing(project: Drive) -> list[tuple[str, str]]:
    found = (done.result for done in project.of(StepFinished))
    return [(result.routing, result.note) for result in found if isinstance(result, Triaged)]


def test_a_phase_whose_criteria_all_hold_is_already_satisfied_and_no_pass(place: Path) -> None:
    """TRGE-03, TRGE-04, INTG-01, INTG-02: no score, its own word, exit code 12."""
    project = project_with(place, LETTER)

    end = project.run()

    assert end.exit == 12
    assert project.steps == SHORT
    assert end.reason == f"phase 1: {NOTHING_BUILT}"
    told = end.phases["1"]
    assert (told.status, told.outcome, told.score, told.reason) == (
        "completed",
        "already_satisfied",
        None,
        NOTHING_BUILT,
    )
    state = project.state()["phases"]["1"]
    assert (state["status"], state["outcome"], state["alignment_score"]) == ("completed", "already_satisfied", None)


def test_every_view_says_that_nothing_was_built(place: Path) -> None:
    project = project_with(place, LETTER)

    lines = last_words(project, project.run())

    assert "Phases: 0/1 succeeded | 0 failed | 0 skipped | 1 already satisfied" in lines
    assert lines[-2:] == ["To accept phase 1 as it is: autopilot verdict 1 pass", f"Phase 1: {NOTHING_BUILT}"]
    assert not any("Project is done" in line for line in lines)
    assert any("Already satisfied: nothing was built" in line for line in project.told())
    assert "1      already satisfied      -  Letter 1: nothing was built" in status.show(
        as_json=False, folder=str(project.root)
    )
    (report,) = (project.root / ".autopilot").glob("completion-*.md")
    assert "| 1 | Letter 1 | already satisfied | - |" in report.read_text(encoding="utf-8")
    assert f"ended: {NOTHING_BUILT}" in report.read_text(encoding="utf-8")
    page = Path(app.reports(str(project.root)).page(None, None)).read_text(encoding="utf-8")
    assert "0 of 1 phases passed" in page
    assert "s-already_satisfied" in page
    receipt = json.loads(project.reads(".planning/phases/01-letter-1/RECEIPT.json"))["predicate"]
    proof = receipt["autopilot"]
    assert (receipt["result"], proof["verdict"], proof["outcome"], proof["score"]) == (
        "WARNED", "already_satisfied", "already_satisfied", None,
    )  # fmt: skip
    assert proof["reason"] == NOTHING_BUILT


@pytest.mark.parametrize(
    ("criteria", "why"),
    [
        (GATE_ONLY, "the criteria only run the project's own checks"),
        (LETTER + PROSE, "1 of 2 criteria cannot be run"),
        (GATE_ONLY + PROSE, "1 of 2 criteria cannot be run"),
    ],
    ids=["only a gate", "a prose criterion", "both"],
)
def test_what_holds_and_proves_nothing_takes_the_full_route(place: Path, criteria: str, why: str) -> None:
    """TRGE-03: an executor that does nothing fails there, whatever reviewers say."""
    project = project_with(place, criteria, PLAN, IDLE)

    end = project.run()

    assert end.exit == 10
    ((route, note),) = routing(project)
    assert route == "full_pipeline"
    assert why in note
    assert end.phases["1"].status == "failed"


def test_praise_for_a_plan_of_the_user_s_that_changed_nothing_waits_for_a_person(place: Path) -> None:
    """INTG-08: the user's own plan need not turn anything green, so opinions would be all that speaks for a pass."""
    project = project_with(place, LETTER + PROSE, IDLE)
    folder = ".planning/phases/01-letter-1"
    write(project.root, {f"{folder}/{name.removeprefix('{dir}/')}": text for name, text in PLAN["write"].items()})

    end = project.run()

    assert (end.exit, end.phases["1"].status) == (11, "needs_human_verification")
    assert "nothing was built" in end.phases["1"].reason


@pytest.mark.parametrize("role", ["verify", "judge", "judge_divergence"])
def test_a_reviewer_who_objects_sends_the_phase_on_the_full_route(place: Path, role: str) -> None:
    """TRGE-04: a weak criterion does not keep the work from being done."""
    no = (
        {"pass": False, "failures": ["too short"]}
        if role == "verify"
        else {"recommendation": "halt", "concerns": ["x"]}
    )
    plan = plan_answer("1", [("letter1.txt", "signed")])
    work = work_answer("1", "01-01", "letter1.txt", "done\nsigned\n")
    answers = [{"role": role, "attempt": 1, "result": {**no, **LOOKED}}, *reviews(9.8), plan, work]
    project = project_with(place, LETTER)
    project.rewrite(answers)

    end = project.run()

    assert end.exit == 0
    at = project.steps.index(role)
    assert project.steps[at + 1 : at + 5] == ["research", "plan", "plan_check", "execute"]
    assert (end.phases["1"].outcome, end.phases["1"].score) == (None, 9.8)


def test_a_person_accepts_a_phase_that_was_there_already(place: Path) -> None:
    """Until then it is open: it is not done for later runs, and `progress` says what to type."""
    project = project_with(place, LETTER)
    assert project.run().exit == 12
    assert project.resume().exit == 12
    assert app.survey(str(project.root)).next == "autopilot verdict 1 pass"

    assert project.verdict("1", "pass").taken

    assert app.survey(str(project.root)).why == "All phases complete. Project is done."
    assert project.resume().exit == 0
    assert project.state()["phases"]["1"]["outcome"] is None
    check = app.check_receipt(str(project.root), "1", None, "none", project.warnings.append)
    assert check.same, check.differences


def test_a_person_who_refuses_it_has_the_work_done(place: Path) -> None:
    plan = plan_answer("1", [("letter1.txt", "signed")])
    project = project_with(place, LETTER, plan, work_answer("1", "01-01", "letter1.txt", "done\nsigned\n"))
    assert project.run().exit == 12

    project.verdict("1", "issues", "it is not signed")
    end = project.resume()

    assert end.exit == 0
    brief = project.of(PhaseStarted)[-1].brief
    assert (brief.cycle, brief.feedback) == (0, ("it is not signed",))
    assert routing(project)[-1] == ("full_pipeline", "override: a person did not accept the phase as it was")
    assert project.reads("letter1.txt") == "done\nsigned\n"


def test_phases_that_depend_on_one_that_was_there_already_run(place: Path) -> None:
    """In the same run, and in one after it."""
    project = driven(place, [*reviews(), PLAN, plan_answer("2", [("letter2.txt", "done")])], "1", "2>1", "3>1")
    works = [work_answer(n, f"0{n}-01", f"letter{n}.txt", "done\n") for n in ("2", "3")]
    plans = [plan_answer(n, [(f"letter{n}.txt", "done")]) for n in ("2", "3")]
    project.rewrite([*reviews(), *plans, *works])
    write(project.root, {"letter1.txt": "done\n"})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "by hand")

    first = project.run("1,2")
    second = project.run("3")

    assert (first.exit, first.phases["2"].outcome, first.phases["2"].status) == (12, None, "completed")
    assert (second.exit, second.phases["3"].status) == (0, "completed")
    assert project.reads("letter3.txt") == "done\n"


def test_a_phase_that_the_roadmap_marks_as_done_needs_nobody_to_accept_it(place: Path) -> None:
    project = project_with(place, LETTER)
    roadmap = project.reads(".planning/ROADMAP.md").replace("### Phase 1", "- [x] **Phase 1: Letter 1**\n\n### Phase 1")
    write(project.root, {".planning/ROADMAP.md": roadmap})

    end = project.run("1")

    assert (end.exit, end.phases["1"].outcome, end.phases["1"].score) == (0, None, None)
    assert project.of(PhaseFinished)[-1].outcome.satisfied


def test_a_criterion_that_holds_already_is_named_before_anything_runs(place: Path) -> None:
    """By `phases check`, and at the start of a run; a dry run starts nothing."""
    project = project_with(place, LETTER)
    said = "Phase 1, SC-1: this criterion holds already and proves nothing new: `grep -q done letter1.txt`"

    project.run()

    assert said in project.warnings
    if not app.has_sandbox():
        pytest.skip("no sandbox holds here, so phases check runs nothing")
    (note,) = app.desk(str(project.root)).tried("")
    assert (note.what, note.severity, note.file) == (said, "warning", ".planning/ROADMAP.md")


def test_a_criterion_that_fails_is_not_named(place: Path) -> None:
    project = project_with(place, LETTER, PLAN, work_answer("1", "01-01", "letter1.txt", "done\n"), letter=False)

    assert project.run().exit == 0
    assert not any("holds already" in warning for warning in project.warnings)
    assert app.desk(str(project.root)).tried("") == ()  # the phase is done
