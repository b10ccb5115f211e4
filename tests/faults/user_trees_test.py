"""Whatever a user has lying about, a run leaves it as it is, killed or not, landed or not."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.errors import UsageInvalid
from faults.user_trees import FEATURES, LETTER, STATES, Feature, chosen, make_tree
from support.faults import full, record, seed
from support.project import honest, toml
from support.repos import ENV, git
from support.runs import Drive, playground

VICTIM = Path(__file__).parents[1] / "crash" / "victim.py"
TREES = 500 if full() else 8
OURS = (".autopilot", ".planning")
# What git itself keeps in a way of its own: compared by what it says, not by bytes.
KEPT_BY_GIT = {"objects", "logs", "refs", "packed-refs", "index", "COMMIT_EDITMSG", "FETCH_HEAD", "gc.log"}


@pytest.fixture
def place() -> Iterator[Path]:
    with playground() as folder:
        yield folder


def picture(root: Path, branch: str) -> dict[str, Any]:
    """All that is the user's: files with modes and dates, index, stash, refs, settings, what is in progress."""
    return {
        "files": dict(_files(root)),
        "git": dict(_git_files(root)),
        "index": _lines(root, "ls-files", "-z", "--stage", "-v", "-f"),
        "status": _lines(root, "status", "-z", "--porcelain=v2", "--ignored", "--no-renames"),
        "stash": _lines(root, "stash", "list", "-z", "--format=%H %gs"),
        "refs": [line for line in _lines(root, "for-each-ref", "--format=%(refname) %(objectname)", end="\n")
                 if not line.startswith(("refs/heads/autopilot", f"refs/heads/{branch} "))],
        "side": dict(_files(root.parent / "side")) if (root.parent / "side").is_dir() else {},
    }  # fmt: skip


def _files(folder: Path) -> Iterator[tuple[str, Any]]:
    for at, folders, names in os.walk(folder):
        here = Path(at)
        top = here == folder
        folders[:] = sorted(name for name in folders if not (top and name in {".git", *OURS}))
        for name in sorted([*names, *folders]):
            path = here / name
            if top and name in {LETTER, ".git"}:
                continue
            found = path.lstat()
            held: Any = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else "-"
            date = 0 if path.is_dir() else found.st_mtime_ns
            yield str(path.relative_to(folder)), (found.st_mode, date, held)


def _git_files(root: Path) -> Iterator[tuple[str, bytes]]:
    home = root / ".git"
    for path in sorted(home.rglob("*")):
        parts = path.relative_to(home).parts
        inner = parts[0] in {"modules", "worktrees"} and not KEPT_BY_GIT.isdisjoint(parts)
        ours = parts == ("info", "exclude") or parts[0].startswith("sharedindex")
        if path.is_file() and parts[0] not in KEPT_BY_GIT and not inner and not ours:
            yield "/".join(parts), path.read_bytes()


def _lines(root: Path, *words: str, end: str = "\0") -> list[str]:
    env = {**ENV, "GIT_OPTIONAL_LOCKS": "0"}
    ran = subprocess.run(["git", *words], cwd=root, env=env, capture_output=True, check=True)
    lines = os.fsdecode(ran.stdout).split(end)
    about = (line for line in lines if line and not line.startswith("!"))
    return [line for line in about if not any(name in line for name in (*OURS, LETTER))]


def letter(root: Path) -> bytes | None:
    path = root / LETTER
    return path.read_bytes() if path.exists() else None


def drive(place: Path, root: Path, dice: random.Random, *, killed: bool) -> int:
    """A whole run, or one that is killed at some instant and gone on with; its exit code."""
    script = place / "project.toml"
    script.write_text(toml(a for a in honest() if a.get("phase") in {None, "1"}), encoding="utf-8")
    project = Drive(root)
    if killed:
        words = [str(root), f"scripted:{script}", "1", "0"]
        with subprocess.Popen([sys.executable, str(VICTIM), *words], stdout=-3, stderr=-3) as run:
            time.sleep(dice.uniform(0.3, 2.5))
            run.kill()
        try:
            return project.resume().exit
        except UsageInvalid:
            if "autopilot/" in git(root, "branch", "--format=%(refname:short)"):
                return 0  # It was quicker.
    return project.run("1").exit


@pytest.mark.slow
@pytest.mark.parametrize("number", range(TREES))
def test_a_run_leaves_everything_of_the_users_as_it_was(place: Path, number: int) -> None:
    dice = random.Random(f"{seed()} {number}")
    root, features = make_tree(place / "project", dice), chosen(dice)
    for feature in features:
        feature.make(root, dice)
    branch = git(root, "rev-parse", "--abbrev-ref", "HEAD")
    tip, own = git(root, "rev-parse", "HEAD"), letter(root)
    before, killed = picture(root, branch), dice.random() < 0.5

    code = drive(place, root, dice, killed=killed)
    assert code in {0, 12}
    told = f"seed {seed()}, tree {number}: {', '.join(feature.name for feature in features)}; killed: {killed}"
    assert picture(root, branch) == before, told
    assert not (place / "hooks-ran").exists(), told
    landed = git(root, "rev-parse", "HEAD") != tip
    assert landed != any(feature.hinders for feature in features), told
    assert code == 0 if landed else code == 12 or killed, told
    if landed:
        assert git(root, "merge-base", tip, "HEAD") == tip
        assert (letter(root) or b"").replace(b"\r", b"") == b"done 1\n"
    else:
        assert letter(root) == own, told
    assert git(root, "fsck", "--no-dangling", "--connectivity-only") == ""
    record("users' trees", trees=1, killed=int(killed), landed=int(landed))


def test_features_have_names_of_their_own() -> None:
    kinds: list[Feature] = [*FEATURES, *STATES]
    assert len({feature.name for feature in kinds}) == len(kinds) >= 25
