"""Files and names a plan takes for granted, and what plan-check says when they are not there."""

from typing import Any

import msgspec
import pytest

from autopilot.domain.phase import Task
from autopilot.steps import plan_check
from autopilot.steps.checks.plan_references import granted_files, granted_names, taken_for_granted
from support.records import Story, plan
from support.records import task as any_task
from support.tools import SaidFacts, tools


def task(name: str = "01-01", **more: Any) -> Task:
    return msgspec.structs.replace(any_task(name), **more)


@pytest.mark.parametrize(
    ("action", "paths"),
    [
        ("Modify `src/a.py` so that it adds.", ("src/a.py",)),
        ("Update the total in `./src/a.py`; remove `b.ts`.", ("src/a.py", "b.ts")),
        ("Create `src/new.py` with the total.", ()),
        ("Update the docs. Write `src/new.py`.", ()),
        ("Change `total` to be a sum.", ()),
        ("Use the existing helper in `lib/sum.go`.", ("lib/sum.go",)),
    ],
    ids=["modify", "two", "create", "another sentence", "no path", "existing"],
)
def test_what_a_task_wants_changed_has_to_be_there(action: str, paths: tuple[str, ...]) -> None:
    assert granted_files(task(action=action)) == paths


def test_a_file_that_is_not_there_is_told_and_blocks_nothing() -> None:
    told = plan(task("01-01", action="Modify `src/a.py`."))
    (found,) = taken_for_granted(told, Story().record, tools(facts=SaidFacts(lacking=frozenset({"src/a.py"}))))

    assert (found.severity, found.where) == ("info", "01-01")
    assert found.what == "Task 01-01 takes src/a.py for granted, which is not there."


def test_a_file_an_earlier_task_may_make_is_not_missed() -> None:
    told = plan(task("01-01", files=("src/a.py",)), task("01-02", action="Extend `src/a.py`."))

    assert taken_for_granted(told, Story().record, tools(facts=SaidFacts(lacking=frozenset({"src/a.py"})))) == ()


@pytest.mark.parametrize(
    ("action", "names"),
    [
        ("Extend `parse_line` and rename the class `LetterBox`.", ("parse_line", "LetterBox")),
        ("Use the existing `total()`; modify `Letter.send`.", ("total", "Letter.send")),
        ("Create `new_line` and extend the text.", ()),
        ("Remove the word `total` from the page.", ()),
        ("Modify `Letter.ts`.", ()),
    ],
    ids=["functions and classes", "calls and methods", "create", "a plain word", "a file"],
)
def test_what_a_task_uses_by_name_has_to_be_there(action: str, names: tuple[str, ...]) -> None:
    assert granted_names(task(action=action)) == names


def test_a_name_the_code_does_not_have_is_shown_to_the_plan_checker() -> None:
    told = plan(task("01-01", action="Extend `parse_line`."), task("01-02", action="Reuse `parse_line`."))
    story = Story()
    found = taken_for_granted(told, story.record, tools(facts=SaidFacts(lacking=frozenset({"parse_line"}))))

    assert [(f.rule, f.where, f.severity) for f in found] == [("plan-names", "01-01", "info")]
    assert "- Task 01-01 takes parse_line for granted, which is not there." in plan_check.prompt(story.record, found)
    assert "Not found" not in plan_check.prompt(story.record)


def test_a_name_an_earlier_task_is_about_is_not_missed() -> None:
    told = plan(task("01-01", action="Write `parse_line`."), task("01-02", action="Extend `parse_line`."))

    assert taken_for_granted(told, Story().record, tools(facts=SaidFacts(lacking=frozenset({"parse_line"})))) == ()
