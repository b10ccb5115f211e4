"""Printed text that is safe to show."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.text.plain import ending, plain


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;unfinished {}", "52;c;unfinished {}"),
        ("50%\r100%\r\n\tdone\x08\x07", "50%\n100%\n\tdone"),
        ("\x9b31mred", "red"),
        ("naïve – ünïcode ✓", "naïve – ünïcode ✓"),
    ],
)
def test_control_codes_are_gone_and_words_stay(printed: str, shown: str) -> None:
    assert plain(printed) == shown


@given(st.text(st.sampled_from("\x1b[]0m;\x07\\\x9b\x9c\r\nab")))
def test_no_control_character_is_left_but_line_ends_and_tabs(printed: str) -> None:
    assert {c for c in plain(printed) if unicodedata.category(c) == "Cc"} <= {"\n", "\t"}


@given(st.text(), st.integers(min_value=3, max_value=50))
def test_the_end_is_what_stays(text: str, limit: int) -> None:
    assert len(ending(text, limit)) <= limit
    assert text.endswith(ending(text, limit).removeprefix("..."))
