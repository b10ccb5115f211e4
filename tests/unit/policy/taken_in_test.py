"""What is said of context and cost: only said, at the marks the rules name."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.policy.budget import session_warning
from autopilot.policy.taken_in import advice, share, tokens_of
from support.records import passed

SEVENTY = "Context at ~70%. If approaching limits, verify orchestrator is not reading detailed files directly."
OVER = (
    "Estimated cost (144001 tokens) exceeds 80% of session budget. Consider splitting into smaller batches. "
    "If context runs out mid-session, run `autopilot 3.1`."
)
NINETY = "Context at ~90%. Consider writing handoff file for safety. Verify manager-not-worker principle."


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [(0, 69, ()), (69, 70, (SEVENTY,)), (70, 89, ()), (89, 90, (NINETY,)), (90, 100, ()), (0, 100, (SEVENTY, NINETY))],
)
def test_ctx_03_each_mark_is_told_when_it_is_reached(before: int, now: int, said: tuple[str, ...]) -> None:
    assert advice(before, now) == said


@given(st.lists(st.integers(0, 30), max_size=12))
def test_ctx_03_no_mark_is_told_twice(growth: list[int]) -> None:
    marks = [min(100, sum(growth[:length])) for length in range(len(growth) + 1)]
    told = [line for before, now in pairwise(marks) for line in advice(before, now)]

    assert len(told) == len(set(told))


def test_a_result_counts_by_its_length() -> None:
    short, long = (tokens_of(passed("1", issues=("i" * size,)).outcome) for size in (0, 4000))

    assert long - short == 1000
    assert (share(0), share(90_000), share(10**9)) == (0, 50, 100)


@pytest.mark.parametrize(
    ("estimates", "told"),
    [
        ({"1": 240_000, "2": 240_000}, ""),
        ({"1": 38_000, "2": 38_000, "3": 38_000}, ""),
        (
            {"1": 38_000, "2": 38_000, "3.1": 38_001},
            OVER,
        ),
    ],
    ids=["two phases", "80 % exactly", "above"],
)
def test_ctx_05_several_phases_over_the_session_s_budget_are_warned_of(estimates: dict[str, int], told: str) -> None:
    assert session_warning(estimates) == told
