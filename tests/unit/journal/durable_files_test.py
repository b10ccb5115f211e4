"""Files hold the old or the new content, never half of one, and never vanish."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autopilot.domain.errors import StorageFailed
from autopilot.journal.durable_files import clear_torn, make_folder, replace_with_backup, write_atomic
from support.powers import writes_anywhere


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_content_is_replaced_and_nothing_is_left_behind(tmp_path: Path) -> None:
    for content in (b"one", b"", b"three" * 100_000):
        write_atomic(tmp_path / "file", content)
        assert (tmp_path / "file").read_bytes() == content
    assert names(tmp_path) == {"file"}


def test_permissions_are_kept(tmp_path: Path) -> None:
    write_atomic(tmp_path / "file", b"one")
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644
    (tmp_path / "file").chmod(0o600)
    write_atomic(tmp_path / "file", b"two")
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("write", [write_atomic, replace_with_backup])
@pytest.mark.parametrize(
    "folder",
    [
        "no/such/folder",
        "a file",
        pytest.param("/proc/self", marks=pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")),
        pytest.param("read-only", marks=pytest.mark.skipif(writes_anywhere(), reason="this user may write anywhere")),
    ],
)
def test_trouble_names_the_path(tmp_path: Path, write: Callable[[Path, bytes], None], folder: str) -> None:
    (tmp_path / "a file").write_text("")
    (tmp_path / "read-only").mkdir(mode=0o500)

    with pytest.raises(StorageFailed, match=f"{folder}/file") as caught:
        write(tmp_path / folder / "file", b"content")
    assert caught.value.why
    assert caught.value.do


def test_a_target_that_cannot_be_replaced_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()

    for write in (write_atomic, replace_with_backup):
        with pytest.raises(StorageFailed):
            write(tmp_path / "file", b"content")
    assert names(tmp_path) == {"file"}


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")

    with pytest.raises(StorageFailed, match="taken"):
        make_folder(tmp_path / "taken" / "folder")


@pytest.mark.parametrize("write", [write_atomic, replace_with_backup])
def test_a_write_that_stops_half_way_changes_nothing(tmp_path: Path, write: Callable[[Path, bytes], None]) -> None:
    write(tmp_path / "file", b"whole")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(StorageFailed, match="File too large"):
            write(tmp_path / "file", b"x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert (tmp_path / "file").read_bytes() == b"whole"
    assert names(tmp_path) == {"file"}


def test_the_content_before_is_the_backup(tmp_path: Path) -> None:
    path, backup = tmp_path / "state.json", tmp_path / "state.json.backup"
    replace_with_backup(path, b"1")
    assert names(tmp_path) == {"state.json"}
    for number in range(2, 5):
        replace_with_backup(path, b"%d" % number)
        assert path.read_bytes() == b"%d" % number
        assert backup.read_bytes() == b"%d" % (number - 1)
    assert names(tmp_path) == {"state.json", "state.json.backup"}


def test_what_a_killed_writer_left_is_removed_and_a_writer_at_work_is_let_be(tmp_path: Path) -> None:
    old, young, kept = tmp_path / "archive" / ".run.json.a1.tmp", tmp_path / ".state.json.b2.tmp", tmp_path / "mine.tmp"
    make_folder(old.parent)
    for path in (old, young, kept):
        path.touch()
    for path in (old, kept):
        os.utime(path, (0, 0))

    assert clear_torn(tmp_path) == 1
    assert (old.exists(), young.exists(), kept.exists()) == (False, True, True)


def test_leftovers_of_a_crash_are_no_obstacle(tmp_path: Path) -> None:
    """Cut off with the backup already a link of the file, and once more with the spare link still there."""
    path, backup = tmp_path / "state.json", tmp_path / "state.json.backup"
    path.write_bytes(b"1")
    os.link(path, backup)
    os.link(path, tmp_path / ".state.json.backup.tmp")
    replace_with_backup(path, b"2")

    assert (path.read_bytes(), backup.read_bytes()) == (b"2", b"1")
    assert names(tmp_path) == {"state.json", "state.json.backup"}


STOPPED = """
import os, sys
from pathlib import Path
from autopilot.journal import durable_files as files

def stop_at(event, args):
    global left
    if event in ("os.link", "os.rename", "os.remove", "open", "os.listdir", "tempfile.mkstemp"):
        if event == "open" and "state.json" not in str(args[0]):
            return
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 9)

left = int(sys.argv[2])
sys.addaudithook(stop_at)
files.replace_with_backup(Path(sys.argv[1]), b'{"new": true}')
"""


def test_a_crash_at_any_point_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    ends = list[int]()
    for stop in range(1, 12):
        path.write_bytes(b'{"old": true}')
        done = subprocess.run([sys.executable, "-c", STOPPED, str(path), str(stop)], check=False)
        ends.append(done.returncode)
        assert path.read_bytes() in {b'{"old": true}', b'{"new": true}'}
        if done.returncode == 0:
            break
    assert ends[-1] == 0
    assert len(ends) > 4
