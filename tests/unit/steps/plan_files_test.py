"""Files a plan takes for granted, and what plan-check says when they are not there."""

from typing import Any

import msgspec
import pytest

from autopilot.domain.phase import Task
from autopilot.steps.plan_files import missing_files, taken_for_granted
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
    assert taken_for_granted(task(action=action)) == paths


def test_a_file_that_is_not_there_is_told_and_blocks_nothing() -> None:
    told = plan(task("01-01", action="Modify `src/a.py`."))
    (found,) = missing_files(told, Story().record, tools(facts=SaidFacts(lacking=frozenset({"src/a.py"}))))

    assert (found.severity, found.where) == ("info", "01-01")
    assert found.what == "Task 01-01 takes src/a.py for granted, which is not there."


def test_a_file_an_earlier_task_may_make_is_not_missed() -> None:
    told = plan(task("01-01", files=("src/a.py",)), task("01-02", action="Extend `src/a.py`."))

    assert missing_files(told, Story().record, tools(facts=SaidFacts(lacking=frozenset({"src/a.py"})))) == ()
