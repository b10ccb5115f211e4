"""Refuses state that is not the user's own, and work in a repository that holds the user's own folder."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from autopilot.authority.seal import place_of
from autopilot.authority.user_folder import user_folder_path
from autopilot.domain.checkup import Check
from autopilot.domain.errors import AutopilotError, ConsentMissing
from autopilot.hiring import processes_of
from autopilot.journal.sqlite import require_own
from autopilot.workspace.git import COMMON, Git, user_env

WHY = "Autopilot goes by what it finds there. State that came with a repository could start anything in your name."


def own_home(root: Path) -> Path:
    """The folder `.autopilot` for who writes to it. Raises `ConsentMissing` where it, or its journal, is not theirs."""
    home = root / ".autopilot"
    check_outside(root)
    check_folder(home)
    check_untracked(root)
    require_own(home / "journal.db")
    return home


def check_outside(root: Path) -> None:
    """What a run lands is written into the repository, so the user's own folder must not be there."""
    own, here = user_folder_path(), root.resolve()
    top = next((above for above in (here, *here.parents) if (above / ".git").exists()), here)
    if own.resolve().is_relative_to(top):
        raise ConsentMissing(
            f"{own} lies in the repository {top}.",
            why="It keeps your key and what you have allowed, and work that a run lands could write there.",
            do="Set XDG_STATE_HOME to a folder outside of it.",
        )


def check_folder(home: Path) -> None:
    try:
        found = home.lstat()
    except FileNotFoundError:
        return
    away = f"Look at it, then move it away: mv {home} {home}.aside"
    if stat.S_ISLNK(found.st_mode):
        raise ConsentMissing(f"{home} is a link.", why=WHY, do=away)
    if not stat.S_ISDIR(found.st_mode):
        raise ConsentMissing(f"{home} is not a folder.", why=WHY, do=away)
    if found.st_uid != os.geteuid():
        raise ConsentMissing(f"{home} belongs to another user.", why=WHY, do=away)


def check_untracked(root: Path) -> None:
    """By the index, in whatever case the name is written: some file systems take `.Autopilot` for the same."""
    if not place_of(root).inode:
        return
    git = Git(processes=processes_of(root), cwd=root, env=user_env(os.environ), flags=COMMON)
    found = git.run("ls-files", "-z", "--", ":(icase).autopilot").stdout.decode("utf-8", "replace").split("\0")[0]
    if found:
        folder = found.partition("/")[0]
        raise ConsentMissing(
            f"git tracks {found}, which is state of Autopilot.",
            why=WHY,
            do=f"Take it out of the repository: git rm -r --cached {folder} && git commit. "
            f"If you did not run Autopilot here yourself, remove the folder too: rm -r {folder}",
        )


def state_checks(root: Path) -> Iterator[Check]:
    """For `autopilot doctor`: only what is wrong with the folder."""
    try:
        check_outside(root)
        check_folder(root / ".autopilot")
        check_untracked(root)
    except AutopilotError as error:
        yield Check(level="fail", what="state", found=f"{error.what} {error.why}", fix=error.do)
