"""What binds a journal to its user: the user's key, and the place it was written for."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from autopilot.authority.user_folder import UserFolder, user_folder_path
from autopilot.domain.value import Value


class Place(Value, frozen=True, kw_only=True):
    """
    A repository on this machine and the user who works in it. Without a repository `inode` is 0.

    The device's number is not part of it: some file systems have another one at each start of the machine.
    """

    root: str
    inode: int = 0
    user: int = 0

    def difference(self, here: "Place") -> str:
        """Why a journal of this place is not one of `here`, in words; empty where it is."""
        if self.root != here.root:
            return f"it was written for {self.root}"
        if self.user != here.user:
            return f"the user with the number {self.user} wrote it"
        if self.inode != here.inode:
            return "it was written for another git repository in this folder"
        return ""


@dataclass(frozen=True, slots=True)
class Seal:
    """The key never shows in a traceback or a log."""

    key: bytes = field(repr=False)
    place: Place


def seal_of(root: Path) -> Seal:
    """The user's seal for the repository; the key is made when there is none."""
    with UserFolder() as folder:
        return Seal(folder.key(), place_of(root))


def known_seal(root: Path) -> Seal | None:
    """The same for who only looks: nothing is made. None where the user has no key."""
    return seal_of(root) if (user_folder_path() / "key").exists() else None


def place_of(root: Path) -> Place:
    found = _git_folder(root.resolve())
    return Place(
        root=str(root.resolve()),
        inode=found.st_ino if found else 0,
        user=os.geteuid(),
    )


def _git_folder(root: Path) -> os.stat_result | None:
    """The folder that all worktrees of the repository share."""
    for above in (root, *root.parents):
        try:
            path = above / ".git"
            if path.is_dir():
                return path.stat()
            if path.is_file():
                return _shared(above / path.read_text().strip().removeprefix("gitdir:").strip()).stat()
        except (OSError, ValueError):
            return None
    return None


def _shared(folder: Path) -> Path:
    pointer = folder / "commondir"
    return folder / pointer.read_text().strip() if pointer.is_file() else folder
