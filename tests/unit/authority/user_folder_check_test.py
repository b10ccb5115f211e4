"""What `autopilot doctor` says of the user's own folder, which it looks at and does not make."""

import os
from pathlib import Path

import pytest

from autopilot.app.ownership import user_folder_check
from autopilot.authority.user_folder import UserFolder
from autopilot.domain.request import Check
from support.repos import git, make_repo, write


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home" / "state"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def failed(told: str) -> Check:
    check = user_folder_check()
    assert (check.level, told in check.found) == ("fail", True), check
    assert "XDG_STATE_HOME" in check.fix
    return check


def test_one_that_is_not_there_yet_is_fine_and_is_not_made(home: Path) -> None:
    check = user_folder_check()

    assert (check.level, check.found) == ("ok", f"{home / 'state' / 'autopilot'} (made by your first run)")
    assert list(home.iterdir()) == []


def test_one_that_is_in_use_is_fine(home: Path) -> None:
    UserFolder().key()

    assert user_folder_check().found == str(home / "state" / "autopilot")


def test_a_file_in_its_place_or_above_it(home: Path) -> None:
    (home / "state").write_text("")
    failed(f"cannot be made: {home / 'state'} is not a folder")
    (home / "state").unlink()
    (home / "state").mkdir()
    (home / "state" / "autopilot").write_text("")
    failed("it is not a folder")


def test_a_link_in_its_place(home: Path) -> None:
    (home / "state").mkdir()
    (home / "state" / "autopilot").symlink_to(home)

    failed("it is a link")


def test_one_in_a_repository(home: Path) -> None:
    make_repo(home / "state", {"a": "1"})

    failed(f"it lies in the git repository {home / 'state'}")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: gives a folder to another user")
def test_one_of_another_user(home: Path) -> None:
    (home / "state" / "autopilot").mkdir(parents=True)
    os.chown(home / "state" / "autopilot", 4321, -1)

    failed("it belongs to another user")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_one_that_cannot_be_written(home: Path) -> None:
    home.chmod(0o500)
    try:
        failed(f"{home} is read-only for you")
    finally:
        home.chmod(0o700)


def test_a_damaged_key(home: Path) -> None:
    UserFolder().key()
    (home / "state" / "autopilot" / "key").write_bytes(b"short")
    check = user_folder_check()

    assert (check.level, "is damaged: it has 5 bytes" in check.found) == ("fail", True)


def test_a_relative_path_is_told_not_to_count(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    check = user_folder_check()

    assert (check.level, "a relative path does not count" in check.found) == ("warn", True)


def test_a_home_that_is_a_repository_should_ignore_it(home: Path) -> None:
    make_repo(home, {".profile": "x"})
    check = user_folder_check()
    assert (check.level, check.fix.endswith(f"echo '/state/autopilot/' >> {home / '.gitignore'}")) == ("warn", True)

    write(home, {".gitignore": "/state/autopilot/\n"})
    git(home, "add", ".gitignore")
    assert user_folder_check().level == "ok"
