"""Repositories that no run can start in."""

from pathlib import Path

import pytest

from autopilot.app.wiring import user_repository
from autopilot.domain.errors import RepositoryInvalid
from autopilot.sandbox.processes.children import ChildProcesses
from support.repos import git, make_repo


def test_a_checkout_that_begins_further_up_is_refused(tmp_path: Path) -> None:
    """`core.worktree` puts the files of a repository elsewhere than next to its .git folder."""
    root = make_repo(tmp_path / "project", {"a.txt": "a\n"})
    git(root, "config", "core.worktree", "../..")

    with pytest.raises(RepositoryInvalid, match="lies inside a repository"):
        user_repository(root, ChildProcesses()).shape()
