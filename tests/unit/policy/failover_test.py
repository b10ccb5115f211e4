"""Agents that are not to be had: who is asked instead, how long is waited, and when it is given up."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.agent_call import Outcome
from autopilot.domain.settings import Limits
from autopilot.policy.failover import (
    Ask,
    Halt,
    Hold,
    Moments,
    Scene,
    Trouble,
    Turn,
    overload_delay,
    turn,
    unknown_delay,
)
from autopilot.text.times import elapsed, later, seconds_of

NOON, ONE = "2026-01-01T12:00:00.000Z", "2026-01-01T13:00:00.000Z"
LIMITS = Limits()
OUTCOMES: list[Outcome] = ["usage_limited", "rate_limited", "overloaded", "auth", "cancelled"]


def trouble(outcome: Outcome = "usage_limited", at: str = NOON, resets_at: str | None = None) -> Trouble:
    return Trouble(outcome=outcome, at=at, resets_at=resets_at, text="said so")


def decided(ladder: str, now: str = NOON, wait: bool = True, since: Moments | None = None, **told: Any) -> Turn:
    troubles = {name: held if isinstance(held, tuple) else (held,) for name, held in told.items()}
    moments = since or Moments()
    return turn(
        Scene(ladder=tuple(ladder.split()), troubles=troubles, moments=moments, limits=LIMITS, now=now, wait=wait)
    )


def test_whoever_is_to_be_had_is_asked() -> None:
    assert decided("claude codex") == Ask("claude")
    assert decided("claude codex", claude=trouble()) == Ask("codex")
    assert decided("claude codex", claude=trouble("auth")) == Ask("codex")


def test_a_window_is_waited_for_until_it_resets_and_a_margin_more() -> None:
    due = decided("claude", claude=trouble(resets_at=ONE))

    assert due == Hold("claude", "usage_limited", "2026-01-01T13:01:00.000Z", 1, told=True)
    assert decided("claude", now="2026-01-01T13:01:00.000Z", claude=trouble(resets_at=ONE)) == Ask("claude")


def test_of_several_that_are_shut_the_first_to_open_is_waited_for() -> None:
    soon = trouble(resets_at="2026-01-01T12:30:00.000Z")

    assert isinstance(due := decided("claude codex", claude=trouble(resets_at=ONE), codex=soon), Hold)
    assert (due.backend, due.until) == ("codex", "2026-01-01T12:31:00.000Z")


@pytest.mark.parametrize(("count", "minutes"), [(1, 5), (2, 10), (3, 20), (4, 40), (5, 60), (9, 60)])
def test_a_window_that_opens_nobody_knows_when_is_tried_again_and_again(count: int, minutes: int) -> None:
    due = decided("claude", claude=(trouble(),) * count)

    assert isinstance(due, Hold)
    assert elapsed(NOON, due.until) == minutes * 60


def test_a_reset_that_is_past_tells_nothing() -> None:
    due = decided("claude", claude=trouble(resets_at="2026-01-01T11:00:00.000Z"))

    assert isinstance(due, Hold)
    assert (due.until, due.told) == (later(NOON, 300), False)


@pytest.mark.parametrize(
    "held", [trouble(resets_at="2026-01-05T12:00:00.000Z"), (trouble(),) * 16], ids=["a week", "nobody knows"]
)
def test_what_takes_too_long_is_not_waited_for(held: Any) -> None:
    due = decided("claude", claude=held)

    assert isinstance(due, Halt)
    assert due.outcome == "usage_limited"


def test_who_does_not_want_to_wait_is_told_until_when_it_would_be() -> None:
    assert decided("claude", wait=False, claude=trouble(resets_at=ONE)) == Halt(
        "claude", "usage_limited", "2026-01-01T13:01:00.000Z"
    )
    assert isinstance(decided("claude", wait=False, claude=trouble("overloaded")), Hold)


def test_a_service_in_trouble_is_asked_again_until_its_tries_are_used_up() -> None:
    most = LIMITS.overload_tries

    assert isinstance(decided("claude codex", claude=(trouble("overloaded"),) * (most - 1)), Hold)
    assert decided("claude codex", claude=(trouble("overloaded"),) * most) == Ask("codex")
    assert decided("claude", claude=(trouble("overloaded"),) * most) == Halt(
        "claude", "overloaded", text="said so", attempt=most
    )


def test_a_call_cut_off_from_outside_is_made_again_at_once_up_to_a_limit() -> None:
    most = LIMITS.interruptions

    assert decided("claude codex", claude=(trouble("cancelled"),) * (most - 1)) == Ask("claude")
    assert decided("claude codex", claude=(trouble("cancelled"),) * most) == Ask("codex")
    assert decided("claude", claude=(trouble("cancelled"),) * most) == Halt(
        "claude", "cancelled", text="said so", attempt=most
    )
    assert decided("claude", since=Moments(taken_up=ONE), claude=(trouble("cancelled"),) * most) == Ask("claude")


def test_overloads_and_interruptions_that_take_turns_have_an_end_too() -> None:
    turns = (trouble("overloaded"), trouble("cancelled")) * 20

    assert isinstance(decided("claude", claude=turns), Halt)
    assert isinstance(decided("claude", claude=turns[:-1]), Halt)


def test_a_service_that_says_when_to_come_back_is_not_asked_before() -> None:
    due = decided("claude", claude=trouble("rate_limited", resets_at="2026-01-01T12:00:30.000Z"))

    assert isinstance(due, Hold)
    assert 30 <= elapsed(NOON, due.until) <= 30 + LIMITS.overload_seconds


def test_one_that_is_not_signed_in_is_not_waited_for() -> None:
    assert decided("claude", claude=trouble("auth")) == Halt("claude", "auth", text="said so")
    assert isinstance(decided("claude codex", claude=trouble("auth"), codex=trouble(resets_at=ONE)), Hold)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_person_who_wants_them_asked_at_once_is_heeded(outcome: Outcome) -> None:
    assert decided("claude", since=Moments(asked_anew=ONE), claude=trouble(outcome, resets_at=ONE)) == Ask("claude")


def test_what_was_waited_for_is_asked_though_the_clock_was_put_back() -> None:
    assert decided("claude", since=Moments(served={"claude": ONE}), claude=trouble(resets_at=ONE)) == Ask("claude")


@pytest.mark.parametrize("outcome", ["auth", "overloaded"])
def test_a_run_taken_up_again_asks_those_who_were_in_trouble(outcome: Outcome) -> None:
    held = (trouble(outcome),) * LIMITS.overload_tries

    assert decided("claude", since=Moments(taken_up=ONE), claude=held) == Ask("claude")


@given(attempt=st.integers(1, 500), chance=st.floats(0, 1), base=st.floats(0, 1e4), most=st.floats(0, 1e6))
def test_the_back_off_is_bounded_and_its_bound_never_shrinks(
    attempt: int, chance: float, base: float, most: float
) -> None:
    limits = Limits(overload_seconds=base, overload_most_seconds=most, wait_minutes=base, wait_most_minutes=most)

    delay = overload_delay(attempt, limits, chance)
    assert 0 <= delay <= overload_delay(attempt, limits, 1.0) <= max(base, most)
    assert overload_delay(attempt, limits, 1.0) <= overload_delay(attempt + 1, limits, 1.0)
    assert base * 60 <= unknown_delay(attempt, limits) <= unknown_delay(attempt + 1, limits) <= max(base, most) * 60


@given(
    held=st.dictionaries(
        st.sampled_from("abc"),
        st.lists(st.tuples(st.sampled_from(OUTCOMES), st.integers(0, 90_000), st.none() | st.integers(0, 900_000))),
    ),
    wait=st.booleans(),
    chance=st.floats(0, 1),
)
def test_whatever_happened_a_turn_names_somebody_of_the_ladder_and_a_time_ahead(
    held: dict[str, Any], wait: bool, chance: float
) -> None:
    troubles = {
        name: tuple(
            trouble(outcome, later(NOON, at), None if more is None else later(NOON, more))
            for outcome, at, more in sorted(said, key=lambda one: one[1])
        )
        for name, said in held.items()
    }
    now = later(NOON, 90_000)
    due = turn(
        Scene(
            ladder=("a", "b", "c"), troubles=troubles, moments=Moments(), limits=LIMITS, now=now, wait=wait,
            chance=chance,
        )
    )  # fmt: skip

    assert due.backend in {"a", "b", "c"}
    assert not isinstance(due, Hold) or now < due.until <= later(now, LIMITS.wait_hours * 3600 + 60)
    assert not isinstance(due, Hold) or wait or due.outcome != "usage_limited"


@given(seconds=st.integers(0, 10**11), more=st.integers(0, 10**9))
def test_a_moment_later_is_that_much_later(seconds: int, more: int) -> None:
    at = later("1970-01-01T00:00:00.000Z", seconds)

    assert round(seconds_of(later(at, more)) - seconds_of(at), 3) == more
    assert later(at, 0) == at
