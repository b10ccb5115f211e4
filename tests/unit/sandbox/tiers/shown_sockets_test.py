"""Sockets in the folders a command is shown: found by the kernel's own list, whatever way leads to them."""

import socket
from pathlib import Path

from autopilot.sandbox.tiers.bubblewrap import sockets_in

HEAD = "Num       RefCount Protocol Flags    Type St Inode Path\n"
LINE = "0000000000000000: 00000002 00000000 00010000 0001 01 12345 {}\n"


def listing(folder: Path, *names: str) -> str:
    path = folder / "listing"
    path.write_text(HEAD + "".join(LINE.format(name) for name in names), encoding="utf-8")
    return str(path)


def made(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))
    return str(path)


def test_a_socket_is_found_by_every_name_of_the_folder_it_is_shown_in(tmp_path: Path) -> None:
    name = made(tmp_path / "tools" / "in side" / "socket")
    (tmp_path / "link").symlink_to(tmp_path / "tools")
    given = listing(tmp_path, str(tmp_path / "link" / "in side" / "socket"))

    assert list(sockets_in([str(tmp_path / "tools"), str(tmp_path / "link")], "/nowhere", given)) == [
        name,
        str(tmp_path / "link" / "in side" / "socket"),
    ]


def test_what_is_gone_elsewhere_abstract_or_its_own_is_left_alone(tmp_path: Path) -> None:
    own = made(tmp_path / "tools" / "checkout" / "own")
    given = listing(tmp_path, own, str(tmp_path / "tools/gone"), "/run/other", "@abstract", "")

    assert list(sockets_in([str(tmp_path / "tools")], str(tmp_path / "tools/checkout"), given)) == []


def test_without_a_list_nothing_is_hidden(tmp_path: Path) -> None:
    assert list(sockets_in([str(tmp_path)], "/nowhere", str(tmp_path / "missing"))) == []
