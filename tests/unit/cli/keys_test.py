"""The keyboard while a run is looked at, on a real pseudo terminal."""

import io
import os
import pty
import termios
import time
from collections.abc import Iterator
from typing import TextIO

import pytest

from autopilot.cli.keys import patience

LOCAL_MODES = 3


@pytest.fixture
def keyboard() -> Iterator[tuple[int, TextIO]]:
    """The side on which somebody types, and the program's."""
    master, slave = pty.openpty()
    with os.fdopen(slave, "r") as typed:
        yield master, typed
    os.close(master)


@pytest.mark.parametrize(
    ("keys", "stays"), [("", True), ("x y\n", True), ("q", False), ("abQ", False), ("\x04", False)]
)
def test_only_q_ends_the_wait(keys: str, stays: bool, keyboard: tuple[int, TextIO]) -> None:
    with patience(keyboard[1]) as pause:
        os.write(keyboard[0], keys.encode())
        began, length = time.monotonic(), 0.1 if stays else 3000.0
        assert pause(length) is stays
        assert (time.monotonic() - began >= length) is stays


def test_the_terminal_is_left_as_it_was_found(keyboard: tuple[int, TextIO]) -> None:
    before = termios.tcgetattr(keyboard[1])
    with patience(keyboard[1]):
        meanwhile = termios.tcgetattr(keyboard[1])

    assert not meanwhile[LOCAL_MODES] & termios.ICANON
    assert termios.tcgetattr(keyboard[1]) == before


@pytest.mark.parametrize("typed", [None, io.StringIO("q")], ids=["closed", "a pipe"])
def test_where_nobody_types_it_only_waits(typed: TextIO | None) -> None:
    with patience(typed) as pause:
        assert pause(0.01)
