"""Planning files on their way out and home."""

import os
from pathlib import Path

import pytest

from autopilot.domain.errors import RepositoryInvalid
from autopilot.workspace.files.planning_files import Homeward, overlay, snapshot, take_back
from autopilot.workspace.files.written import Written
from support.repos import write

LAID = {".planning/PLAN.md": "plan\n", ".planning/phases/01-x/CONTEXT.md": "context\n"}


@pytest.mark.parametrize(
    "path", ["src/a.py", ".planning", "../.planning/x", "/.planning/x", ".planning/../x", ".git/x"]
)
def test_nothing_outside_planning_can_be_laid(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="not a p"):
        overlay(tmp_path, {path: "text"})
    assert not list(tmp_path.iterdir())


def test_what_was_there_is_replaced_even_if_it_is_a_link(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", {"x": "mine"})
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / ".planning").symlink_to("../elsewhere")

    overlay(tmp_path / "t", LAID)
    assert take_back(tmp_path / "t", {}).changes == LAID
    assert (tmp_path / "elsewhere" / "x").read_text() == "mine"


def test_only_what_differs_is_taken_back(tmp_path: Path) -> None:
    laid = overlay(tmp_path, LAID)
    write(tmp_path, {".planning/PLAN.md": "better\n", ".planning/new.md": "new\n"})
    (tmp_path / ".planning/phases/01-x/CONTEXT.md").unlink()

    taken = take_back(tmp_path, laid)
    assert taken.changes == {
        ".planning/PLAN.md": "better\n", ".planning/new.md": "new\n", ".planning/phases/01-x/CONTEXT.md": None,
    }  # fmt: skip
    assert taken.refused == ()


def test_what_is_not_a_plain_text_file_is_named_and_not_read(tmp_path: Path) -> None:
    laid = overlay(tmp_path, LAID)
    planning = tmp_path / ".planning"
    (planning / "PLAN.md").unlink()
    (planning / "PLAN.md").symlink_to("/etc/passwd")
    os.mkfifo(planning / "pipe")
    (planning / "phases" / "away").symlink_to("/etc")
    (planning / "twice").hardlink_to(planning / "phases/01-x/CONTEXT.md")

    taken = take_back(tmp_path, laid)
    assert taken.changes == {}
    assert [line.split(":")[0] for line in taken.refused] == [
        ".planning/PLAN.md", ".planning/phases/01-x/CONTEXT.md", ".planning/phases/away", ".planning/pipe",
        ".planning/twice",
    ]  # fmt: skip


def test_a_planning_folder_swapped_for_a_link_is_refused_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / ".planning").symlink_to("/etc")

    assert take_back(tmp_path, {}).refused == (".planning: a link",)


def test_the_snapshot_holds_text_only(tmp_path: Path) -> None:
    write(tmp_path, LAID)
    (tmp_path / ".planning" / "shot.png").write_bytes(b"\x89PNG\0\0")
    (tmp_path / ".planning" / "secret").symlink_to("/etc/passwd")

    assert snapshot(tmp_path) == LAID


def test_a_linked_planning_folder_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / ".planning").symlink_to("/etc")

    with pytest.raises(RepositoryInvalid, match="is a link") as error:
        snapshot(tmp_path)
    assert error.value.do


def homeward(root: Path, known: dict[str, str]) -> Homeward:
    return Homeward(root, Written(root / "written.json"), known)


def test_our_own_earlier_text_and_the_snapshot_are_overwritten(tmp_path: Path) -> None:
    write(tmp_path, LAID)
    home = homeward(tmp_path, LAID)

    assert home.write({".planning/PLAN.md": "one"}) == ()
    assert home.write({".planning/PLAN.md": "two", ".planning/phases/01-x/SUMMARY.md": "new"}) == ()
    assert (tmp_path / ".planning/PLAN.md").read_text() == "two"
    assert (tmp_path / ".planning/phases/01-x/SUMMARY.md").read_text() == "new"


def test_a_file_the_user_changed_is_left_and_ours_goes_beside_it(tmp_path: Path) -> None:
    write(tmp_path, {".planning/PLAN.md": "edited", ".planning/PLAN.autopilot.md": "also edited"})
    home = homeward(tmp_path, LAID)

    notes = home.write({".planning/PLAN.md": "ours"})
    assert notes == (
        ".planning/PLAN.md was changed meanwhile and is left alone; ours is .planning/PLAN.autopilot-2.md",
    )
    assert (tmp_path / ".planning/PLAN.md").read_text() == "edited"
    assert (tmp_path / ".planning/PLAN.autopilot.md").read_text() == "also edited"
    assert home.acceptable({".planning/PLAN.md": "ours", ".planning/X.md": "x"}) == {".planning/X.md": "x"}


def test_a_user_file_that_is_a_link_is_never_written_through(tmp_path: Path) -> None:
    write(tmp_path, {"mine": "mine", ".planning/x.md": ""})
    (tmp_path / ".planning" / "PLAN.md").symlink_to("../mine")

    homeward(tmp_path, {}).write({".planning/PLAN.md": "ours"})
    assert (tmp_path / "mine").read_text() == "mine"
    assert (tmp_path / ".planning/PLAN.autopilot.md").read_text() == "ours"


@pytest.mark.parametrize("left", ["nothing", "a link", "a file"])
def test_of_a_folder_its_agent_did_away_with_nothing_is_left(tmp_path: Path, left: str) -> None:
    write(tmp_path / "elsewhere", {".planning/PLAN.md": "another\n"})
    folder = tmp_path / "folder"
    if left != "nothing":
        folder.symlink_to("elsewhere") if left == "a link" else folder.touch()

    assert take_back(folder, LAID).changes == dict.fromkeys(LAID)
