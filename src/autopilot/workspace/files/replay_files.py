"""Does in a folder what an earlier step did to its tree, from our own repository."""

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path

from autopilot.workspace.git import Git


@dataclass(frozen=True, slots=True)
class Redoing:
    """`git` is that of our own repository, in which nothing is ever removed; `room` is a folder for a while."""

    git: Git
    room: Callable[[], AbstractContextManager[str]]

    def lay(self, base: str, commit: str, folder: Path) -> None:
        """Files the commit changed since the base lie in the folder as they were left; those it removed are gone."""
        told = self.git.out("diff-tree", "-r", "-z", "--no-renames", "--name-status", base, commit).split(b"\0")[:-1]
        changes = list(zip(told[::2], told[1::2], strict=True))
        for how, path in changes:
            if how == b"D":
                with suppress(OSError):
                    (folder / path.decode("utf-8", "surrogateescape")).unlink()
        kept = [path for how, path in changes if how != b"D"]
        if kept:
            self._write(commit, b"\0".join(kept) + b"\0", folder)

    def _write(self, commit: str, paths: bytes, folder: Path) -> None:
        with self.room() as private:
            git = self.git.at(GIT_INDEX_FILE=Path(private, "index"), GIT_WORK_TREE=folder)
            git.run("read-tree", commit)
            git.run("checkout-index", "-f", "-z", "--stdin", stdin=paths)
