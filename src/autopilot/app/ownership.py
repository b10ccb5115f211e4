"""Refuses state that is not the user's own, and work in a repository that holds the user's own folder."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from autopilot.app.wiring import looked_at, processes_of
from autopilot.authority.seal import place_of
from autopilot.authority.user_folder import ELSEWHERE, UserFolder, check_place, user_folder_path
from autopilot.domain.errors import AutopilotError, ConsentMissing
from autopilot.domain.request import Check, Level
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


def refusal(root: Path) -> ConsentMissing | None:
    """What every verb that writes would end with; None where the state is the user's. For who only looks."""
    try:
        own_home(root)
    except ConsentMissing as error:
        return error
    return None


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


def user_folder_check() -> Check:
    """For `autopilot doctor`: whether the user's own folder can be used. One that is not there yet is not made."""
    path, named = user_folder_path(), os.environ.get("XDG_STATE_HOME", "")
    level: Level = "fail"
    found, fix = _unusable(path)
    if not found and named and not Path(named).is_absolute():
        level, found = "warn", f"{path}, because XDG_STATE_HOME is {named!r}: a relative path does not count."
        fix = "Set XDG_STATE_HOME to a full path, or unset it."
    if not found and (home := _repository_of_home(path)):
        level, found = "warn", f"{path} is in the git repository of your home, {home}, which does not ignore it."
        fix = f"So that your key is never committed: echo '/{path.relative_to(home)}/' >> {home / '.gitignore'}"
    if not found:
        level, found = "ok", f"{path}{'' if path.exists() else ' (made by your first run)'}"
    return Check(level=level, what="your folder", found=found, fix=fix)


def _unusable(path: Path) -> tuple[str, str]:
    """What is wrong, and what to do; empty where the folder can be used, or made."""
    try:
        check_place(path)
        if path.is_symlink() or path.exists():
            with UserFolder(path) as folder:
                folder.known_key()
        there = next(above for above in (path, *path.parents) if above.exists())
    except AutopilotError as error:
        return f"{error.what} {error.why}", error.do
    except OSError as error:
        return f"{path} cannot be looked at: {error.strerror}. No run starts without it.", ELSEWHERE
    if not there.is_dir():
        return f"{path} cannot be made: {there} is not a folder. No run starts without it.", ELSEWHERE
    if not os.access(there, os.W_OK | os.X_OK):
        told = f"{path} cannot be written: {there} is read-only for you. No run starts without it."
        return told, f"Make {there} writable. {ELSEWHERE}"
    return "", ""


def _repository_of_home(path: Path) -> Path | None:
    """The home, where it is a repository that would take the folder in; None where not."""
    home = Path.home().resolve()
    if not path.resolve().is_relative_to(home) or not (home / ".git").exists():
        return None
    try:
        with looked_at(home, processes_of(home)) as repository:
            return None if repository.ignores(str(path.resolve().relative_to(home))) else home
    except AutopilotError:
        return None


def state_checks(root: Path) -> Iterator[Check]:
    """For `autopilot doctor`: only what is wrong with the folder."""
    try:
        check_outside(root)
        check_folder(root / ".autopilot")
        check_untracked(root)
    except AutopilotError as error:
        yield Check(level="fail", what="state", found=f"{error.what} {error.why}", fix=error.do)
