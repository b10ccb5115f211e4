"""What git's failures and the disk's become for the user, and what git is given to see."""

import errno
from pathlib import Path

import pytest

from autopilot.domain.errors import StorageFailed
from autopilot.domain.process import Ran
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.workspace.git import AGAIN, Git, git_failure, our_env, storage_errors, user_env


@pytest.mark.parametrize(
    ("exit_code", "said", "what", "do"),
    [
        (128, "fatal: write error: No space left on device", "disk full", "Free some space"),
        (128, "fatal: cannot mkdir x: Permission denied", "may not write", "writable"),
        (None, "", "took longer", "busy"),
        (1, "fatal: bad object", "exit code 1", "doctor"),
        (-9, "", "killed from outside (SIGKILL)", "autopilot resume"),
    ],
    ids=["full", "barred", "slow", "other", "killed"],
)
def test_each_failure_of_git_says_what_to_do(exit_code: int | None, said: str, what: str, do: str) -> None:
    error = git_failure("add", Ran(exit_code=exit_code, stdout=b"", stderr=said.encode(), seconds=0))

    assert what in error.what
    assert do in error.do
    assert error.why == (said or "It gave no reason.")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_disk_that_takes_no_more_is_no_crash(code: int) -> None:
    with pytest.raises(StorageFailed, match="writing failed"), storage_errors("writing"):
        raise OSError(code, "text", "/some/file")


def test_any_other_error_stays_what_it_is() -> None:
    with pytest.raises(NotADirectoryError), storage_errors("writing"):
        raise NotADirectoryError(errno.ENOTDIR, "text")


def test_our_git_sees_no_home_and_the_users_git_no_foreign_repository() -> None:
    env = {"HOME": "/home/ada", "PATH": "/bin", "GIT_DIR": "/x", "GIT_INDEX_FILE": "/y", "GIT_CONFIG_GLOBAL": "/z"}

    assert "/home/ada" not in our_env(env["PATH"]).values()
    seen = user_env(env)
    assert (seen["HOME"], seen["GIT_CONFIG_GLOBAL"]) == ("/home/ada", "/z")
    assert not {"GIT_DIR", "GIT_INDEX_FILE"} & seen.keys()


@pytest.mark.parametrize(("verb", "kills", "code"), [("rev-parse", 2, 0), ("rev-parse", 99, None), ("add", 1, None)])
def test_a_git_that_was_killed_is_run_again_where_it_leaves_no_lock(
    tmp_path: Path, verb: str, kills: int, code: int | None
) -> None:
    count = tmp_path / "count"
    script = f"echo x >> {count}; [ $(wc -l < {count}) -gt {kills} ] || kill -9 $$; exit 0"
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    git = Git(processes=ChildProcesses(), cwd=tmp_path, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, flags=())

    if code is None:
        with pytest.raises(StorageFailed, match="killed from outside"):
            git.run(verb)
    else:
        assert git.run(verb).exit_code == code
    assert count.read_text(encoding="utf-8").count("x") <= AGAIN + 1
