"""
Carries out a plan that the user brought along.

projects: till, slug
"""

from pathlib import Path

from honesty.roster import HERE
from honesty.scene import Scene

DIRS = {"till": "01-discount-for-large-orders", "slug": "01-letters-beyond-ascii"}


def baseline(folder: Path) -> None:
    name = "slug" if (folder / "package.json").exists() else "till"
    for path in (HERE / "projects" / name / "plans" / "1").rglob("*"):
        if path.is_file():
            place = (
                folder
                / ".planning"
                / "phases"
                / DIRS[name]
                / path.relative_to(HERE / "projects" / name / "plans" / "1")
            )
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(
                path.read_text(encoding="utf-8").replace("{dir}", f".planning/phases/{DIRS[name]}"), encoding="utf-8"
            )


def plan(_scene: Scene) -> None:
    raise AssertionError("there is a plan; nobody should ask for one")
