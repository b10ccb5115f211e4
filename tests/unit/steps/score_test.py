"""The score that counts: ours, floored, and never above what the rater itself said."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.answers import CriterionScore, RateOpinion
from autopilot.policy.score_caps import band, score
from autopilot.steps import rate
from support.records import whole
from support.tools import SaidAgents, tools

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
    """RATE-07, RATE-08."""
    assert score(rated(claimed, *rows)) == wanted


@given(SCORES, st.lists(SCORES, min_size=1, max_size=4))
def test_a_score_is_never_above_what_was_said(claimed: float, rows: list[float]) -> None:
    """RATE-08."""
    given_score = score(rated(claimed, *rows))

    assert 0.0 <= given_score <= 10.0
    assert given_score <= max(claimed, 0.0)
    assert given_score <= max(*rows, 0.0)
    assert Decimal(str(given_score)) == Decimal(str(given_score)).quantize(Decimal("0.1"))


@given(st.floats(0, 10, allow_nan=False), st.lists(st.floats(0, 10, allow_nan=False), min_size=1, max_size=4))
def test_a_rater_s_own_number_can_only_lower_the_score(claimed: float, rows: list[float]) -> None:
    assert score(rated(claimed, *rows)) <= score(rated(10.0, *rows))


@pytest.mark.parametrize(
    ("written", "wrong"),
    [(9, True), ("9", True), (True, True), (9.0, False), ("9.0", False), (None, False)],
    ids=["integer", "text without a point", "true", "decimal", "text", "missing"],
)
def test_rate_02_an_integer_score_is_asked_for_again(written: object, wrong: bool) -> None:
    """INTG-05d."""
    found = rate.objections({"alignment_score": written})

    assert [o.issue for o in found] == [rate.INTEGER.format(score=written)] * wrong
    assert all("one decimal" in o.reminder for o in found)


@given(st.floats(0, 10, allow_nan=False))
def test_rate_02_every_number_with_a_point_is_taken(written: float) -> None:
    assert rate.objections({"alignment_score": written}) == ()


@pytest.mark.parametrize(
    ("given_score", "name"),
    [
        (10.0, "excellence"), (9.5, "excellence"), (9.4, "good"), (8.0, "good"), (7.9, "acceptable"), (7.0, "acceptable"),
        (6.9, "significant_gaps"), (5.0, "significant_gaps"), (4.9, "major_failures"), (3.0, "major_failures"),
        (2.9, "not_implemented"), (0.0, "not_implemented"),
    ],
)  # fmt: skip
def test_rate_06_a_score_falls_into_its_band(given_score: float, name: str) -> None:
    assert band(given_score) == name


def test_rate_06_the_band_is_ours_whatever_the_rater_wrote() -> None:
    row = CriterionScore(criterion="the letter", score=7.2, evidence="letter.txt:1", justification="as asked")
    opinion = RateOpinion(alignment_score=9.9, scorecard=(row,), commands_run=("ls",), score_band="excellence")

    seen = rate.run(whole(), tools(agents=SaidAgents({"rate": opinion})))

    assert (seen.score, seen.opinion.score_band) == (7.2, "acceptable")
