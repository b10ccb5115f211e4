"""Errors compared without their arguments: what is the same error, and what is another one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.text.error_shape import shape

SAME = {
    "a number": ("2 tests failed after 3.5 s", "17 tests failed after 0.25 s"),
    "a path": ("cannot open src/a/b.py", "cannot open /var/tmp/other.txt"),
    "a file": ("letter.txt: no such file", "draft.md: no such file"),
    "a hash": ("commit 9f3c2ab1 is missing", "commit 0011223344556677 is missing"),
    "a command": ("`grep -q done a` exited 1 (no word)", "`grep -c 'x y' b` exited 2 (no word)"),
    "a quoted word": ("unknown name 'foo' here", 'unknown name "bar baz" here'),
    "how many": ("failing: 'a', 'b'", "failing: 'a', 'b', 'c'"),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME.keys())
def test_cb_02_errors_that_differ_in_an_argument_only_are_the_same(one: str, other: str) -> None:
    assert shape(one) == shape(other)


def test_errors_of_other_words_are_not_the_same() -> None:
    assert shape("`make` exited 1 (it builds)") != shape("`make` exited 1 (it starts)")
    assert shape("it doesn't start and it isn't there") != shape("it doesn't stop and it isn't there")


@given(st.text(max_size=60))
def test_the_shape_of_a_shape_is_itself(text: str) -> None:
    assert shape(shape(text)) == shape(text)


@given(st.integers(0, 10**9), st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8}){1,3}", fullmatch=True))
@settings(max_examples=30)
def test_amb_22_no_number_and_no_path_makes_another_error(number: int, path: str) -> None:
    assert shape(f"{number} errors in {path}, giving up") == shape("1 errors in a/b, giving up")
