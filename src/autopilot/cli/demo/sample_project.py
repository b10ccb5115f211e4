"""Makes the sample project: a small real git repository with a roadmap and one change nobody has committed."""

import os
import subprocess
import tempfile
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from autopilot.domain.errors import RepositoryInvalid, StorageFailed, UsageInvalid

DIRTY = "notes.txt"
_AUTHOR = ("-c", "user.name=Sample User", "-c", "user.email=sample@example.org", "-c", "commit.gpgsign=false")


def make(folder: str | None) -> Path:
    """Make the project there, or in a temporary folder that stays. Raises before anything is overwritten."""
    root = Path(tempfile.mkdtemp(prefix="autopilot-demo-")) if folder is None else _empty(Path(folder))
    root = root.resolve()
    content = tomllib.loads((files("autopilot.cli.demo") / "project.toml").read_text(encoding="utf-8"))
    _write(root, content["committed"])
    _git(root, "init", "-q", "--template=", "-b", "main")
    _git(root, "add", "-A")
    _git(root, *_AUTHOR, "commit", "-q", "--no-verify", "-m", "A till that can read one item")
    _write(root, content["changed"])
    return root


def log(root: Path) -> str:
    """The project's history, a line a commit, newest first."""
    return _git(root, "log", "--format=%h %s")


def _empty(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = any(folder.iterdir())
    except OSError as error:
        raise StorageFailed(
            f"The folder {str(folder)!r} cannot be used: {error.strerror}.",
            why="The demo makes its sample project there.",
            do="Name a folder that you can write to, or leave out --keep.",
        ) from error
    if taken:
        raise UsageInvalid(
            f"The folder {str(folder)!r} is not empty.",
            why="The demo makes a project of its own and overwrites nothing of yours.",
            do="Name an empty folder or one that does not exist yet: autopilot demo --keep FOLDER",
        )
    return folder


def _write(root: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _git(root: Path, *words: str) -> str:
    """The sample project is made the same way whatever the user's own git is set to."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = {**kept, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    try:
        done = subprocess.run(["git", *words], cwd=root, env=environment, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise RepositoryInvalid(
            "git was not found.",
            why="The demo makes a real git repository, and Autopilot keeps every step of a run as a commit.",
            do="Install git 2.36 or newer.",
        ) from error
    except subprocess.CalledProcessError as error:
        raise RepositoryInvalid(
            f"git {words[0]} failed in {root}: {error.stderr.strip()[:300]}",
            why="The demo makes a real git repository.",
            do="Mend what git complains about, or name another folder: autopilot demo --keep FOLDER",
        ) from error
    return done.stdout.strip()
