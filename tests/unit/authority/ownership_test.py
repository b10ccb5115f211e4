"""The folder `.autopilot`: refused where git tracks it, where it is a link, and where it is not the user's."""

import os
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.app.ownership import own_home, state_checks
from autopilot.domain.errors import ConsentMissing
from support.repos import git, make_repo, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "project", {"notes.txt": "mine\n", "part/code.txt": "x\n"})


def track(root: Path, path: str) -> None:
    write(root, {path: "shipped\n"})
    git(root, "add", "-f", path)
    git(root, "commit", "-qm", "state")


def test_no_folder_and_an_own_folder_are_fine(root: Path) -> None:
    assert own_home(root) == root / ".autopilot"
    (root / ".autopilot").mkdir()
    assert own_home(root) == root / ".autopilot"
    assert list(state_checks(root)) == []


@pytest.mark.parametrize("path", [".autopilot/metrics.json", ".autopilot/a/b", ".Autopilot/journal.db"])
def test_whatever_git_tracks_there_is_refused_until_it_is_taken_out(root: Path, path: str) -> None:
    track(root, path)

    with pytest.raises(ConsentMissing, match="git tracks") as refused:
        own_home(root)
    assert f"git rm -r --cached {path.partition('/')[0]}" in refused.value.do
    assert [check.level for check in state_checks(root)] == ["fail"]
    git(root, "rm", "-rq", "--cached", path.partition("/")[0])
    (root / path).unlink()
    assert own_home(root) == root / ".autopilot"


def test_a_file_that_is_tracked_and_was_deleted_is_refused(root: Path) -> None:
    track(root, ".autopilot/lock")
    (root / ".autopilot" / "lock").unlink()

    with pytest.raises(ConsentMissing, match="git tracks"):
        own_home(root)


def test_only_the_project_s_own_folder_counts(root: Path) -> None:
    track(root, "part/.autopilot/lock")

    assert own_home(root) == root / ".autopilot"
    with pytest.raises(ConsentMissing, match="git tracks"):
        own_home(root / "part")


def test_a_repository_that_holds_the_user_s_own_folder_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(root))
    monkeypatch.setenv("XDG_STATE_HOME", str(root / ".local" / "state"))

    for folder in (root, root / "part"):
        with pytest.raises(ConsentMissing, match="lies in the repository"):
            own_home(folder)
        assert [check.level for check in state_checks(folder)] == ["fail"]


def test_a_repository_in_its_place_is_refused(root: Path) -> None:
    make_repo(root / ".autopilot", {"a": "1"})
    git(root, "add", "-f", ".autopilot")

    with pytest.raises(ConsentMissing, match="git tracks"):
        own_home(root)


@pytest.mark.parametrize("there", [True, False], ids=["to a folder", "to nothing"])
def test_a_link_is_refused(root: Path, there: bool) -> None:
    (root.parent / "elsewhere").mkdir() if there else None
    (root / ".autopilot").symlink_to(root.parent / "elsewhere")

    with pytest.raises(ConsentMissing, match="is a link"):
        own_home(root)
    assert (root.parent / "elsewhere").exists() == there


def test_a_file_in_its_place_is_refused(root: Path) -> None:
    (root / ".autopilot").write_text("")

    with pytest.raises(ConsentMissing, match="not a folder"):
        own_home(root)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: gives a folder to another user")
def test_one_of_another_user_is_refused(root: Path) -> None:
    (root / ".autopilot").mkdir()
    os.chown(root / ".autopilot", 4321, -1)

    with pytest.raises(ConsentMissing, match="belongs to another user"):
        own_home(root)


def test_doctor_tells_of_it(root: Path) -> None:
    track(root, ".autopilot/lock")

    assert [check.fix for check in app.examine(str(root)) if check.what == "state"] != []
