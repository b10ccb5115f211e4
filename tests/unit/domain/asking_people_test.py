"""What was typed at a question, and what was meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.people import YOU_DECIDE, Asked, NoAnswers, idea_in, meant, picked, shown

CARDS = Asked(key="k", phase="3", text="Cards or a list?", options=("Cards", "A list", YOU_DECIDE))


def test_options_stand_under_letters() -> None:
    assert shown(CARDS) == f"Cards or a list?\n  a) Cards\n  b) A list\n  c) {YOU_DECIDE}"


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("a", "Cards"),
        ("B)", "A list"),
        ("c", YOU_DECIDE),
        ("d", "d"),
        ("both, by a switch", "both, by a switch"),
        ("", ""),
    ],
)
def test_a_letter_means_its_option_and_anything_else_itself(said: str, answer: str) -> None:
    assert meant(CARDS, said) == answer


@pytest.mark.parametrize(
    ("said", "numbers"),
    [("1, 3", (1, 3)), ("3,1,3", (3, 1)), (" ALL ", (1, 2, 3)), ('"all"', (1, 2, 3)), ("4", ()), ("the first", ())],
)
def test_disc_05_areas_are_chosen_by_number_or_all(said: str, numbers: tuple[int, ...]) -> None:
    assert picked(said, 3) == numbers


@given(st.text(), st.integers(0, 9))
def test_disc_05_whatever_is_typed_only_areas_that_exist_are_chosen(said: str, count: int) -> None:
    chosen = picked(said, count)

    assert set(chosen) <= set(range(1, count + 1))
    assert len(set(chosen)) == len(chosen)


def test_disc_11_an_idea_says_that_it_is_one() -> None:
    assert [idea_in(said) for said in ("Idea: send parcels", "idea:", "no idea: none")] == ["send parcels", "", ""]


def test_nobody_answers_nothing() -> None:
    assert (NoAnswers().ask(CARDS), NoAnswers().there) == (None, False)
