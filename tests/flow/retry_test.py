"""`retry N`: a failed phase is tried again from the step that failed, or from the one named."""

from pathlib import Path

import pytest

from autopilot.domain.errors import UsageInvalid
from autopilot.domain.events import PhaseStarted
from support.project import plan_answer, reviews, work_answer
from support.runs import Drive, driven, parts_of

PLAN = plan_answer("1", [("letter1.txt", "done")])
BAD = work_answer("1", "01-01", "letter1.txt", "not yet\n")
STUCK = {"role": "debug", "result": {"fixed": True}}
FIXED = {"role": "debug", "result": {"fixed": True}, "write": {"letter1.txt": "done\n"}}


def failed(place: Path, *more: str) -> Drive:
    """The work falls short, and three rounds of debugging do not help."""
    project = driven(place, [*reviews(), PLAN, BAD, STUCK], "1", *more)
    assert project.run().exit == 10
    return project


def test_a_failed_phase_is_tried_again_from_the_step_that_failed(place: Path) -> None:
    project = failed(place)
    before = len(project.steps)
    project.rewrite([*reviews(), PLAN, BAD, FIXED])

    end = project.resume(retry="1")

    assert end.exit == 0
    assert project.steps[before:][:3] == ["verify", "debug", "verify"], "debugging has its tries again"
    assert [project.steps.count(step) for step in ("research", "plan", "plan_check")] == [1, 1, 1]


def test_a_plain_resume_starts_a_phase_over_whose_work_was_refused(place: Path) -> None:
    project = failed(place)
    before = len(project.steps)
    project.rewrite([*reviews(), PLAN, work_answer("1", "01-01", "letter1.txt", "done\n"), STUCK])

    assert project.resume().exit == 0
    assert project.steps[before:][:3] == ["preflight", "triage", "research"]


@pytest.mark.parametrize(
    ("step", "follows"),
    [
        ("research", ["research", "plan", "plan_check", "execute"]),
        ("plan", ["plan", "plan_check", "execute"]),
        ("plan_check", ["plan_check", "execute"]),
        ("execute", ["execute", "mini_verify", "verify"]),
        ("verify", ["verify", "debug"]),
    ],
)
def test_a_step_can_be_named(place: Path, step: str, follows: list[str]) -> None:
    project = failed(place)
    before = len(project.steps)
    good = work_answer("1", "01-01", "letter1.txt", "done\n")
    project.rewrite([*reviews(), PLAN, good, FIXED])

    assert project.resume(retry="1", step=step).exit == 0
    assert project.steps[before:][: len(follows)] == follows
    assert project.of(PhaseStarted)[-1].brief.continues


def test_a_plan_that_was_rejected_is_revised(place: Path) -> None:
    refused = {"role": "plan_check", "result": {"pass": False, "confidence": 3}}
    others = [answer for answer in reviews() if answer["role"] != "plan_check"]
    project = driven(place, [*others, refused, PLAN, BAD, STUCK])
    assert project.run().exit == 10
    before = len(project.steps)
    revised = plan_answer("1", [("letter1.txt", "done"), ("draft.txt", "draft")])
    works = [
        work_answer("1", f"01-0{n}", *what)
        for n, what in ((1, ("letter1.txt", "done\n")), (2, ("draft.txt", "draft\n")))
    ]
    project.rewrite([*reviews(), revised, *works])

    assert project.resume(retry="1").exit == 0
    assert project.steps[before:][:3] == ["plan", "plan_check", "execute"]


def test_only_the_phase_named_and_what_it_blocked_is_tried_again(place: Path) -> None:
    project = driven(
        place,
        [
            *reviews(), PLAN, BAD, STUCK, plan_answer("2", [("letter2.txt", "done")]),
            work_answer("2", "02-01", "letter2.txt", "done\n"),
            plan_answer("3", [("letter3.txt", "done")]), work_answer("3", "03-01", "letter3.txt", "not yet\n"),
        ],
        "1", "2>1", "3",
    )  # fmt: skip
    assert project.run(phases="1,2,3").exit == 10
    project.rewrite(
        [
            *reviews(), PLAN, BAD, FIXED, plan_answer("2", [("letter2.txt", "done")]),
            work_answer("2", "02-01", "letter2.txt", "done\n"),
        ]
    )  # fmt: skip

    end = project.resume(retry="1")

    assert end.phases["1"].status == end.phases["2"].status == "completed"


@pytest.mark.parametrize(
    ("phase", "step", "what"),
    [
        ("9", "", "Phase 9 is not part of the newest run."),
        ("2", "", "Phase 2 did not run: phase 1 failed."),
        ("1", "fix", "'fix' is not a step to start from."),
        ("1", "rate", "Phase 1 did not get to rate: it ended in verify."),
    ],
)
def test_what_cannot_be_tried_again_is_said_before_anything_runs(place: Path, phase: str, step: str, what: str) -> None:
    project = failed(place, "2>1")
    before = list(project.steps)
    project.resume()

    with pytest.raises(UsageInvalid) as caught:
        project.resume(retry=phase, step=step)

    assert parts_of(caught.value)[0] == what
    assert len(before) < len(project.steps)


def test_a_phase_that_passed_is_not_tried_again(place: Path) -> None:
    project = driven(place, [*reviews(), PLAN, BAD, STUCK, plan_answer("2", [("letter2.txt", "done")]),
                             work_answer("2", "02-01", "letter2.txt", "done\n")], "2", "1")  # fmt: skip
    assert project.run().exit == 10

    with pytest.raises(UsageInvalid, match=r"Phase 2 has not failed\."):
        project.resume(retry="2")
