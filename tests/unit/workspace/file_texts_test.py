"""Texts of a change, read from our own repository without a checkout."""

from pathlib import Path

import pytest

from autopilot.evidence.tamper.file_pairs import is_test
from autopilot.workspace.file_texts import MOST_BYTES
from support.workspaces import Bench, make_bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path, {"a.txt": "a\n", "gone.txt": "g\n", "tests/test_a.py": "x = 1\n", "b.py": "y\n"})


def test_a_change_is_read_on_both_sides_without_a_checkout(bench: Bench) -> None:
    commit = bench.seal({"a.txt": "b\n", "gone.txt": None, "new.txt": "n\n"})

    sides = {
        f.path: (f.before and f.before.text, f.after and f.after.text)
        for f in bench.workspace.texts(bench.base, commit)
    }

    assert sides == {"a.txt": ("a\n", "b\n"), "gone.txt": ("g\n", None), "new.txt": (None, "n\n")}


def test_what_is_too_big_or_no_text_is_there_without_its_text(bench: Bench) -> None:
    commit = bench.seal({"big.txt": "x" * (MOST_BYTES + 1), "raw.bin": "a\0b", "empty": ""})

    found = {f.path: f.after for f in bench.workspace.texts(bench.base, commit)}

    assert {path: side and side.text for path, side in found.items()} == {"big.txt": None, "raw.bin": None, "empty": ""}
    assert found["big.txt"] is not None
    assert found["big.txt"].size == MOST_BYTES + 1


def test_a_link_is_read_as_where_it_points(bench: Bench) -> None:
    folder = Path(bench.workspace.clone(bench.base, {}))
    (folder / "link").symlink_to("/etc/passwd")
    commit = bench.workspace.seal(str(folder), bench.base, "x\n").commit

    (found,) = bench.workspace.texts(bench.base, commit)

    assert found.after is not None
    assert (found.after.mode, found.after.text) == ("120000", "/etc/passwd")


def test_an_unchanged_tree_has_no_texts(bench: Bench) -> None:
    assert bench.workspace.texts(bench.base, bench.base) == ()


def test_only_wanted_files_of_a_commit_are_read(bench: Bench) -> None:
    assert bench.workspace.wanted_texts(bench.base, is_test) == {"tests/test_a.py": "x = 1\n"}
