"""What is kept of a stream, and how the end of a child is noticed."""

import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.sandbox.processes.pipes import Conversation, Kept

chunks = st.lists(st.binary(max_size=400), max_size=40)


@given(chunks, st.integers(min_value=1, max_value=2000))
def test_never_more_than_the_limit_and_everything_when_it_fits(given_chunks: list[bytes], limit: int) -> None:
    kept = Kept(limit)
    for chunk in given_chunks:
        kept.add(chunk)
    whole = b"".join(given_chunks)

    if len(whole) <= limit:
        assert kept.whole() == whole
    else:
        assert len(kept.whole()) <= max(limit, limit // 8 + 40)
        assert kept.whole().startswith(whole[: limit // 8])


@given(st.binary(min_size=2000, max_size=5000), st.integers(min_value=200, max_value=1500))
def test_the_end_is_kept_whatever_the_pieces(whole: bytes, limit: int) -> None:
    kept = Kept(limit)
    for start in range(0, len(whole), 97):
        kept.add(whole[start : start + 97])

    assert kept.whole().endswith(whole[-limit // 2 :])
    assert b"bytes left out" in kept.whole()


@pytest.mark.parametrize(("script", "ended"), [("cat; sleep 0.05", True), ("sleep 30", False)], ids=["ends", "hangs"])
def test_an_end_is_noticed_where_the_kernel_does_not_tell(script: str, ended: bool) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(["sh", "-c", script], stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as child:
        talk = Conversation(child, b"word", 100)

        assert talk._talk(time.monotonic() + (20 if ended else 0.1), None) is ended
        child.kill()
        talk.drain()
    assert talk.stdout.whole() == (b"word" if ended else b"")
