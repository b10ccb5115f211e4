"""Where transcripts are stored."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.agents.transcripts import Transcript, path_of, store


def entry(call: str) -> Transcript:
    return Transcript(call=call, command=("a",), stdin={}, stdout="o", stderr="e", exit=0, seconds=1.5)


@given(st.text(st.sampled_from("./\\~a1 \0é"), max_size=20))
def test_whatever_a_call_is_named_its_transcript_stays_inside(call: str) -> None:
    path = path_of(Path("/base"), call)

    assert path.is_relative_to("/base")
    assert ".." not in path.parts
    assert path.suffix == ".json"


def test_a_call_is_stored_under_its_own_path(tmp_path: Path) -> None:
    assert store(tmp_path, entry("r1/2.1/execute/3"))
    assert store(tmp_path, entry("r1/2.1/execute/3"))

    assert [str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()] == ["r1/2.1/execute/3.json"]
    stored = msgspec.json.decode((tmp_path / "r1/2.1/execute/3.json").read_bytes(), type=Transcript)
    assert stored == entry("r1/2.1/execute/3")


@pytest.mark.parametrize("blocked", ["r1", "r1/2/plan/1.json/x"], ids=["a file on the way", "a folder in its place"])
def test_a_transcript_that_cannot_be_stored_stops_nothing(tmp_path: Path, blocked: str) -> None:
    place = tmp_path / blocked
    place.parent.mkdir(parents=True, exist_ok=True)
    place.touch()

    assert not store(tmp_path, entry("r1/2/plan/1"))
    assert list(tmp_path.rglob("*.part")) == []
