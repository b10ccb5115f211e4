"""Removing what an agent left, whatever it did to it."""

import os
from pathlib import Path

from autopilot.workspace.files.removal import make_plain, remove, remove_below, tidy_modes


def test_links_are_removed_and_what_they_point_to_stays(tmp_path: Path) -> None:
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep" / "x").write_text("mine")
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "link").symlink_to(tmp_path / "keep")

    remove(tmp_path / "t")
    assert [p.name for p in tmp_path.iterdir()] == ["keep"]
    assert (tmp_path / "keep" / "x").read_text() == "mine"


def test_folders_without_any_permission_are_removed(tmp_path: Path) -> None:
    deep = tmp_path / "t" / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "x").write_text("")
    for folder in (deep, deep.parent):
        folder.chmod(0)

    remove(tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_no_depth_is_too_deep(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)

    remove(tmp_path / "d")
    assert not list(tmp_path.iterdir())


def test_what_is_not_there_is_removed_already(tmp_path: Path) -> None:
    remove(tmp_path / "x")
    remove(tmp_path / "no" / "x")


def test_a_link_on_the_way_below_a_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "keep" / "lib").mkdir(parents=True)
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "vendor").symlink_to(tmp_path / "keep")

    remove_below(tmp_path / "t", "vendor/lib")
    assert (tmp_path / "keep" / "lib").is_dir()


def test_tidied_folders_can_be_written_by_their_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b").chmod(0o777)
    (tmp_path / "a").chmod(0o500)

    tidy_modes(tmp_path)
    assert [oct(p.stat().st_mode & 0o7777) for p in (tmp_path / "a", tmp_path / "a" / "b")] == ["0o700", "0o755"]


def test_plain_means_no_repository_inside_no_pipe_and_all_readable(tmp_path: Path) -> None:
    for folder in (".git", "in/.git", "in/deep"):
        (tmp_path / folder).mkdir(parents=True)
    os.mkfifo(tmp_path / "in" / "pipe")
    (tmp_path / "in" / "deep" / ".git").write_text("gitdir: /elsewhere")
    (tmp_path / "in" / "x").write_text("")
    (tmp_path / "in" / "x").chmod(0)

    make_plain(tmp_path)
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")) == [".git", "in", "in/deep", "in/x"]
    assert (tmp_path / "in" / "x").stat().st_mode & 0o400
