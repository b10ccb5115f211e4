"""What calls cost: unknown stays unknown, and the next call is reckoned before it is made."""

import msgspec
import pytest

from autopilot.domain.evidence import Usage
from autopilot.domain.settings import Limits, RunCaps, capped
from autopilot.history.digest import Spent
from autopilot.policy.budget import Debit, answers, debit, spent
from support.records import Story

DEAR = Usage(input_tokens=40_000, output_tokens=2_000, cost_usd=0.5)
CHEAP = Usage(input_tokens=9_000, output_tokens=1_000, cost_usd=0.1)


def calls(*usages: Usage, role: str = "execute") -> Story:
    story = Story()
    for number, usage in enumerate(usages):
        story.answer(f"run/1/{role}/{number}", role=role, usage=usage)
    return story


def test_what_no_agent_told_is_unknown_and_not_zero() -> None:
    assert spent([calls(Usage(), Usage()).digest]) == Spent(calls=2, untold_tokens=2, untold_usd=2)


def test_what_some_told_is_summed_beside_how_many_did_not() -> None:
    told = spent([calls(DEAR, Usage(output_tokens=5), CHEAP).digest])

    assert (told.tokens, told.usd, told.untold_tokens, told.untold_usd) == (52_005, 0.6, 0, 1)


@pytest.mark.parametrize(
    ("role", "usages", "reckoned"),
    [
        ("mini_verify", (), Debit(tokens=100 + 30 * 12)),
        ("execute", (CHEAP, DEAR, CHEAP), Debit(tokens=42_000, usd=0.5)),
        ("judge", (CHEAP, CHEAP), Debit(tokens=10_000, usd=0.1)),
        ("plan", (Usage(), Usage()), Debit(tokens=100 + 300 * 12)),
    ],
    ids=["a first call: its prompt and its answer", "the role's dearest call", "calls on average", "nobody told"],
)
def test_the_worst_case_of_a_call_is_known_before_it_is_made(
    role: str, usages: tuple[Usage, ...], reckoned: Debit
) -> None:
    assert debit(role, "word" * 100, answers([calls(*usages).digest])) == reckoned


def test_a_phase_s_share_grows_with_the_run_s_cap_and_never_shrinks() -> None:
    more = capped(Limits(), RunCaps(usd=200, hours=48, tokens=10_000_000))
    less = capped(Limits(), RunCaps(usd=1, hours=1, tokens=0))

    assert (more.usd_per_phase, more.minutes_per_phase) == (20, 240)
    assert (less.usd_per_run, less.minutes_per_run, less.tokens_per_run) == (1, 60, 0)
    assert (less.usd_per_phase, less.minutes_per_phase, less.tokens_per_phase) == (10, 120, None)


def test_a_cap_in_tokens_holds_for_calls_with_and_without_a_price() -> None:
    more = capped(Limits(), RunCaps(tokens=40_000_000))

    assert (more.tokens_per_run, more.unpriced_tokens_per_run) == (40_000_000, 40_000_000)
    assert (more.tokens_per_phase, more.unpriced_tokens_per_phase) == (None, 4_000_000)


def test_what_comes_from_a_cache_is_not_counted_against_a_cap() -> None:
    cached = Usage(input_tokens=40_000, cached_tokens=36_000, output_tokens=2_000)
    told = spent([calls(cached, msgspec.structs.replace(cached, cost_usd=0.1)).digest])

    assert (told.tokens, told.fresh, told.unpriced) == (84_000, 12_000, 6_000)


def test_a_cap_of_nothing_can_be_raised_again() -> None:
    assert capped(capped(Limits(), RunCaps(tokens=0)), RunCaps(tokens=9)).tokens_per_run == 9
