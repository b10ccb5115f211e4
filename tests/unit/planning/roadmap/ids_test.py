"""Phase ids have one spelling, one order, and nothing dangerous in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.planning.roadmap import ids

written = st.lists(st.integers(0, 999), min_size=1, max_size=3).map(lambda parts: ".".join(str(part) for part in parts))


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("01", "1"), ("02.10", "2.10"), ("Phase 3", "3"), ("phase_6.1", "6.1"), ("2", "2"), ("12a", "12A"),
        ("CK-01", "CK-1"), ("02.13.1", "2.13.1"), ("000", "0"), (" 7 ", "7"), ("phase-04", "4"),
    ],
)  # fmt: skip
def test_each_phase_has_one_spelling(said: str, means: str) -> None:
    assert ids.normalise(said) == means
    assert ids.same(said, means)


def test_segments_are_compared_as_numbers() -> None:
    said = ["10", "2.10", "2", "2.9", "2.1", "12A", "12", "CK-1"]

    assert sorted(said, key=ids.sort_key) == ["2", "2.1", "2.9", "2.10", "10", "12", "12A", "CK-1"]


@pytest.mark.parametrize(
    "bad", ["..", "-rf", "CON", "", " ", "1 2", "../1", "1/2", "1..2", "1.", ".1", "٣", "1\n", "a", "3;rm", "-1", "1-"]
)
def test_what_is_unsafe_in_a_path_or_ref_is_no_id(bad: str) -> None:
    assert not ids.valid(bad)


@given(st.text(max_size=40))
def test_normalising_any_text_is_safe_and_final(text: str) -> None:
    once = ids.normalise(text)

    assert ids.normalise(once) == once
    assert ids.valid(once) or once == ids.normalise(text)


@given(written, st.integers(0, 3))
def test_padding_changes_nothing(phase_id: str, zeros: int) -> None:
    assert ids.same("0" * zeros + phase_id, phase_id)


@given(written, written, written)
def test_the_order_is_total_and_transitive(one: str, two: str, three: str) -> None:
    low, middle, high = sorted((one, two, three), key=ids.sort_key)

    assert ids.sort_key(low) <= ids.sort_key(middle) <= ids.sort_key(high)
    assert ids.between(low, middle, high)
    assert (ids.sort_key(one) == ids.sort_key(two)) == ids.same(one, two)
