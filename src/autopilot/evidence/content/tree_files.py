"""The files of a checkout by name and by content, read without leaving it."""

import os
from functools import cached_property
from pathlib import Path, PurePosixPath

from autopilot.evidence.safe_read import read_beneath

NOT_OURS = frozenset({".git", ".planning", ".autopilot", "node_modules", ".venv"})
MOST_FILES, MOST_BYTES = 50_000, 8_000_000


class TreeFiles:
    """Looks at the folder when first asked, and once."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder).resolve()

    @cached_property
    def paths(self) -> frozenset[str]:
        """Every file's path, as far as there are not too many."""
        found: set[str] = set()
        for at, folders, files in os.walk(self._folder):
            folders[:] = sorted(set(folders) - NOT_OURS)
            found.update(Path(at, name).relative_to(self._folder).as_posix() for name in files)
            if len(found) > MOST_FILES:
                break
        return frozenset(found)

    @cached_property
    def complete(self) -> bool:
        """Whether `paths` are all there are, so that one that is missing there is missing."""
        return len(self.paths) <= MOST_FILES

    @cached_property
    def endings(self) -> frozenset[str]:
        """Every path and every ending of one: how prose calls a file it need not name in full."""
        parts = (PurePosixPath(path).parts for path in self.paths)
        return frozenset("/".join(names[at:]) for names in parts for at in range(len(names)))

    def has(self, path: str) -> bool:
        """A file or a folder of that path, below the checkout."""
        normal = os.path.normpath(path)
        return not normal.startswith("..") and (self._folder / normal).exists()

    def read(self, path: str) -> bytes | None:
        """A regular file's content; None for a link, a device, one that is too big or lies elsewhere."""
        content = read_beneath(self._folder, os.path.normpath(path), MOST_BYTES + 1)
        return content if content is not None and len(content) <= MOST_BYTES else None
