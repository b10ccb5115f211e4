"""What a phase may cost, in tokens and in dollars where they are known."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.costs import cap_warning, cost_line
from autopilot.domain.forecast import Dollars, TaskCounts, Tokens
from autopilot.domain.modes import Modes
from autopilot.domain.phase import Complexity, Phase, PhaseType, Plan, Task
from autopilot.domain.settings import Limits, Settings
from autopilot.planning.estimate import estimate, of_mending, priced, task_counts, total
from autopilot.planning.prices import NO_LIBRARY, installed, per_million

SETTINGS = Settings(agent="a")
NO_RETRIES = Limits(plan_checks=1, task_fixes=0, debug_attempts=0, replans=0, remediation_cycles=0)


def phase(kind: PhaseType = "mixed") -> Phase:
    return Phase(id="3", name="Three", type=kind)


def plan(*sizes: Complexity | None) -> Plan:
    return Plan(text="", tasks=tuple(Task(id=str(n), title="t", complexity=size) for n, size in enumerate(sizes)))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        (("simple",), 78_000),
        (("simple", "medium", "complex"), 186_000),
        ((None,), 96_000),
        (("complex",) * 10, 780_000),
    ],
    ids=["one simple", "one of each", "AMB-43 unknown is medium", "ten complex"],
)
def test_mtrc_02a_with_a_plan_its_tasks_count(sizes: tuple[Complexity | None, ...], expected: int) -> None:
    assert estimate(phase(), plan(*sizes), SETTINGS).expected == expected


@pytest.mark.parametrize(
    ("kind", "expected"), [("protocol", 180_000), ("ui", 300_000), ("data", 120_000), ("mixed", 240_000)]
)
def test_mtrc_02b_without_a_plan_the_type_counts(kind: PhaseType, expected: int) -> None:
    assert estimate(phase(kind), None, SETTINGS).expected == expected


def test_low_is_one_clean_pass_and_worst_every_retry_the_limits_allow() -> None:
    found = estimate(phase(), plan("simple"), SETTINGS)
    planning, work = 50_000 * 3 * 2, 15_000 * 3 * 2
    mending = 30_000 * 3 + 2 * (50_000 + 60_000 * 3)

    assert found == Tokens(low=54_600, expected=78_000, worst=(planning + work + mending) * 6 // 5)


def test_without_retries_the_worst_is_what_is_expected() -> None:
    found = estimate(phase(), None, Settings(agent="a", limits=NO_RETRIES))

    assert found.worst == found.expected


def test_lenient_runs_are_not_remediated() -> None:
    strict, lenient = (estimate(phase(), None, Settings(agent="a", lenient=value)) for value in (False, True))

    assert strict.worst - lenient.worst == 2 * (50_000 + 60_000 * 3) * 6 // 5


@given(
    st.lists(st.sampled_from(["simple", "medium", "complex", None]), max_size=20),
    st.builds(Limits, plan_checks=st.integers(0, 9), task_fixes=st.integers(0, 9), replans=st.integers(0, 9)),
)
def test_low_is_never_above_expected_nor_expected_above_worst(sizes: list[Complexity | None], limits: Limits) -> None:
    found = estimate(phase(), plan(*sizes), Settings(agent="a", limits=limits))

    assert found.low <= found.expected <= found.worst


@pytest.mark.parametrize(
    ("expected", "warned"),
    [
        (400_000, ""),
        (400_001, "Phase 3 estimated at 400001 tokens (80% of budget cap). Consider splitting complex tasks."),
        (780_000, "Phase 3 estimated at 780000 tokens (156% of budget cap). Consider splitting complex tasks."),
    ],
)
def test_mtrc_02c_more_than_80_percent_of_the_cap_is_warned_of(expected: int, warned: str) -> None:
    assert cap_warning("3", expected) == warned


def test_mtrc_02d_the_log_line_has_its_form() -> None:
    made = plan("simple", None, "medium", "complex")

    assert task_counts(made) == TaskCounts(simple=1, medium=2, complex=1)
    assert cost_line("3", 5, made) == ("Phase 3 cost estimate: 5 tokens (4 tasks: 1 simple, 2 medium, 1 complex)")
    assert task_counts(None) == TaskCounts()


def test_totals_add_up() -> None:
    assert total([Tokens(low=1, expected=2, worst=3)] * 3) == Tokens(low=3, expected=6, worst=9)


def test_an_unknown_price_is_unknown_and_not_nothing() -> None:
    assert priced(Tokens(low=1, expected=2, worst=3), None) is None
    assert priced(Tokens(low=500_000, expected=1_000_000, worst=3_000_000), 2.5) == Dollars(
        low=1.25, expected=2.5, worst=7.5
    )


def test_a_cheap_model_is_not_shown_as_free() -> None:
    assert priced(Tokens(low=1, expected=2, worst=20_000), 0.6) == Dollars(low=0.01, expected=0.01, worst=0.02)


@dataclass
class Bill:
    total_price: Decimal


@dataclass
class PlayedUsage:
    input_tokens: int
    output_tokens: int


class PlayedPrices:
    """A price list of one model: 1 dollar a million read, 10 a million written; and one that is listed as free."""

    Usage = PlayedUsage

    def calc_price(self, usage: Any, model_ref: str) -> Bill:
        if model_ref not in {"known", "free"}:
            raise LookupError(model_ref)
        millionths = usage.input_tokens + 10 * usage.output_tokens if model_ref == "known" else 0
        return Bill(Decimal(millionths) / 1_000_000)


def test_a_known_model_has_a_price_for_a_million_tokens() -> None:
    price, note = per_million("known", PlayedPrices())

    assert price == pytest.approx(1.9)
    assert "known" in note


@pytest.mark.parametrize("model", [None, "", "sonnet", "free"])
def test_a_model_without_a_price_is_told_and_never_free(model: str | None) -> None:
    price, note = per_million(model, PlayedPrices())

    assert price is None
    assert "not known" in note


def test_without_the_library_prices_are_unknown() -> None:
    assert per_million("known", None) == (None, NO_LIBRARY)


def test_the_library_itself_knows_its_models() -> None:
    pytest.importorskip("genai_prices", reason="the extra `prices` is not installed")
    price, _ = per_million("claude-sonnet-4-5", installed())

    assert price is not None
    assert 0 < price < 1000
    assert per_million("no-such-model", installed())[0] is None


@pytest.mark.parametrize(
    ("modes", "cycles"),
    [(Modes(quality=""), 3), (Modes(gaps=""), 5), (Modes(quality="", gaps=""), 8)],
    ids=["quality", "gaps", "both"],
)
def test_cenf_06_a_phase_that_is_mended_costs_one_cycle_and_at_worst_all_of_them(modes: Modes, cycles: int) -> None:
    found = of_mending(Settings(agent="a", modes=modes, limits=NO_RETRIES))

    assert (found.expected, found.worst) == (132_000, 132_000 * cycles)
