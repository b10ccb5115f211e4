"""A plan that replaces another one does not undo what the first one proved."""

from pathlib import Path

from autopilot.domain.events import StepFinished
from autopilot.domain.results import Verified
from support.project import plan_answer, rate_answer, reviews, work_answer
from support.runs import Drive, driven

POOR = rate_answer(6.2, attempt=1)
FIRST = {**plan_answer("1", [("letter1.txt", "done"), ("draft1.txt", "draft")]), "attempt": 1}
SECOND = {**plan_answer("1", [("more1.txt", "more")]), "attempt": 2}
WORK = [
    work_answer("1", "01-01", "letter1.txt", "done\n", attempt=1),
    work_answer("1", "01-02", "draft1.txt", "draft\n"),
]


def verified(project: Drive) -> list[Verified]:
    return [step.result for step in project.of(StepFinished) if isinstance(step.result, Verified)]


def test_verify_still_covers_the_plan_that_was_replaced(place: Path) -> None:
    again = work_answer("1", "01-01", "more1.txt", "more\n", attempt=2)
    project = driven(place, [POOR, *reviews(), FIRST, SECOND, *WORK, again])

    assert project.run().exit == 0

    commands = {check.command for check in verified(project)[-1].checks}
    assert {"grep -q done letter1.txt", "grep -q draft draft1.txt", "grep -q more more1.txt"} <= commands
    # Test files of both plans have the same name; each is run as its own plan has it.
    runs = [c for c in verified(project)[-1].checks if c.command.endswith("tests/task-01-01.sh")]
    assert [(run.check, run.passed) for run in runs] == [("01-01.2", True), ("01-01.2.plan-1", True)]


def test_work_under_a_new_plan_that_breaks_the_old_one_does_not_pass(place: Path) -> None:
    breaking = work_answer("1", "01-01", "more1.txt", "more\n", attempt=2)
    breaking["write"]["draft1.txt"] = "nothing\n"
    stuck = {"role": "debug", "result": {"fixed": True}}
    project = driven(place, [POOR, *reviews(), FIRST, SECOND, *WORK, breaking, stuck])

    end = project.run()

    assert end.exit == 10
    assert "draft1.txt" in end.phases["1"].reason
