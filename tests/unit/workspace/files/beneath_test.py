"""Reading and writing below a folder that somebody hostile filled."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from autopilot.workspace.files import beneath
from autopilot.workspace.files.beneath import Refused, open_beneath, opened, read_regular, walk, write_atomic, write_new

WAYS = {"openat2": open_beneath, "by parts": lambda f, p, g: beneath._open_by_parts(f, p.split("/"), g)}


def plant(folder: Path, kind: str) -> None:
    target = folder / "x"
    match kind:
        case "link to a file":
            target.symlink_to("/etc/passwd")
        case "link inside":
            (folder / "real").write_text("secret")
            target.symlink_to("real")
        case "pipe":
            os.mkfifo(target)
        case "socket":
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(str(target))
        case "second name":
            (folder / "real").write_text("secret")
            target.hardlink_to(folder / "real")
        case "too big":
            target.write_bytes(b"x" * (beneath.MAX_BYTES + 1))
        case "folder":
            target.mkdir()


@pytest.mark.parametrize(
    "kind", ["link to a file", "link inside", "pipe", "socket", "second name", "too big", "folder"]
)
def test_nothing_but_a_plain_file_is_read(tmp_path: Path, kind: str) -> None:
    plant(tmp_path, kind)

    with opened(tmp_path) as top, pytest.raises(Refused):
        read_regular(top, "x")


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_no_folder_on_the_way_may_be_a_link(tmp_path: Path, way: Callable[[int, str, int], int]) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x").write_text("secret")
    (tmp_path / "top").mkdir()
    (tmp_path / "top" / "in").symlink_to("../outside")

    with opened(tmp_path / "top") as top, pytest.raises(OSError, match="in"):
        way(top, "in/x", os.O_RDONLY)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_a_file_deep_below_is_opened(tmp_path: Path, way: Callable[[int, str, int], int]) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "x").write_text("text")

    with opened(tmp_path) as top, os.fdopen(way(top, "a/b/x", os.O_RDONLY)) as file:
        assert file.read() == "text"


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../b", "a//b", "", ".", "a\0b"])
def test_a_path_that_leads_elsewhere_is_refused_before_it_is_tried(tmp_path: Path, path: str) -> None:
    with opened(tmp_path) as top, pytest.raises(ValueError, match="not a path below"):
        open_beneath(top, path, os.O_RDONLY)


def test_walking_lists_files_and_links_but_enters_no_link(tmp_path: Path) -> None:
    (tmp_path / "p" / "in").mkdir(parents=True)
    (tmp_path / "p" / "in" / "a").write_text("")
    (tmp_path / "p" / "away").symlink_to("/etc")

    with opened(tmp_path) as top:
        assert sorted(walk(top, "p")) == ["p/away", "p/in/a"]


def test_writing_goes_through_no_link(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "top").mkdir()
    (tmp_path / "top" / "in").symlink_to("../outside")

    with opened(tmp_path / "top") as top:
        for write in (write_new, write_atomic):
            with pytest.raises(NotADirectoryError):
                write(top, "in/x", b"text")
    assert not list((tmp_path / "outside").iterdir())


def test_a_file_is_replaced_whole_and_a_link_at_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "x").symlink_to("victim")

    with opened(tmp_path) as top:
        write_atomic(top, "x", b"new")

    assert ((tmp_path / "x").read_text(), (tmp_path / "victim").read_text()) == ("new", "mine")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["victim", "x"]
