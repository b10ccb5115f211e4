"""What a keeper writes down is followed while it is written: all of it, in order, in bounded files."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autopilot.sandbox.keeper.follow_output import Following
from autopilot.sandbox.keeper.keeper import Stream

ROOM = 16


def printed(stream: Stream, piece: bytes) -> None:
    os.write(stream.end, piece)
    stream.take()


def heard(following: Following) -> bytes:
    return b"".join(iter(following.more, b""))


def closed(stream: Stream, following: Following) -> None:
    following.close()
    for fd in (stream.pipe, stream.end, stream._file):
        os.close(fd)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(st.binary(min_size=1, max_size=ROOM), max_size=20))
def test_who_looks_once_a_turn_misses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pieces: list[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in tmp_path.iterdir():
        file.unlink()
    stream, following = Stream("out", ROOM), Following(tmp_path, "out", ROOM)
    taken = b""
    for piece in pieces:
        printed(stream, piece)
        taken += heard(following)

    closed(stream, following)
    assert taken == b"".join(pieces)


def test_who_looks_too_seldom_gets_the_beginning_and_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stream, following = Stream("out", ROOM), Following(tmp_path, "out", ROOM)
    printed(stream, b"a" * ROOM + b"b" * ROOM)
    first = heard(following)
    printed(stream, b"c" * ROOM + b"d" * ROOM + b"e" * 4)

    assert first == b"a" * ROOM + b"b" * ROOM
    assert heard(following) == b"\n" + b"d" * ROOM + b"e" * 4
    closed(stream, following)


def test_before_the_first_word_there_is_nothing_to_hear(tmp_path: Path) -> None:
    following = Following(tmp_path, "out", ROOM)

    assert following.more() == b""
    following.close()
