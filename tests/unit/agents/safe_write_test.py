"""Edits beneath one folder: links are not followed and nothing outside is touched."""

from pathlib import Path

import pytest

from autopilot.agents import safe_write as placing


@pytest.mark.parametrize("path", ["", ".", "..", "../x", "a/../../x", "/etc/x", "a\0b"])
def test_paths_that_are_not_beneath(path: str) -> None:
    assert not placing.is_beneath(path)


def test_files_are_written_made_executable_and_removed(tmp_path: Path) -> None:
    placing.write(str(tmp_path), "a/b/run.sh", "#!/bin/sh\n")
    placing.make_executable(str(tmp_path), "a/b/run.sh")

    assert (tmp_path / "a/b/run.sh").read_text() == "#!/bin/sh\n"
    assert (tmp_path / "a/b/run.sh").stat().st_mode & 0o111 == 0o111
    placing.remove(str(tmp_path), "a/b/run.sh")
    placing.remove(str(tmp_path), "never/was")
    assert not (tmp_path / "a/b/run.sh").exists()


def test_neither_a_link_to_a_file_nor_one_to_a_folder_is_written_through(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "kept").write_text("kept")
    (inside / "file").symlink_to(outside / "kept")
    (inside / "folder").symlink_to(outside)

    for path in ("file", "folder/new"):
        with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
            placing.write(str(inside), path, "x")
    assert [p.name for p in outside.iterdir()] == ["kept"]
    assert (outside / "kept").read_text() == "kept"
