"""Runs that were cut off in the middle, as some version of the program left them: frozen once, thawed for ever."""

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

from autopilot import __version__
from support.adoption import bound
from support.project import honest, make_project
from support.runs import roadmap_of

FROZEN = Path(__file__).parents[1] / "data" / "upgrades"
DYING = Path(__file__).with_name("dying_run.py")
# Where the frozen runs were at work; they go on somewhere else.
HOME = Path("/tmp/letters")
ARCHIVE = "run.tar.gz"


def freeze() -> Path:
    """A run of two letters, killed behind the first one's work; its project and its script, for this version."""
    root = make_project(HOME / "project", honest(), roadmap_of("1", "2>1"))
    words = ["all", "--agent", f"scripted:{root}.toml", "--sandbox", "none"]
    env = {**os.environ, "AUTOPILOT_CACHE": str(HOME / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, str(DYING), str(root), "1 execute", *words], env=env, check=False)
    target = FROZEN / __version__ / ARCHIVE
    target.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(target, "w:gz") as archive:
        archive.add(root, "project")
        archive.add(f"{root}.toml", "project.toml")
    return target


def thaw(version: str, place: Path) -> Path:
    """The project at the place, as that version left it, and adopted by the user who goes on with it there."""
    content = (FROZEN / version / ARCHIVE).read_bytes()
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(place, filter="data")
    return bound(place / "project")


def versions() -> list[str]:
    return sorted(path.parent.name for path in FROZEN.glob(f"*/{ARCHIVE}"))


if __name__ == "__main__":
    sys.stdout.write(f"{freeze()}\n")
