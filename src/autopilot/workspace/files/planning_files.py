"""Planning files: read from the user once, laid over clones, taken back with care, and written home again."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path, PurePosixPath

from autopilot.domain.errors import RepositoryInvalid
from autopilot.ports.agents import Taken
from autopilot.workspace.files.beneath import Refused, opened, parts_of, read_regular, walk, write_atomic, write_new
from autopilot.workspace.files.removal import remove
from autopilot.workspace.files.written import Written

FOLDER = ".planning"


def checked(files: Mapping[str, str]) -> Mapping[str, str]:
    """Raises `ValueError` unless every path lies below `.planning/`."""
    for path in files:
        if parts_of(path)[0] != FOLDER or path == FOLDER:
            raise ValueError(f"not a planning file: {path!r}")
    return files


def overlay(folder: Path, files: Mapping[str, str]) -> dict[str, str]:
    """`.planning` of the folder holds exactly these files. Returns their hashes, for `take_back`."""
    checked(files)
    remove(folder / FOLDER)
    with opened(folder) as top:
        for path, text in files.items():
            write_new(top, path, text.encode("utf-8", "replace"))
    return {path: _sha256(text) for path, text in files.items()}


def take_back(folder: Path, laid: Mapping[str, str]) -> Taken:
    """What differs below `.planning` of a folder from what was laid there, by the hashes of `overlay`."""
    found, refused = _read(folder)
    changes: dict[str, str | None] = {path: text for path, text in found.items() if laid.get(path) != _sha256(text)}
    changes |= {path: None for path in laid if path not in found and path not in refused}
    return Taken(changes=changes, refused=tuple(f"{path}: {why}" for path, why in sorted(refused.items())))


def _read(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    found, refused = dict[str, str](), dict[str, str]()
    if folder.is_symlink() or not folder.is_dir():
        return found, refused  # The agent did away with it: nothing of what was laid there is left.
    with opened(folder) as top:
        for path in walk(top, FOLDER):
            if not path.isprintable():
                refused[_visible(path)] = "its name is not plain text"
                continue
            try:
                found[path] = read_regular(top, path).decode("utf-8", "replace")
            except FileNotFoundError:
                continue
            except Refused as why:
                refused[path] = str(why)
    return found, refused


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _visible(path: str) -> str:
    """A name with what does not print written out; bytes that are no text included."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in path)


def snapshot(root: Path) -> dict[str, str]:
    """The user's planning files as text; what is no plain text file is left out."""
    if (root / FOLDER).is_symlink():
        raise RepositoryInvalid(
            f"{root / FOLDER} is a link",
            why="Planning files are read and written without following links.",
            do="Put the folder itself in its place.",
        )
    found, _ = _read(root)
    return {path: text for path, text in found.items() if "\0" not in text}


@dataclass(frozen=True, slots=True)
class Homeward:
    """Writes artifacts into the user's `.planning`, never over something the user changed."""

    root: Path
    written: Written
    known: Mapping[str, str]

    def write(self, files: Mapping[str, str]) -> tuple[str, ...]:
        checked(files)
        with opened(self.root) as top:
            names = {path: self._free_name(top, path, text) for path, text in files.items()}
            # Noted first: a file we wrote is known as ours even if we are cut off right after it.
            self.written.add({names[path]: text for path, text in files.items()})
            for path, text in files.items():
                write_atomic(top, names[path], text.encode("utf-8", "replace"))
        moved = ((path, name) for path, name in names.items() if name != path)
        return tuple(f"{path} was changed meanwhile and is left alone; ours is {name}" for path, name in moved)

    def acceptable(self, files: Mapping[str, str]) -> dict[str, str]:
        """Those of the files the user has not changed meanwhile."""
        with opened(self.root) as top:
            return {path: text for path, text in files.items() if self._may_write(top, path, text)}

    def _free_name(self, top: int, path: str, text: str) -> str:
        names = chain((path,), (beside(path, n) for n in count(1)))
        return next(name for name in names if self._may_write(top, name, text))

    def _may_write(self, top: int, name: str, text: str) -> bool:
        try:
            there = read_regular(top, name).decode("utf-8", "replace")
        except FileNotFoundError:
            return True
        except Refused:
            return False
        return there in {text, self.known.get(name)} or self.written.holds(name, there)


def beside(path: str, n: int) -> str:
    """`PLAN.md` becomes `PLAN.autopilot.md`, then `PLAN.autopilot-2.md`."""
    name = PurePosixPath(path)
    return str(name.with_name(f"{name.stem}.autopilot{'' if n == 1 else f'-{n}'}{name.suffix}"))
