"""What a phase may cost, in tokens and in dollars where they are known."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.agents.model_profiles import ALIASES, price_names
from autopilot.domain.forecast import Dollars, Habits, TaskCounts, Tokens
from autopilot.domain.phase import Complexity, Phase, PhaseType, Plan, Task
from autopilot.domain.settings import Limits, Modes, Settings
from autopilot.planning.start.estimate import (
    estimate,
    learned,
    mix,
    of_mending,
    priced,
    scale,
    scaled,
    task_counts,
    token_note,
    total,
)
from autopilot.planning.start.prices import NO_LIBRARY, REQUEST_TOKENS, installed, per_million
from autopilot.policy.budget import cap_warning, cost_line, usd_warning

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
    assert cap_warning("3", expected, 500_000) == warned


@pytest.mark.parametrize(
    ("expected", "warned"),
    [
        (8.0, ""),
        (8.01, "Phase 3 estimated at $8.01 (80% of budget cap). Consider splitting complex tasks."),
        (25.5, "Phase 3 estimated at $25.50 (255% of budget cap). Consider splitting complex tasks."),
    ],
)
def test_mtrc_02c_more_than_80_percent_of_the_dollars_is_warned_of(expected: float, warned: str) -> None:
    assert usd_warning("3", expected, Limits().usd_per_phase) == warned


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
    cache_read_tokens: int = 0


class PlayedPrices:
    """
    A price list of one model, and one that is listed as free.

    A million tokens read cost a dollar, a tenth of that from a cache, and ten dollars written.
    """

    Usage = PlayedUsage

    def calc_price(self, usage: Any, model_ref: str) -> Bill:
        if model_ref not in {"known", "free"}:
            raise LookupError(model_ref)
        tenths = 10 * usage.input_tokens - 9 * usage.cache_read_tokens + 100 * usage.output_tokens
        return Bill(Decimal(tenths if model_ref == "known" else 0) / 10_000_000)


def test_a_known_model_has_a_price_for_a_million_tokens() -> None:
    price, note = per_million(("newer", "known"), PlayedPrices())

    assert price == pytest.approx(1.9)
    assert "known" in note


@pytest.mark.parametrize("names", [(), ("sonnet",), ("free",)])
def test_a_model_without_a_price_is_told_and_never_free(names: tuple[str, ...]) -> None:
    price, note = per_million(names, PlayedPrices())

    assert price is None
    assert "not known" in note


def test_without_the_library_prices_are_unknown() -> None:
    assert per_million(("known",), None) == (None, NO_LIBRARY)


def test_the_library_itself_knows_its_models() -> None:
    pytest.importorskip("genai_prices", reason="the extra `prices` is not installed")
    price, _ = per_million(("claude-sonnet-4-5",), installed())

    assert price is not None
    assert 0 < price < 1000
    assert per_million(("no-such-model",), installed())[0] is None


@pytest.mark.parametrize(
    ("vendor", "wanted"),
    [(vendor, wanted) for vendor in ("anthropic", "openai", "google") for wanted in (*ALIASES, "quality", "speed")],
)
def test_every_short_name_of_a_model_has_a_price(vendor: str, wanted: str) -> None:
    pytest.importorskip("genai_prices", reason="the extra `prices` is not installed")

    assert per_million(price_names(vendor, wanted), installed())[0]


def test_a_model_that_nobody_can_know_has_no_name() -> None:
    assert price_names("goose", "sonnet") == ()
    assert price_names("goose", "gpt-5") == ("gpt-5",)


CLAUDE = Habits(program="claude", own_prompt=12_500)


def test_before_the_first_run_a_programs_own_prompt_is_counted() -> None:
    assert scale(Habits()) == 1
    assert scale(CLAUDE) == 6
    assert "12,500" in token_note(CLAUDE)
    assert token_note(Habits()) == ""


def test_most_of_what_a_program_adds_is_read_from_a_cache_and_cheaper() -> None:
    plain, real = mix(Habits()), mix(CLAUDE)

    assert (plain.written, plain.cached) == (10_000, 0)
    assert real.cached > REQUEST_TOKENS / 2
    dear, cheap = (per_million(("known",), PlayedPrices(), found)[0] for found in (plain, real))
    assert cheap is not None
    assert dear is not None
    assert cheap < dear / 2


def row(estimated: Any, used: Any) -> dict[str, Any]:
    return {"estimated_tokens": estimated, "tokens_used": used}


def test_what_a_program_took_in_earlier_runs_goes_before_the_table() -> None:
    runs: list[dict[str, Any]] = [
        {"agent": "claude", "model": "sonnet", "total_usd": 2.0, "paid_tokens": 500_000,
         "per_phase_summary": [row(100_000, 300_000), row(100_000, 200_000), row(None, 7), row(5, "many")]},
        {"agent": "codex", "model": "sonnet", "total_usd": 90, "paid_tokens": 1, "per_phase_summary": [row(1, 9)]},
        {"agent": "claude", "model": "opus", "total_usd": 90, "paid_tokens": 1, "per_phase_summary": "odd"},
        {"agent": "claude", "model": "sonnet", "total_usd": 90, "paid_tokens": None, "per_phase_summary": []},
        {"run_id": "of an older version", "per_phase_summary": [row(1, 1_000)]},
    ]  # fmt: skip
    known = learned(CLAUDE, runs, "sonnet")

    assert (known.ratio, known.phases, known.usd_per_million) == (2.5, 2, 4.0)
    assert scaled(Tokens(low=70, expected=100, worst=300), scale(known)) == Tokens(low=175, expected=250, worst=750)
    assert "as 2 phases with claude took here" in token_note(known)
    assert learned(CLAUDE, [], "sonnet") == CLAUDE


@pytest.mark.parametrize(
    ("modes", "cycles"),
    [(Modes(quality=""), 3), (Modes(gaps=""), 5), (Modes(quality="", gaps=""), 8)],
    ids=["quality", "gaps", "both"],
)
def test_cenf_06_a_phase_that_is_mended_costs_one_cycle_and_at_worst_all_of_them(modes: Modes, cycles: int) -> None:
    found = of_mending(Settings(agent="a", modes=modes, limits=NO_RETRIES))

    assert (found.expected, found.worst) == (132_000, 132_000 * cycles)
