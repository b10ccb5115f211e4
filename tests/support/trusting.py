"""The consent of whoever made a test's project: what it asks for is trusted, in the user's folder of the tests."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath

PLANNING = ".planning"
MANIFESTS = frozenset({
    "package.json", "pyproject.toml", "Cargo.toml", "go.mod", "pom.xml", "build.gradle", "build.gradle.kts", "Makefile",
})  # fmt: skip


def trust(root: Path) -> None:
    """As a user who looked at the table and said yes. What cannot be read is for the test to find out."""
    from autopilot.app import prepare as app
    from autopilot.domain.errors import AutopilotError

    with suppress(AutopilotError, OSError):
        app.agree(str(root))


def trust_written(folder: Path, names: Iterable[str]) -> None:
    """Trust the projects whose commands may be others now that these files were written; none outside git."""
    if not (folder / ".git").exists():
        return
    for place in dict.fromkeys(_project(PurePosixPath(name)) for name in names):
        if place is not None:
            trust(folder / place)


def _project(name: PurePosixPath) -> PurePosixPath | None:
    """The folder of the project that the file says something about."""
    if PLANNING in name.parts:
        return PurePosixPath(*name.parts[: name.parts.index(PLANNING)])
    return name.parent if name.name in MANIFESTS else None
