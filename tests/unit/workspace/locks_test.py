"""A lock is removed only where nobody can be holding it."""

import subprocess
import time
from pathlib import Path

import pytest

from autopilot.workspace.locks import clear_ref_lock, in_use, remove_locks
from support.waiting import PATIENCE_S


@pytest.mark.parametrize(("content", "goes"), [("", True), ("target\n", True), ("other\n", False)])
def test_only_our_own_forgotten_lock_is_removed(tmp_path: Path, content: str, goes: bool) -> None:
    lock = tmp_path / "main.lock"
    lock.write_text(content)

    assert clear_ref_lock(lock, "target", tmp_path / "repository", patience_s=0.1) is goes
    assert lock.exists() is not goes


def test_where_there_is_no_lock_nobody_waits(tmp_path: Path) -> None:
    begun = time.monotonic()

    assert clear_ref_lock(tmp_path / "main.lock", "target", tmp_path, patience_s=3000)
    assert time.monotonic() - begun < PATIENCE_S


def test_a_lock_some_process_has_open_is_in_use(tmp_path: Path) -> None:
    lock = tmp_path / "main.lock"
    with subprocess.Popen(["sh", "-c", f"exec 3>{lock}; echo; read x"], stdin=-1, stdout=-1) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        held = in_use(lock, tmp_path / "repository")
        holder.kill()
    assert held
    assert not in_use(lock, tmp_path / "repository")


def test_every_lock_below_a_folder_of_ours_goes(tmp_path: Path) -> None:
    (tmp_path / "refs").mkdir()
    for name in ("refs/x.lock", "HEAD.lock", "HEAD"):
        (tmp_path / name).write_text("")

    remove_locks(tmp_path)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["HEAD", "refs"]
