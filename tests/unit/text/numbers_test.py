"""Numbers that others wrote are read whatever their length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.phase import Expectation
from autopilot.policy.facts.test_counts import counts_in
from autopilot.text.numbers import MOST, read_number


@given(st.integers(-(10**17), 10**17))
def test_a_number_is_read_as_it_is(value: int) -> None:
    assert read_number(str(value)) == value


@pytest.mark.parametrize(("digits", "value"), [("9" * 5000, MOST), ("-" + "9" * 5000, -MOST), ("0" * 5000 + "7", 7)])
def test_one_longer_than_any_count_is_the_most_there_is(digits: str, value: int) -> None:
    assert read_number(digits) == value


@pytest.mark.parametrize("form", ["exit", "count", "at_least"])
def test_no_number_a_command_prints_is_too_long_to_be_judged(form: str) -> None:
    expect = Expectation(form=form, number=2)  # type: ignore[arg-type] # one of the words it knows

    assert expect.met(0, f"EXIT:{'9' * 5000}") == (form == "at_least")


def test_no_test_run_has_too_many_tests() -> None:
    assert counts_in(f"{'9' * 5000} passed").passed == MOST
