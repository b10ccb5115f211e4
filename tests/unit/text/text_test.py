"""Foreign text on its way to a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.text.clean import clean, last_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("\x1b[31mred\x1b[0m alert", "red alert", id="colours"),
        pytest.param("one\ntwo\r\n\tthree", "one two three", id="several lines"),
        pytest.param("a\x07b\x00c", "a b c", id="control characters"),
        pytest.param("done \U0001f389 \u2705", "done", id="emoji"),
        pytest.param("abc\u202edef", "abc def", id="direction overrides"),
        pytest.param("gr\u00f6\u00dfe \u6f22\u5b57", "gr\u00f6\u00dfe \u6f22\u5b57", id="letters of every script stay"),
        pytest.param("x" * 300, "x" * 197 + "...", id="long"),
    ],
)
def test_foreign_text_becomes_one_harmless_line(text: str, shown: str) -> None:
    assert clean(text) == shown


@given(st.text(), st.integers(4, 60))
def test_nothing_a_terminal_would_act_upon_survives(text: str, most: int) -> None:
    shown = clean(text, most)

    assert len(shown) <= most
    assert shown == "" or shown.isprintable()


def test_the_last_line_that_says_something_is_where_programs_put_their_verdict() -> None:
    assert last_line("F\n\nFAILED (failures=1)\n\n") == "FAILED (failures=1)"
    assert last_line(" \n") == ""
