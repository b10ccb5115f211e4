"""CORR-03, CORR-04: a task is mended twice at most, and not again once mending makes its change grow."""

import msgspec
import pytest

from autopilot.domain.answers import TaskOpinion
from autopilot.domain.results import Executed, Fixed, MiniVerified
from autopilot.domain.verdict import Advance, Retry
from autopilot.gates import after_mini_verify, after_task
from autopilot.policy.task_progress import diff_growing
from support.records import Story, work


def told(*sizes: int, passed: bool = False) -> Story:
    """A first try and its fixes, each with so many lines changed."""
    story = Story().planned()
    for at, size in enumerate(sizes):
        tried = work(commit=f"c{at}", passed=passed)
        tried = msgspec.structs.replace(tried, change=msgspec.structs.replace(tried.change, added=size - 1, removed=1))
        made = Fixed(work=tried) if at else Executed(work=tried)
        story.step("fix" if at else "execute", made, Retry(step="fix", because="x"), f"c{at}")
    return story


@pytest.mark.parametrize(
    ("sizes", "growing"),
    [((5,), False), ((5, 5), False), ((5, 4), False), ((5, 6), True), ((5, 4, 9), False), ((0, 9), False)],
    ids=["first try", "as big", "smaller", "bigger", "only compared once", "nothing to compare with"],
)
def test_corr_04_a_change_that_grows_is_seen_before_the_second_fix(sizes: tuple[int, ...], *, growing: bool) -> None:
    assert diff_growing(told(*sizes).record, "01-01") == growing


def test_corr_04_a_growing_change_is_set_aside_though_a_fix_remains() -> None:
    verdict = after_task.GATE.decide(told(5, 6).record)

    assert isinstance(verdict, Advance)
    assert verdict.because.startswith("task FAILED: diff_growing: ")


def test_corr_03_a_change_that_does_not_grow_is_mended_twice_and_no_more() -> None:
    assert isinstance(after_task.GATE.decide(told(5, 5).record), Retry)
    assert after_task.GATE.decide(told(5, 5, 5).record) == after_task.GATE.decide(told(5, 5, 6).record)
    assert isinstance(after_task.GATE.decide(told(5, 5, 5).record), Advance)


def test_corr_04_a_reviewer_s_objection_to_a_growing_change_ends_the_task_as_well() -> None:
    opinion = TaskOpinion(passed=False, commands_run=("ls",), concerns=("odd",))
    story = told(5, 6, passed=True).step("mini_verify", MiniVerified(task="01-01", opinion=opinion))

    assert after_mini_verify.GATE.decide(story.record) == Advance(to="verify", because="task FAILED: diff_growing: odd")


def test_a_growing_change_that_holds_is_reviewed_like_any_other() -> None:
    assert after_task.GATE.decide(told(5, 6, passed=True).record) == Advance(to="mini_verify")
