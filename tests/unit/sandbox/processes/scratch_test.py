"""A temporary folder is gone with its process, or with the next one that comes by."""

import subprocess
import sys
from pathlib import Path

from autopilot.sandbox.processes.scratch import PREFIX, clear_abandoned, scratch_folder

HOLDER = """
import sys, time
from autopilot.sandbox.processes.scratch import scratch_folder
with scratch_folder(sys.argv[1]) as scratch:
    print(scratch.path, flush=True)
    time.sleep(60)
"""


def test_a_folder_is_private_and_gone_afterwards(tmp_path: Path) -> None:
    with scratch_folder(str(tmp_path)) as scratch:
        assert Path(scratch.path).stat().st_mode & 0o777 == 0o700
        (Path(scratch.path) / "note").write_text("x", encoding="utf-8")

    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_use_is_not_taken_for_an_abandoned_one(tmp_path: Path) -> None:
    with scratch_folder(str(tmp_path)) as scratch:
        assert clear_abandoned(str(tmp_path)) == 0
        assert Path(scratch.path).is_dir()


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        path = Path(holder.stdout.readline().strip())
        alive = clear_abandoned(str(tmp_path))
        holder.kill()

    assert (alive, path.is_dir()) == (0, True)
    assert (clear_abandoned(str(tmp_path)), path.exists()) == (1, False)


def test_other_files_and_links_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "mine")
    (tmp_path / f"{PREFIX}file").touch()

    assert clear_abandoned(str(tmp_path)) == 0
    assert len(list(tmp_path.iterdir())) == 3
