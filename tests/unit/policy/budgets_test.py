"""How much of an answer is read: the rules' table, and what happens to an answer that is longer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.agent_call import ROLES
from autopilot.policy.budget import BUDGETS, budget_of, ingest, summary

TABLE = {
    "preflight": (15, 5), "triage": (30, 5), "research": (200, 10), "plan": (300, 10), "plan_check": (50, 5),
    "execute": (500, 15), "verify": (200, 10), "judge": (100, 5), "rate": (150, 5), "debug": (200, 10),
    "mini_verify": (30, 5),
}  # fmt: skip
FULL = ("preflight", "triage", "research", "plan", "plan_check", "execute", "verify", "judge", "rate")
CHECKS = ("preflight", "triage", "verify", "judge", "rate")

roles = st.sampled_from(ROLES)
texts = st.lists(st.text("ab {}", max_size=5), max_size=40).map("\n".join)
counts = st.integers(0, 700)


@pytest.mark.parametrize("step", TABLE)
def test_bud_01_each_step_has_the_budget_of_the_rules(step: str) -> None:
    assert (BUDGETS[step].response, BUDGETS[step].summary) == TABLE[step]


@pytest.mark.parametrize(
    ("steps", "most"),
    [(FULL, 80), (CHECKS, 30), ((*FULL, "debug", "verify"), 95)],
    ids=["full pipeline", "verify only", "one debug"],
)
def test_bud_03_what_is_read_of_a_phase_stays_within_its_total(steps: tuple[str, ...], most: int) -> None:
    assert sum(BUDGETS[step].summary for step in steps) <= most


@given(roles, texts, counts, st.booleans())
def test_bud_02_no_more_is_read_than_the_budget_allows(role: str, text: str, printed: int, answered: bool) -> None:
    budget, kept = budget_of(role), ingest(role, role, text, printed, answered=answered)

    over = max(printed, len(text.splitlines())) > budget.response
    assert bool(kept.issues) == over
    assert kept.text == ("" if over and answered else summary(role, text) if over else text)
    assert not over or len(kept.text.splitlines()) <= budget.summary


def test_bud_02_the_last_lines_are_what_is_read_and_the_warning_counts_the_whole() -> None:
    text = "\n".join(f"line {n}" for n in range(40))

    kept = ingest("mini_verify", "mini_verify", text, 1000, answered=False)

    assert kept.text.splitlines() == [f"line {n}" for n in range(35, 40)]
    assert kept.issues == (
        "Agent mini_verify exceeded budget (1000 > 30 lines). Truncating to JSON/SUMMARY only.",
    )  # fmt: skip
