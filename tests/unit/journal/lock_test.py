"""One run a repository, and the lock is free the moment its owner is gone."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from autopilot.domain.errors import RunLocked, StorageFailed
from autopilot.journal.lock import Owner, RunLock, alive, birth_of, boot_id, owner
from support.waiting import soon

HOLD = """
import sys, time
from pathlib import Path
from autopilot.domain.errors import RunLocked
from autopilot.journal.lock import RunLock
try:
    with RunLock(Path(sys.argv[1]), run="run-1"):
        print("won", flush=True)
        sys.stdin.read()
except RunLocked as locked:
    print("lost", locked.exit_code, flush=True)
"""


def starter(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def ended(process: subprocess.Popen[str]) -> None:
    process.communicate()


def test_of_many_starts_one_wins_and_a_kill_frees_the_lock(tmp_path: Path) -> None:
    starters = [starter(tmp_path) for _ in range(20)]
    words = [s.stdout.readline().strip() for s in starters if s.stdout]
    winner = starters[words.index("won")]
    holder = owner(tmp_path)

    assert sorted(words) == ["lost 75"] * 19 + ["won"]
    assert holder is not None
    assert (holder.pid, holder.run, alive(holder)) == (winner.pid, "run-1", True)

    winner.send_signal(signal.SIGKILL)
    for process in starters:
        ended(process)
    assert not alive(holder)
    assert owner(tmp_path) is None
    with RunLock(tmp_path):
        assert (tmp_path / "lock").read_bytes()


def test_a_held_lock_says_who_and_how_to_stop_it(tmp_path: Path) -> None:
    with RunLock(tmp_path, run="run-7"), pytest.raises(RunLocked) as caught, RunLock(tmp_path):
        pass

    assert caught.value.exit_code == 75
    assert f"process {os.getpid()} (run-7)" in caught.value.what
    assert "autopilot stop" in caught.value.do
    assert f"kill {os.getpid()}" in caught.value.do


def test_the_owner_is_known_while_it_holds_the_lock_only(tmp_path: Path) -> None:
    assert owner(tmp_path) is None
    with RunLock(tmp_path) as lock:
        lock.name_run("run-2026-01-01-120000")
        holder = owner(tmp_path)
    assert holder is not None
    assert holder.pid == os.getpid()
    assert holder.run == "run-2026-01-01-120000"
    assert owner(tmp_path) is None
    assert (tmp_path / "lock").exists()


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b'{"pid": "x"}', b'{"pid": 1, "run": "old"}' + b" " * 5000]
)
def test_what_an_earlier_owner_left_is_no_obstacle(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "lock").write_bytes(content)

    assert owner(tmp_path) is None
    with RunLock(tmp_path):
        assert msgspec.json.decode((tmp_path / "lock").read_bytes(), type=Owner).pid == os.getpid()


def test_an_owner_that_has_not_given_its_name_still_locks(tmp_path: Path) -> None:
    with RunLock(tmp_path):
        os.truncate(tmp_path / "lock", 0)
        assert owner(tmp_path) == Owner(pid=0)
        with pytest.raises(RunLocked, match="has not given its number"), RunLock(tmp_path):
            pass


LEAVE_A_CHILD = """
import subprocess, sys, time
from pathlib import Path
from autopilot.journal.lock import RunLock
with RunLock(Path(sys.argv[1])):
    child = subprocess.Popen(["sleep", "30"], close_fds=False, stdout=subprocess.DEVNULL)
    print(child.pid, flush=True)
    time.sleep(30)
"""


def test_a_child_that_outlives_the_owner_does_not_hold_the_lock(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LEAVE_A_CHILD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert owner(tmp_path) is not None
        parent.kill()
        parent.wait()

    with RunLock(tmp_path):
        os.kill(child, signal.SIGKILL)


def test_a_look_at_the_owner_does_not_keep_a_run_from_starting(tmp_path: Path) -> None:
    for _ in range(50):
        with RunLock(tmp_path):
            pass
        assert owner(tmp_path) is None


def test_another_process_with_the_same_number_is_not_the_owner() -> None:
    me = Owner(pid=os.getpid(), birth=birth_of(os.getpid()), boot=boot_id())

    assert alive(me)
    assert not alive(msgspec.structs.replace(me, birth="1"))
    assert not alive(msgspec.structs.replace(me, boot="another boot"))
    assert not alive(msgspec.structs.replace(me, pid=0))


def test_a_zombie_is_not_alive() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    known = Owner(pid=child.pid, birth=birth_of(child.pid), boot=boot_id())
    assert alive(known)
    child.kill()
    assert soon(lambda: not alive(known))
    child.communicate()
    assert birth_of(child.pid) == ""


def test_a_lock_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()

    with pytest.raises(StorageFailed, match="lock"), RunLock(tmp_path):
        pass
