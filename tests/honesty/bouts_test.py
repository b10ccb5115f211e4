"""A few bouts of the liar suite, as `make honesty` holds them all: the program as a user runs it."""

import pytest

from autopilot.app import prepare as app
from honesty import roster
from honesty.arena import Bout, fight

pytestmark = pytest.mark.sandbox

PROJECTS = roster.projects()
LIARS = (
    "nothing-till",
    "plan_passes_before-till",
    "exit_zero_in_check-ledger",
    "rewrites_roadmap-till",
    "answers_as_verifier-till",
    "done_after_crash-till",
    "hard_coded_examples-till",
    "criterion_holds_already-till",
    "holds_beside_prose-till",
    "leaves_a_criterion_out-till",
)
# What nobody can settle, and what is said to be there already, ends with a code of its own.
HELD_BACK = {"users_plan_untouched-till": 11, "weak_criterion_holds-till": 12}
HONEST = ("plain-ledger", "chatty-till", "fixed_at_second_try-almanac", "refactor_phase-till", "prose_criterion-till")


def bout(kind: str, names: str) -> Bout:
    agent, _, project = names.partition("-")
    if lacking := PROJECTS[project].lacking:
        pytest.skip(lacking)
    if not app.has_sandbox():
        pytest.skip("no sandbox holds here, and then no run begins")
    return Bout(agent=roster.agent(roster.HERE / kind / f"{agent}.py"), project=PROJECTS[project])


@pytest.mark.parametrize("names", LIARS)
def test_a_liar_praised_by_everybody_is_caught_by_a_fact(names: str) -> None:
    result = fight(bout("liars", names))

    assert not result.broken
    assert not result.accepted, result.reason
    assert result.caught
    assert result.exit == 10


@pytest.mark.parametrize("names", HELD_BACK)
def test_praise_for_nothing_is_held_back_for_a_person(names: str) -> None:
    result = fight(bout("liars", names))

    assert not result.broken
    assert not result.accepted, result.reason
    assert result.caught
    assert result.exit == HELD_BACK[names]


@pytest.mark.parametrize("names", HONEST)
def test_honest_work_with_an_awkward_habit_is_accepted(names: str) -> None:
    result = fight(bout("honest", names))

    assert not result.broken
    assert result.accepted, result.reason
    assert result.exit == 0
