"""The record of our own texts: added to, shared, and never believed further than it is whole."""

from pathlib import Path

import pytest

from autopilot.workspace.files.written import Written


def test_what_was_added_is_held_by_all_who_look(tmp_path: Path) -> None:
    one, other = Written(tmp_path / "w"), Written(tmp_path / "w")
    assert not one.holds("a", "text")

    one.add({"a": "text"})
    other.add({"b": "more"})
    one.add({"a": "new text"})

    for each in (one, other, Written(tmp_path / "w")):
        assert each.holds("a", "text")
        assert each.holds("a", "new text")
        assert each.holds("b", "more")
        assert not each.holds("b", "text")


@pytest.mark.parametrize("kept", range(200))
def test_a_record_cut_anywhere_holds_its_whole_lines_and_can_be_added_to(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "w"
    Written(path).add({"a": "1"})
    first = path.stat().st_size
    Written(path).add({"b": "2"})
    path.write_bytes(path.read_bytes()[: min(kept, path.stat().st_size)])

    cut = Written(path)
    assert cut.holds("a", "1") is (kept >= first - 1)
    cut.add({"c": "3"})
    assert cut.holds("c", "3")
    assert Written(path).holds("c", "3")


def test_a_record_of_one_object_as_older_versions_wrote_it_is_read_and_added_to(tmp_path: Path) -> None:
    path = tmp_path / "w"
    Written(path).add({"a": "1"})
    path.write_bytes(path.read_bytes().rstrip())

    Written(path).add({"b": "2"})
    assert Written(path).holds("a", "1")
    assert Written(path).holds("b", "2")
