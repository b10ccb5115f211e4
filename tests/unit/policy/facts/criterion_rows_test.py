from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.phase import Criterion
from autopilot.policy.facts.criterion_rows import left_out

COMMAND = Criterion(id="SC-1", text="All tests pass", command="pytest", source="roadmap")
SHORT = Criterion(id="SC-2", text="The guide explains how to install", source="roadmap")
LONG = Criterion(id="SC-3", text="The guide explains how to install on Windows", source="roadmap")
ALL = (COMMAND, SHORT, LONG)


def missing(*rows: str) -> tuple[str, ...]:
    return left_out(ALL, ALL, rows)


def test_without_rows_every_criterion_without_a_command_is_missing() -> None:
    assert missing() == (SHORT.text, LONG.text)


def test_one_row_does_not_stand_for_two_criteria_that_sound_alike() -> None:
    assert missing(SHORT.text) == (LONG.text,)
    assert missing(LONG.text) == (SHORT.text,)
    assert missing(LONG.text, SHORT.text) == ()


def test_a_row_about_something_else_covers_nothing() -> None:
    assert missing("All tests pass", "It is fast", "The code is tidy") == (SHORT.text, LONG.text)
    assert missing("every success criterion of the phase", "", "all") == (SHORT.text, LONG.text)


def test_ids_and_numbers_name_a_criterion() -> None:
    assert missing("SC-2", "SC-3: fine") == ()
    assert missing("2", "3.") == ()
    assert missing("criterion 2", "3) the guide for Windows") == ()
    assert missing("2 files changed", "3 tests ran") == (SHORT.text, LONG.text)


@given(st.permutations(range(3)), st.lists(st.text(max_size=20), max_size=4))
def test_a_row_in_the_words_of_each_criterion_always_covers_all(order: list[int], noise: list[str]) -> None:
    assert left_out(ALL, ALL, (*noise, *(ALL[at].text for at in order))) == ()


@given(st.lists(st.sampled_from([*(c.text for c in ALL), "SC-2", "SC-3", "2", "x"]), max_size=5))
def test_fewer_rows_than_criteria_never_cover_all(rows: list[str]) -> None:
    prose = sum(c.command is None for c in ALL)

    assert len(missing(*rows)) >= prose - len(rows)
