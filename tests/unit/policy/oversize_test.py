"""When a phase is too big for one pass (SPLT-09, SPLT-10, SPLT-11)."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from autopilot.domain.phase import Task
from autopilot.domain.results import Planned
from autopilot.engine.close.outcome import outcome_of
from autopilot.engine.decide.next_step import Finish, next_move
from autopilot.history.record import PhaseRecord
from autopilot.policy.oversize import split_due, split_request
from autopilot.policy.score_caps import mean_score
from support.records import Story, brief, plan, task


def tasks(number: int, files: int = 1, **more: str) -> tuple[Task, ...]:
    made = (task(f"01-{n:02}") for n in range(1, number + 1))
    each = files // number
    return tuple(msgspec.structs.replace(t, files=tuple(f"{t.id}/{n}.py" for n in range(each)), **more) for t in made)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (tasks(6, complexity="complex"), "6 complex tasks (at most 5)"),
        (tasks(5, complexity="complex"), None),
        (tasks(1, files=11), "11 files to touch (at most 10)"),
        (tasks(2, files=10), None),
    ],
    ids=["six complex", "five complex", "eleven files", "ten files"],
)
def test_splt_09_a_plan_is_measured_by_its_complex_tasks_and_its_files(
    made: tuple[Task, ...], reason: str | None
) -> None:
    found = split_request(Story().planned(plan(*made)).record)

    assert (found.reason if found else None) == reason


FOUR = ("a.py: too long", "src/b.py:3 wrong", "see `c.ts`", "docs/d.md is old")


@pytest.mark.parametrize(
    ("feedback", "asked"),
    [(FOUR, True), (FOUR[:3], False), (("a.py", "a.py", "b.py", "c.py"), False)],
    ids=["four in four files", "three issues", "three files"],
)
def test_splt_10_a_remediation_is_measured_by_its_feedback(feedback: tuple[str, ...], *, asked: bool) -> None:
    record = Story(brief(cycle=1, plan=plan(*tasks(6, complexity="complex")), feedback=feedback)).record

    assert (split_request(record) is not None) == asked


def test_splt_11_the_request_says_how_to_split() -> None:
    found = split_request(Story(brief(cycle=1, plan=plan(), feedback=FOUR)).record)

    assert found is not None
    assert [(part.sub_phase_id, part.issues) for part in found.recommended_sub_phases] == [
        ("1a", FOUR[:3]),
        ("1b", FOUR[3:]),
    ]
    assert (found.total_sub_phases, found.original_issue_count) == (2, 4)


def test_splt_11_a_phase_that_is_not_split_though_it_is_big_says_so() -> None:
    record = Story().planned(plan(*tasks(6, complexity="complex"))).record
    ended = outcome_of(record, Finish("completed", "every gate passed"))

    assert ended.status == "completed"
    assert ended.issues == ("split_request: 6 complex tasks (at most 5); carried out as one phase",)
    assert ended.split_details is None


BIG = plan(*tasks(6, complexity="complex"))


def proposed(**more: Any) -> PhaseRecord:
    """A pass whose planner has just answered."""
    return Story(brief(**more)).step("plan", Planned(plan=BIG)).record


def test_splt_10_11_a_big_plan_ends_the_pass_before_it_is_carried_out() -> None:
    record = proposed()

    assert next_move(record) == Finish("split_request", "6 complex tasks (at most 5)")
    ended = outcome_of(record, Finish("split_request", "6 complex tasks (at most 5)"))
    assert (ended.alignment_score, ended.tasks_completed, ended.commit_shas) == (None, "0/0", ())
    assert (ended.recommendation, ended.split_details) == ("proceed", split_due(record))
    skipped = {name for name, step in ended.pipeline_steps.items() if step.status == "skipped"}
    assert {"plan_check", "execute", "verify", "judge", "rate"} <= skipped


def test_splt_10_a_remediation_is_looked_at_before_its_first_step() -> None:
    record = Story(brief(cycle=1, plan=plan(), feedback=FOUR)).record

    assert next_move(record) == Finish("split_request", "4 issues in 4 files")


def test_amb_11_a_part_is_not_split_again() -> None:
    assert split_due(proposed(parent="1")) is None


@pytest.mark.parametrize(
    ("made", "needs"),
    [
        (tasks(6, complexity="complex"), [(), ()]),
        (
            (*tasks(3, complexity="complex"), *(replace(t, wave=2) for t in tasks(3, complexity="complex"))),
            [(), ("1a",)],
        ),
    ],
    ids=["one wave", "two waves"],
)
def test_amb_11_a_part_of_a_later_wave_needs_the_parts_before_it(
    made: tuple[Task, ...], needs: list[tuple[str, ...]]
) -> None:
    found = split_request(Story().planned(plan(*made)).record)

    assert found is not None
    assert [part.after for part in found.recommended_sub_phases] == needs


@pytest.mark.parametrize(
    ("scores", "mean"),
    [((9.0, 9.1), 9.0), ((9.9, 9.9, 9.8), 9.8), ((9.0, None), None), ((), None)],
    ids=["down", "down again", "one without", "none"],
)
def test_amb_31_the_mean_of_parts_is_rounded_down(scores: tuple[float | None, ...], mean: float | None) -> None:
    """SPLT-05."""
    assert mean_score(scores) == mean
