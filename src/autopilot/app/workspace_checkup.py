"""What `autopilot doctor` asks of git, the repository and the disk. Nothing is changed."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from autopilot.domain.errors import AutopilotError
from autopilot.domain.request import Check, Level
from autopilot.workspace.git import Git
from autopilot.workspace.user_repository import UserRepository

OLDEST_GIT = (2, 36)
SCARCE, TOO_LITTLE = 2_000_000_000, 200_000_000


def git_check(git: Git) -> Check:
    wanted = ".".join(map(str, OLDEST_GIT))
    fix = f"Install git {wanted} or newer."
    try:
        said = git.text("--version")
    except AutopilotError as error:
        return Check(level="fail", what="git", found=error.what, fix=fix)
    found = re.search(r"(\d+)\.(\d+)", said)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    level: Level = "ok" if version >= OLDEST_GIT else "fail"
    return Check(level=level, what="git", found=f"{said} ({wanted} or newer is needed)", fix=fix)


def repository_checks(root: Path, repository: UserRepository) -> Iterator[Check]:
    """Commit and branch, what is uncommitted, and whether a merge or rebase is under way."""
    try:
        shape, start = repository.shape(), repository.start()
        dirty, loose = repository.dirty(), repository.loose_plans()
    except AutopilotError as error:
        yield Check(level="fail", what="repository", found=f"{error.what}: {error.why}", fix=error.do)
        return
    where = f"branch {start.branch}" if start.branch else "no branch (detached HEAD)"
    yield Check(
        level="ok" if start.branch else "warn",
        what="repository",
        found=f"{root}, {where}, commit {start.base[:12]}",
        fix="Check out a branch: without one, finished work stays on a branch of its own.",
    )
    yield Check(
        level="warn" if dirty else "ok",
        what="checkout",
        found=_uncommitted(len(dirty), loose),
        fix="Commit what the work should build on.",
    )
    if unfinished := repository.unfinished(shape.git_dir):
        yield Check(
            level="warn",
            what="checkout",
            found=f"in the middle of something ({unfinished})",
            fix="Finish or abort it: until then no phase can land on your branch.",
        )


def _uncommitted(files: int, plans: int) -> str:
    found = f"{files} uncommitted files, which are no part of a run" if files else "nothing uncommitted"
    if not plans:
        return found
    also = f"{plans} uncommitted files in .planning/, which a run reads as they are on disk"
    return f"{found}; {also}" if files else also


def disk_check(what: str, folder: Path) -> Check:
    """`folder` need not exist yet: the nearest above it that does is looked at."""
    place = _existing(folder)
    try:
        free = shutil.disk_usage(place).free
    except OSError as error:
        return Check(level="fail", what=what, found=f"{place}: {error.strerror}", fix="Make the folder readable.")
    level: Level = "fail" if free < TOO_LITTLE else "warn" if free < SCARCE else "ok"
    return Check(level=level, what=what, found=f"{free / 1e9:.1f} GB free at {place}", fix="Free some space there.")


def cache_check(cache: Path) -> Check:
    """Tried, where the folder is there already; otherwise judged by the one it would be made in."""
    place, fix = _existing(cache), "Make it writable, or name another folder in AUTOPILOT_CACHE."
    try:
        if place == cache:
            with tempfile.TemporaryFile(dir=place):
                pass
        elif not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
            return Check(level="fail", what="cache", found=f"{cache} cannot be made", fix=fix)
    except OSError as error:
        return Check(level="fail", what="cache", found=f"{cache} cannot be written: {error.strerror}", fix=fix)
    return Check(level="ok", what="cache", found=f"{cache} is writable")


def _existing(folder: Path) -> Path:
    return next((place for place in (folder, *folder.parents) if place.exists()), Path("/"))
