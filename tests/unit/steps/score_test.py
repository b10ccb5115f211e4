"""The score that counts: ours, floored, and never above what the rater itself said."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.answers import CriterionScore, RateOpinion
from autopilot.steps.rate import score

SCORES = st.floats(-100, 100, allow_nan=False)


def rated(claimed: float, *rows: float) -> RateOpinion:
    return RateOpinion(alignment_score=claimed, scorecard=tuple(CriterionScore(score=row) for row in rows))


@pytest.mark.parametrize(
    ("claimed", "rows", "wanted"),
    [
        (10.0, (7.45,), 7.4),
        (7.49, (10.0,), 7.4),
        (9.0, (9.0, 8.0), 8.5),
        (9.9, (9.0, 9.0, 8.9), 8.9),
        (99.0, (99.0,), 10.0),
        (-3.0, (5.0,), 0.0),
        (10.0, (-3.0,), 0.0),
        (6.99, (6.99,), 6.9),
        (9.3, (9.3,), 9.3),
    ],
    ids=["floor", "floor of the claim", "mean", "no rounding up", "too high", "below", "row below", "edge", "exact"],
)
def test_the_lower_of_mean_and_claim_is_floored(claimed: float, rows: tuple[float, ...], wanted: float) -> None:
    assert score(rated(claimed, *rows)) == wanted


@given(SCORES, st.lists(SCORES, min_size=1, max_size=4))
def test_a_score_is_never_above_what_was_said(claimed: float, rows: list[float]) -> None:
    given_score = score(rated(claimed, *rows))

    assert 0.0 <= given_score <= 10.0
    assert given_score <= max(claimed, 0.0)
    assert given_score <= max(*rows, 0.0)
    assert Decimal(str(given_score)) == Decimal(str(given_score)).quantize(Decimal("0.1"))


@given(st.floats(0, 10, allow_nan=False), st.lists(st.floats(0, 10, allow_nan=False), min_size=1, max_size=4))
def test_a_rater_s_own_number_can_only_lower_the_score(claimed: float, rows: list[float]) -> None:
    assert score(rated(claimed, *rows)) <= score(rated(10.0, *rows))
