"""Failures and their categories: the ten there are, and what is none of them."""

import pytest

from autopilot.domain.answers import Categorised, VerifyOpinion
from autopilot.domain.results import Verified
from autopilot.engine.close.outcome import outcome_of
from autopilot.engine.decide.next_step import Finish
from autopilot.policy.failure_categories import CATEGORIES, unclassified
from support.records import Story


def named(failure: str, category: str) -> Categorised:
    return Categorised(failure=failure, category=category)


def test_tax_01_there_are_ten_categories() -> None:
    assert len(CATEGORIES) == len(set(CATEGORIES)) == 10


def test_tax_01_these_are_the_ten() -> None:
    executor = {"executor_incomplete", "executor_wrong_approach", "context_exhaustion", "scope_creep"}
    commands = {"compilation_failure", "lint_failure", "build_failure", "acceptance_criteria_unmet", "tool_failure"}

    assert set(CATEGORIES) == executor | commands | {"coordination_failure"}


@pytest.mark.parametrize("category", CATEGORIES)
def test_tax_01_each_of_them_is_known(category: str) -> None:
    assert unclassified(("no greeting",), (named("No greeting.", category),)) == ()


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        ((), ("no greeting",)),
        ((named("no greeting", "laziness"),), ("no greeting",)),
        ((named("no greeting at all", "scope_creep"),), ()),
        ((named("", "scope_creep"),), ("no greeting",)),
        ((named("no greeting", "scope_creep"), named("no date", "")), ("no date",)),
    ],
    ids=["no entry", "unknown category", "in other words", "an entry about nothing", "an entry without a category"],
)
def test_vrfy_05a_a_failure_without_a_known_category_is_told(
    entries: tuple[Categorised, ...], found: tuple[str, ...]
) -> None:
    assert unclassified(("no greeting",), entries) == found


def test_vrfy_05a_an_unclassified_failure_is_an_issue_of_the_pass() -> None:
    opinion = VerifyOpinion(passed=False, failures=("no greeting",))
    told = Story().step("verify", Verified(commit="c", tree="t", opinion=opinion))

    outcome = outcome_of(told.record, Finish("failed", "no good"))

    assert outcome.issues == ("no good", "Unclassified failure detected: no greeting.")
