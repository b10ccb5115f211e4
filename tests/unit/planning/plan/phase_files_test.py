"""What the user brought in a phase's folder: numbered plans, those done, and the plan the others make."""

import pytest

from autopilot.planning.plan import read_plan as plans
from autopilot.planning.plan.folders import own_file, plan_files
from autopilot.planning.plan.phase_files import phase_files
from autopilot.policy.task_progress import task_order
from support.gsd import gsd_plan

ONE = gsd_plan("03", "01", [("a.txt", "a")])
TWO = gsd_plan("03", "02", [("b.txt", "b"), ("c.txt", "c")], 2, ['"03-01"'])


def order(files: dict[str, str]) -> list[str]:
    found = phase_files(files, "3").to_do
    return [task.id for task in task_order(found.tasks)] if found else []


@pytest.mark.parametrize(
    ("names", "done"),
    [
        (["03-01-PLAN.md", "03-01-SUMMARY.md"], [True]),
        (["03-01-PLAN.md", "03-02-SUMMARY.md"], [False]),
        (["03-01-auth-PLAN.md", "03-01-SUMMARY.md"], [True]),
        (["03-01-auth-PLAN.md", "03-01-auth-SUMMARY.md"], [True]),
        (["3-1-PLAN.md", "03-1-SUMMARY.md"], [True]),
        (["03-01-PLAN.md", "SUMMARY.md"], [False]),
        (["PLAN.md", "SUMMARY.md"], [True]),
        (["PLAN.md", "03-01-SUMMARY.md"], [False]),
        (["03-01-PLAN.md", "04-01-SUMMARY.md"], [False]),
    ],
)
def test_a_plan_with_a_summary_is_done(names: list[str], done: list[bool]) -> None:
    assert [plan.done for plan in plan_files(names, "3")] == done


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["03-CONTEXT.md", "CONTEXT.md"], "03-CONTEXT.md"),
        (["CONTEXT.md"], "CONTEXT.md"),
        (["3-CONTEXT.md"], "3-CONTEXT.md"),
        (["PROJ-03-CONTEXT.md"], "PROJ-03-CONTEXT.md"),
        (["04-CONTEXT.md", "OLD-CONTEXT.md"], ""),
    ],
)
def test_the_phase_s_own_file_is_found_under_either_name(names: list[str], found: str) -> None:
    assert own_file(names, "3", "CONTEXT.md") == found


def test_waves_come_before_numbers_and_dependencies_before_waves() -> None:
    late = gsd_plan("03", "01", [("a.txt", "a")], 3)
    early = gsd_plan("03", "02", [("b.txt", "b")], 1)
    waits = gsd_plan("03", "03", [("c.txt", "c")], 1, ["03-01"])

    assert order({"03-01-PLAN.md": late, "03-02-PLAN.md": early}) == ["03-02-1", "03-01-1"]
    assert order({"03-01-PLAN.md": late, "03-03-PLAN.md": waits}) == ["03-01-1", "03-03-1"]


@pytest.mark.parametrize("need", ["03-01", '"03-01"', "01", "03-01-PLAN.md", '"03-01 (first)"'])
def test_a_dependency_is_understood_in_every_spelling(need: str) -> None:
    two = gsd_plan("03", "02", [("b.txt", "b")], 1, [need])
    found = phase_files({"03-01-PLAN.md": ONE, "03-02-PLAN.md": two}, "3").to_do

    assert found is not None
    assert [part.depends_on for part in found.parts] == [(), ("03-01-PLAN.md",)]
    assert found.tasks[1].depends_on == ("03-01-1",)


def test_a_dependency_that_is_done_or_elsewhere_holds_nothing_up() -> None:
    two = gsd_plan("03", "02", [("b.txt", "b")], 1, ["03-01", "02-04"])
    found = phase_files({"03-01-PLAN.md": ONE, "03-01-SUMMARY.md": "", "03-02-PLAN.md": two}, "3").to_do

    assert found is not None
    assert [(task.id, task.depends_on) for task in found.tasks] == [("03-02-1", ())]


def test_the_tasks_of_a_file_come_one_after_another() -> None:
    found = phase_files({"03-01-PLAN.md": ONE, "03-02-PLAN.md": TWO}, "3").to_do

    assert found is not None
    assert [task.depends_on for task in found.tasks] == [(), ("03-01-1",), ("03-02-1",)]


def test_two_files_that_number_their_tasks_alike_are_told_apart() -> None:
    alike = ONE.replace('<task type="auto">', '<task id="03-01" type="auto">')
    found = phase_files({"03-01-PLAN.md": alike, "03-02-PLAN.md": alike}, "3").to_do

    assert found is not None
    assert [task.id for task in found.tasks] == ["03-01", "03-02-1"]
    assert [one.id for task in found.tasks for one in task.criteria] == ["03-01.1", "03-02-1.1"]


def test_the_text_of_several_files_reads_back_as_the_same_plan() -> None:
    found = phase_files({"03-01-PLAN.md": ONE, "03-02-PLAN.md": TWO}, "3").to_do

    assert found is not None
    assert plans.read(found.text, {}) == found
    assert [part.file for part in found.parts] == ["03-01-PLAN.md", "03-02-PLAN.md"]


@pytest.mark.parametrize(
    "text",
    [f"# Plan\n{ONE}\n<!-- file: 03-02-PLAN.md -->\n{TWO}", f"<!-- file: a -->\n{ONE}\n<!-- file: a -->\n{TWO}"],
    ids=["a task before the first file", "a file twice"],
)
def test_no_task_of_such_a_text_gets_lost(text: str) -> None:
    assert len(plans.read(text, {}).tasks) == 3


def test_where_one_cannot_be_read_the_phase_is_planned_again() -> None:
    found = phase_files({"03-01-PLAN.md": ONE, "03-02-PLAN.md": "# later\n"}, "3")

    assert (found.to_do, found.problem) == (None, "The plan 03-02-PLAN.md has no task.")
    assert [(plan.file, plan.tasks) for plan in found.plans] == [("03-01-PLAN.md", 1), ("03-02-PLAN.md", 0)]


def test_a_bare_plan_next_to_numbered_ones_is_counted_and_not_carried_out() -> None:
    found = phase_files({"PLAN.md": "# an index\n", "03-01-PLAN.md": ONE}, "3")

    assert found.to_do is not None
    assert [task.id for task in found.to_do.tasks] == ["03-01-1"]
    assert len(found.plans) == 2


def test_files_a_task_does_not_name_are_those_of_its_plan() -> None:
    bare = ONE.replace("<files>a.txt</files>", "")
    found = phase_files({"03-01-PLAN.md": bare}, "3").to_do

    assert found is not None
    assert found.tasks[0].files == ("a.txt",)


def test_what_must_hold_is_read_in_all_its_forms() -> None:
    nested = ONE.replace(
        "must_haves:\n",
        "must_haves:\n  artifacts:\n    - path: \"src/a.ts\"\n      provides: 'x'\n      exports: [A, B]\n"
        "  key_links:\n    - from: a.ts\n      to: b.ts\n      via: import\n",
    )
    found = phase_files({"03-01-PLAN.md": nested}, "3").to_do

    assert found is not None
    have = found.parts[0].must_haves
    assert (have.truths, have.artifacts, have.links) == (
        ("a.txt says a",),
        ("src/a.ts",),
        ("a.ts -> b.ts (import)",),
    )
