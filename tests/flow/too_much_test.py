"""An agent that writes too much: nothing of it is committed, the next try is told, and the report says so."""

from pathlib import Path

import pytest

from autopilot.domain.events import StepFinished
from autopilot.domain.results import Unanswered
from autopilot.domain.verdict import Retry
from support.project import plan_answer, reviews, work_answer
from support.records import Story
from support.repos import git, write
from support.runs import Drive, driven

MOST = 8
LITTER = {f"out/{n}.log": "x\n" for n in range(MOST + 4)}
PLAN = plan_answer("1", [("letter1.txt", "done")])
GOOD = work_answer("1", "01-01", "letter1.txt", "done 1\n")
MESSY = work_answer("1", "01-01", "letter1.txt", "done 1\n")
MESSY["write"] |= LITTER


def bounded(place: Path, *answers: dict[str, object]) -> Drive:
    project = driven(place, [*reviews(), PLAN, *answers])
    write(project.root, {".planning/config.json": f'{{"limits": {{"work_files": {MOST}}}}}\n'})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-q", "-m", "bounds")
    return project


def unanswered(project: Drive) -> list[Unanswered]:
    return [step.result for step in project.of(StepFinished) if isinstance(step.result, Unanswered)]


def test_the_next_try_goes_on_in_the_folder_and_may_clear_it(place: Path) -> None:
    """It has only to remove what does not belong there: the letter is still where the first try wrote it."""
    tidy = {"role": "execute", "attempt": 2, "result": GOOD["result"], "remove": list(LITTER)}
    project = bounded(place, MESSY | {"attempt": 1}, tidy)

    assert project.run().exit == 0
    (first,) = unanswered(project)
    assert (first.outcome, "most of it in out" in first.detail) == ("too_much", True)
    assert f"more than {MOST} new or changed files" in first.detail
    assert git(project.root, "show", "HEAD:letter1.txt") == "done 1"
    assert git(project.root, "log", "--all", "--format=%h", "--", "out") == ""


def test_a_phase_that_never_clears_it_fails_and_its_report_says_why(place: Path) -> None:
    project = bounded(place, MESSY)

    assert project.run().exit == 10
    assert [silence.outcome for silence in unanswered(project)] == ["too_much", "too_much"]
    (report,) = (project.root / ".autopilot").glob("completion-*.md")
    assert "too much was written: more than 8 new or changed files" in report.read_text(encoding="utf-8")
    assert "out (" in report.read_text(encoding="utf-8")


@pytest.mark.parametrize(("outcome", "told"), [("too_much", True), ("bad_output", False), ("crashed", False)])
def test_the_next_try_is_told_what_there_was_too_much_of(outcome: str, *, told: bool) -> None:
    silence = Unanswered(role="execute", outcome=outcome, detail="too much was written: out (12 files)")
    record = Story().step("execute", silence, Retry(step="execute", because="again")).record

    assert record.swollen == told
    assert bool(record.unusable) == (outcome != "crashed")


def test_after_it_is_given_up_nothing_is_lost_and_other_phases_go_on(place: Path) -> None:
    more = [plan_answer("2", [("letter2.txt", "done")]), work_answer("2", "02-01", "letter2.txt", "done 2\n")]
    project = driven(place, [*reviews(), PLAN, MESSY, *more], "1", "2")
    write(project.root, {".planning/config.json": f'{{"limits": {{"work_files": {MOST}}}}}\n'})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-q", "-m", "bounds")

    assert project.run("1-2").exit == 10
    kept = [*(place / "cache").glob("*/aside/*/out/*.log"), *(place / "cache").glob("*/trees/0/out/*.log")]
    assert len(kept) == len(LITTER)
