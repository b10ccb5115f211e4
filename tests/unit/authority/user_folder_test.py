"""The user's folder: for the owner alone, never of a repository, whole after any crash."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.authority.user_folder import UserFolder, user_folder_path
from autopilot.domain.errors import StorageFailed


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "autopilot"


def test_it_is_made_for_its_owner_alone(path: Path) -> None:
    folder = UserFolder(path)
    folder.write("trust.json", b"{}")
    folder.write("grants/run-1.json", b"{}")

    assert (mode(path), mode(path / "grants")) == (0o700, 0o700)
    assert (mode(path / "trust.json"), mode(path / "grants" / "run-1.json")) == (0o600, 0o600)


def test_one_that_others_could_read_is_tightened(path: Path) -> None:
    path.mkdir(parents=True)
    path.chmod(0o755)
    (path / "key").write_bytes(b"k" * 32)
    (path / "key").chmod(0o644)

    assert UserFolder(path).key() == b"k" * 32
    assert (mode(path), mode(path / "key")) == (0o700, 0o600)


def test_xdg_names_its_place_unless_it_is_relative() -> None:
    assert user_folder_path({"XDG_STATE_HOME": "/x", "HOME": "/h"}) == Path("/x/autopilot")
    plain = user_folder_path({"HOME": "/h"})
    assert plain == user_folder_path({"XDG_STATE_HOME": "x", "HOME": "/h"})
    assert plain == Path(
        "/h/Library/Application Support/autopilot" if sys.platform == "darwin" else "/h/.local/state/autopilot"
    )


def test_tests_have_a_folder_of_their_own() -> None:
    assert not user_folder_path().is_relative_to(Path.home() / ".local")


def test_a_link_is_refused(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    (tmp_path / "elsewhere").mkdir(mode=0o755)
    path.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StorageFailed, match="it is a link"):
        UserFolder(path)
    assert mode(tmp_path / "elsewhere") == 0o755


def test_a_link_to_nothing_is_refused_and_nothing_is_made(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StorageFailed, match="it is a link"):
        UserFolder(path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_in_its_place_is_refused(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("")

    with pytest.raises(StorageFailed, match="not a folder"):
        UserFolder(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: gives a folder to another user")
def test_a_folder_of_another_user_is_refused(path: Path) -> None:
    path.mkdir(parents=True)
    os.chown(path, 4321, -1)

    with pytest.raises(StorageFailed, match="belongs to another user"):
        UserFolder(path)


def test_a_folder_in_a_repository_is_refused_also_by_way_of_a_link(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", repository], check=True)
    (tmp_path / "link").symlink_to(repository)

    for parent in (repository / "state", tmp_path / "link" / "state"):
        with pytest.raises(StorageFailed, match="lies in the git repository"):
            UserFolder(parent / "autopilot")
    assert not (repository / "state").exists()


def test_a_home_that_is_a_repository_may_hold_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.setenv("HOME", str(tmp_path))

    assert len(UserFolder(tmp_path / ".local" / "state" / "autopilot").key()) == 32


def test_a_link_is_not_read_through(path: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"k" * 32)
    folder = UserFolder(path)
    (path / "key").symlink_to(tmp_path / "secret")
    (path / "grants").symlink_to(tmp_path)

    with pytest.raises(StorageFailed):
        folder.key()
    with pytest.raises(StorageFailed):
        folder.read("grants/secret")
    with pytest.raises(StorageFailed):
        folder.write("grants/fresh", b"")
    assert not (tmp_path / "fresh").exists()


def test_a_pipe_is_refused_and_does_not_block(path: Path) -> None:
    folder = UserFolder(path)
    os.mkfifo(path / "trust.json")

    with pytest.raises(StorageFailed, match="not a regular file"):
        folder.read("trust.json")


def test_the_key_is_made_once_by_many_at_the_same_time(path: Path) -> None:
    code = "import sys; from pathlib import Path; from autopilot.authority.user_folder import UserFolder\n"
    code += "sys.stdin.read(); sys.stdout.write(UserFolder(Path(sys.argv[1])).key().hex())"
    command = [sys.executable, "-c", code, str(path)]
    crowd = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    keys = {one.communicate()[0] for one in crowd}

    assert keys == {UserFolder(path).key().hex()}
    assert len(UserFolder(path).key()) == 32


def test_a_damaged_key_is_not_replaced(path: Path) -> None:
    folder = UserFolder(path)
    folder.write("key", b"short")

    with pytest.raises(StorageFailed, match="damaged"):
        folder.key()
    assert (path / "key").read_bytes() == b"short"


def test_what_is_not_there_is_none(path: Path) -> None:
    assert (UserFolder(path).read("trust.json"), UserFolder(path).read("grants/x.json")) == (None, None)


def test_what_was_written_is_read_until_it_is_removed(path: Path) -> None:
    folder = UserFolder(path)
    folder.write("grants/x.json", b"one")
    folder.write("grants/x.json", b"two")

    assert folder.read("grants/x.json") == b"two"
    folder.remove("grants/x.json")
    folder.remove("grants/x.json")
    assert folder.read("grants/x.json") is None


@given(st.text(alphabet="a./\\\0~-é", max_size=8))
def test_no_name_leads_elsewhere(name: str) -> None:
    parts = name.split("/")
    fine = len(parts) <= 2 and all(part.strip("a.-") == "" and part[:1] == "a" for part in parts)

    if not fine:
        with pytest.raises(ValueError, match="not a name"):
            UserFolder().read(name)
    else:
        assert UserFolder().read(name) is None


def test_changes_under_the_lock_are_not_lost(path: Path) -> None:
    UserFolder(path).write("count", b"0")

    def add() -> None:
        with UserFolder(path) as folder:
            for _ in range(20):
                with folder.locked("count"):
                    folder.write("count", str(int(folder.read("count") or b"0") + 1).encode())

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert UserFolder(path).read("count") == b"80"
