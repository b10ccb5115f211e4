"""
Places a project in its repository: at the top, or in a folder below it, as `packages/x` of a monorepo.

Git knows files by their paths from the top; plans, criteria and planning files name them from the project's folder.
"""

import posixpath
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from autopilot.workspace.files.beneath import FOLDER, closing, open_beneath, opened
from autopilot.workspace.files.removal import remove

OURS_ALONE = (".planning", ".autopilot")


@dataclass(frozen=True, slots=True)
class Within:
    """`prefix` is the project's folder from the top of the repository; empty at the top."""

    prefix: str = ""

    @property
    def ours(self) -> tuple[str, ...]:
        """The project's own folders, from the top."""
        return tuple(self.whole(name) for name in OURS_ALONE)

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders on the way down to the project, outermost first."""
        parts = PurePosixPath(self.prefix).parts
        return tuple("/".join(parts[: depth + 1]) for depth in range(len(parts)))

    def whole(self, path: str) -> str:
        """The path from the top of what the project calls `path`."""
        return posixpath.normpath(f"{self.prefix}/{path}") if self.prefix else path

    def local(self, path: str) -> str:
        """What the project calls a file with this path from the top; one elsewhere starts with `../`."""
        return posixpath.relpath(path, self.prefix) if self.prefix else path

    def below(self, top: Path) -> Path:
        """The project's folder in a checkout."""
        return top / self.prefix if self.prefix else top

    def above(self, folder: Path) -> Path:
        """The top of the checkout that `folder` is the project's folder of; a top comes back as it is."""
        if not self.prefix or not f"{folder}".endswith(f"/{self.prefix}"):
            return folder
        return Path(f"{folder}".removesuffix(f"/{self.prefix}"))

    def laid(self, top: Path) -> Path:
        """The project's folder in a checkout of ours, made if need be; a link or a file in its way is removed."""
        for folder in self.folders:
            place = top / folder
            if place.is_symlink() or not place.is_dir():
                remove(place)
                place.mkdir()
        return self.below(top)

    def is_plain(self, top: Path) -> bool:
        """Whether the project's folder is there, with no link on the way to it."""
        if not self.prefix:
            return not top.is_symlink() and top.is_dir()
        try:
            with opened(top) as whole, closing(open_beneath(whole, self.prefix, FOLDER)):
                return True
        except OSError:
            return False
