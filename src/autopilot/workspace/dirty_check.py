"""Looks whether the user changed any of some paths: on disk or in the index."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from autopilot.workspace.git import Git
from autopilot.workspace.own_repository import Touched, object_id, quoted, shown

Version = tuple[str, str]
SYMLINK = "120000"
UNMERGED = "unmerged"
MOST_NAMED = 200


class InTheWay(Exception):
    """Something stands at a path that is no version of it."""


def indexed(git: Git, touched: tuple[Touched, ...]) -> dict[str, list[Version | None]]:
    """What is staged of those paths, and maybe of others; an unmerged path has several versions."""
    named = ("--", *(t.path for t in touched)) if len(touched) <= MOST_NAMED else ()
    entries: dict[str, list[Version | None]] = {}
    for line in git.at(GIT_LITERAL_PATHSPECS="1").out("ls-files", "-s", "-z", *named).split(b"\0")[:-1]:
        meta, name = line.split(b"\t", 1)
        mode, blob, stage = meta.decode().split(" ")
        entries.setdefault(os.fsdecode(name), []).append((mode if stage == "0" else UNMERGED, blob))
    return entries


@dataclass(frozen=True, slots=True)
class Look:
    """
    What landing would meet.

    `dirty` paths have a file or an index entry that is neither the old nor the new version; `files` and `entries` are
    those not yet at the new one.
    """

    dirty: tuple[str, ...]
    files: tuple[Touched, ...]
    entries: tuple[Touched, ...]


@dataclass(frozen=True, slots=True)
class Worktree:
    """`like` is any id of the repository; it tells the hash in use."""

    root: Path
    git: Git
    like: str

    def look(self, touched: tuple[Touched, ...]) -> Look:
        staged, by_path = indexed(self.git, touched), {t.path: t for t in touched}
        entries = {t.path: staged.get(t.path, [None]) for t in touched}
        files = {t.path: self._seen(t.path, by_path) for t in touched}
        odd = [t for t in touched if files[t.path] not in ([t.old], [t.new])]
        files |= self._filtered(odd)
        changed = (t.path for t in touched for found in (entries, files) if found[t.path] not in ([t.old], [t.new]))
        return Look(
            dirty=tuple(sorted({shown(path) for path in changed})),
            files=tuple(t for t in touched if files[t.path] != [t.new]),
            entries=tuple(t for t in touched if entries[t.path] != [t.new]),
        )

    def _seen(self, path: str, by_path: dict[str, Touched]) -> list[Version | None]:
        """The version on disk; none at all, not even an absent one, when something else stands there."""
        try:
            return [self._on_disk(path, by_path)]
        except InTheWay:
            return []

    def _on_disk(self, path: str, by_path: dict[str, Touched]) -> Version | None:
        """The version on disk, by its very bytes; None when nothing is there."""
        if self._is_hidden(path, by_path):
            return None
        target = self.root / path
        try:
            mode = target.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        if stat.S_ISLNK(mode):
            return SYMLINK, object_id("blob", os.fsencode(target.readlink()), like=self.like)
        if stat.S_ISREG(mode):
            return _mode(mode), object_id("blob", target.read_bytes(), like=self.like)
        if stat.S_ISDIR(mode) and self._is_all_touched(target, by_path):
            return None
        raise InTheWay(path)

    def _is_hidden(self, path: str, by_path: dict[str, Touched]) -> bool:
        """Whether a file or link stands where the path has a folder; it must be one that goes away itself."""
        parts = path.split("/")
        for depth in range(1, len(parts)):
            above = "/".join(parts[:depth])
            try:
                mode = (self.root / above).lstat().st_mode
            except FileNotFoundError:
                return False
            if not stat.S_ISDIR(mode):
                if above not in by_path:
                    raise InTheWay(above)
                return True
        return False

    def _is_all_touched(self, folder: Path, by_path: dict[str, Touched]) -> bool:
        return all(
            (Path(above) / name).relative_to(self.root).as_posix() in by_path
            for above, _, names in os.walk(folder)
            for name in names
        ) and not any((Path(above) / name).is_symlink() for above, names, _ in os.walk(folder) for name in names)

    def _filtered(self, odd: list[Touched]) -> dict[str, list[Version | None]]:
        """Versions as git would store the files, line endings and filters of the user's settings applied."""
        regular = [t.path for t in odd if _is_regular(self.root, t.path)]
        if not regular:
            return {}
        names = "".join(f"{quoted(path)}\n" for path in regular)
        blobs = self.git.text("hash-object", "--stdin-paths", stdin=os.fsencode(names)).split()
        modes = self._modes(odd)
        return {path: [(modes[path], blob)] for path, blob in zip(regular, blobs, strict=True)}

    def _modes(self, odd: list[Touched]) -> dict[str, str]:
        ran = self.git.run("config", "--type=bool", "core.fileMode", ok=(0, 1))
        if ran.stdout.strip() == b"false":
            return {t.path: (t.new or t.old or ("", ""))[0] for t in odd}
        return {t.path: _mode((self.root / t.path).lstat().st_mode) for t in odd if _is_regular(self.root, t.path)}


def _is_regular(root: Path, path: str) -> bool:
    try:
        return stat.S_ISREG((root / path).lstat().st_mode)
    except OSError:
        return False


def _mode(mode: int) -> str:
    return "100755" if mode & stat.S_IXUSR else "100644"
