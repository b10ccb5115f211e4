"""The summary of a failed phase names the step that failed, and shows the judge's own word."""

from pathlib import Path
from typing import Any

import pytest

from support.project import plan_answer, rate_answer, reviews, work_answer
from support.repos import git
from support.runs import Drive, driven

PLAN = plan_answer("1", [("letter1.txt", "done")])
GOOD = work_answer("1", "01-01", "letter1.txt", "done 1\n")
OTHER = plan_answer("1", [("more1.txt", "more")]) | {"attempt": 2}
MORE = work_answer("1", "01-01", "more1.txt", "more\n", attempt=2)
HALT = {"recommendation": "halt", "concerns": ["no"], "independent_evidence": ["letter1.txt:1"]}


def summed_up(project: Drive) -> dict[str, str]:
    """The last block of steps, by heading."""
    steps = (line.removeprefix("  Step: ") for line in project.told() if line.startswith("  Step: "))
    return {heading: rest for heading, _, rest in (step.partition(" ... ") for step in steps)}


def failing(place: Path, **instead: dict[str, Any]) -> Drive:
    others = [answer for answer in reviews() if answer["role"] not in instead]
    project = driven(place, [*others, *({"role": r, **a} for r, a in instead.items()), PLAN, GOOD, OTHER, MORE])
    assert project.run().exit == 10
    return project


def test_a_score_that_ends_the_phase_does_not_make_the_judge_say_halt(place: Path) -> None:
    steps = summed_up(failing(place, rate={"result": rate_answer(4.0)["result"]}))

    assert steps["JUDGE"] == "proceed"
    assert steps["RATE"].startswith("4.0/10 -- failed here: alignment too low (4.0)")
    assert [heading for heading, rest in steps.items() if "failed here" in rest] == ["RATE"]


def test_a_step_without_an_answer_is_the_one_that_failed(place: Path) -> None:
    steps = summed_up(failing(place, rate={"result": {"scorecard": "none"}}))

    assert steps["JUDGE"] == "proceed"
    assert steps["RATE"].startswith("fail -- failed here: no usable answer in rate")


@pytest.mark.parametrize("second", ["judge", "judge_divergence"])
def test_a_judge_who_ends_the_phase_is_named_with_its_word(place: Path, second: str) -> None:
    steps = summed_up(failing(place, **{second: {"result": HALT}}))

    assert steps["JUDGE"].startswith("halt -- failed here: ")


def test_the_branch_with_the_work_is_named_in_the_end_and_in_the_report(place: Path) -> None:
    others = [answer for answer in reviews() if answer["role"] != "judge"]
    project = driven(place, [*others, {"role": "judge", "result": HALT}, PLAN, GOOD])

    branch = project.run().phases["1"].branch

    assert branch in project.branches()
    (report,) = (project.root / ".autopilot").glob("completion-*.md")
    assert f"To see it: git log -p HEAD..{branch}" in report.read_text(encoding="utf-8")
    assert "+done 1" in git(project.root, "log", "-p", f"HEAD..{branch}")


@pytest.mark.parametrize(
    ("usage", "shown"),
    [(None, "unknown"), ({"input_tokens": 1000, "output_tokens": 100}, "7700")],
    ids=["not said", "said"],
)
def test_tokens_that_nobody_reported_are_unknown_and_not_zero(
    place: Path, usage: dict[str, int] | None, shown: str
) -> None:
    others = [answer for answer in reviews() if answer["role"] != "judge"]
    answers = [*others, {"role": "judge", "result": HALT}, PLAN, GOOD]
    project = driven(place, [answer | ({"usage": usage} if usage else {}) for answer in answers])
    assert project.run().exit == 10

    (report,) = (project.root / ".autopilot").glob("completion-*.md")
    text = report.read_text(encoding="utf-8")
    assert f"- Tokens: {shown} used, " in text
    assert f" | {shown} | " in next(line for line in text.splitlines() if line.startswith("| 1 |"))
