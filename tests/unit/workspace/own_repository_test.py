"""Reading what git prints, and naming objects as git does."""

import pytest

from autopilot.workspace.landing import index_info
from autopilot.workspace.own_repository import Touched, is_ours_alone, object_id, parse_difference, quoted, safe_name

A, B, ZERO = "a" * 40, "b" * 40, "0" * 40


def test_a_difference_is_read_with_modes_lines_and_odd_names() -> None:
    raw = f":100644 100644 {A} {B} M\0:odd\nname\0:000000 120000 {ZERO} {B} A\0link\0".encode()
    found = parse_difference(raw + b"3\t1\t:odd\nname\0-\t-\tlink\0")

    assert found.touched == (
        Touched(path=":odd\nname", old=("100644", A), new=("100644", B), status="M"),
        Touched(path="link", old=None, new=("120000", B), status="A"),
    )
    assert (found.added, found.removed, found.new_links) == (3, 1, ())


def test_a_new_repository_inside_is_noticed() -> None:
    assert parse_difference(f":000000 160000 {ZERO} {B} A\0sub\0".encode()).new_links == ("sub",)


@pytest.mark.parametrize(
    ("like", "expected"),
    [("0" * 40, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"), ("0" * 64, "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813")],
    ids=["sha1", "sha256"],
)  # fmt: skip
def test_objects_are_named_as_git_names_them(like: str, expected: str) -> None:
    assert object_id("blob", b"", like=like) == expected


def test_removals_come_first_so_that_a_file_may_become_a_folder() -> None:
    gone = Touched(path="a", old=("100644", A), new=None, status="D")
    made = Touched(path="a/b", old=None, new=("100644", B), status="A")

    assert index_info((made, gone)) == f"0 {ZERO}\ta\0".encode() + f"100644 {B} 0\ta/b\0".encode()


@pytest.mark.parametrize(
    ("text", "name"), [("run/03/execute/1", "run-03-execute-1"), ("../../x", "x"), ("..", "step"), ("a b~^:", "a-b")]
)
def test_any_text_gives_a_name_that_fits_in_a_ref(text: str, name: str) -> None:
    assert safe_name(text) == name


def test_names_are_quoted_for_git() -> None:
    assert quoted('a "b"\\\n') == '"a \\"b\\"\\\\\\n"'


@pytest.mark.parametrize(
    ("name", "ours"),
    [(b".planning", True), (b".autopilot", True), (b"x.planning", False), (b"x\t.planning", False), (b"a", False)],
)
def test_only_our_own_folders_are_left_out_of_what_is_judged(name: bytes, ours: bool) -> None:
    assert is_ours_alone(b"040000 tree " + A.encode() + b"\t" + name) == ours
