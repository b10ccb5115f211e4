"""Which files of a checkout mention which others, and which nothing mentions: a bounded search over its text files."""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath

from autopilot.evidence.regular import read_beneath

NOT_OURS = frozenset({".git", ".planning", ".autopilot", "node_modules", ".venv"})
# Prose may mention a file without using it.
PROSE = frozenset({".md", ".rst", ".txt"})
MOST_FILES, MOST_BYTES = 20_000, 512_000
MOST_RELATED, ENOUGH = 5, 3


def unreferenced(folder: str, paths: Sequence[str]) -> tuple[str, ...]:
    """Those of the paths whose name no other file mentions; empty when there are too many files to be sure."""
    names = {path: pattern(path) for path in paths}
    for seen, (path, text) in enumerate(_texts(folder)):
        if seen >= MOST_FILES:
            return ()
        names = {own: wanted for own, wanted in names.items() if own == path or not wanted.search(text)}
        if not names:
            return ()
    return tuple(names)


def related(folder: str, paths: Sequence[str]) -> tuple[str, ...]:
    """
    What to read before changing the paths, at most five files: those that are there, then the files that mention most
    of them; only where that makes fewer than three, files beside them.
    """
    wanted = {path.removeprefix("./"): pattern(path) for path in paths if PurePosixPath(path).name.strip(".")}
    folders = {PurePosixPath(path).parent.as_posix() for path in wanted}
    there = [path for path in wanted if _read(folder, path)]
    users, beside = dict[str, int](), list[str]()
    for path, text in islice(_texts(folder), MOST_FILES):
        named = sum(bool(own.search(text)) for own in wanted.values())
        if named:
            users[path] = named
        elif PurePosixPath(path).parent.as_posix() in folders:
            beside.append(path)
    known = dict.fromkeys((*there, *sorted(users, key=lambda path: (-users[path], path))))
    found = (*known, *[path for path in beside if path not in known][: max(ENOUGH - len(known), 0)])
    return tuple(path for path in found if path.isprintable())[:MOST_RELATED]


def pattern(path: str) -> re.Pattern[bytes]:
    """How others call a file: by its stem, by the type it may hold, or, as in Go, by its folder."""
    pure = PurePosixPath(path)
    stem = pure.name.partition(".")[0]
    camel = "".join(word[:1].upper() + word[1:] for word in re.split(r"[_-]", stem))
    names = {stem or pure.name, camel or pure.name} if pure.suffix != ".go" else {pure.parent.name or stem}
    spelled = "|".join(re.escape(name) for name in sorted(names))
    return re.compile(rf"(?<!\w)(?:{spelled})(?!\w)".encode())


def _texts(folder: str) -> Iterator[tuple[str, bytes]]:
    """Every text file that is no prose, by its path below the folder. Links are not followed."""
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - NOT_OURS)
        for name in sorted(files):
            path = Path(at, name).relative_to(folder)
            content = b"" if path.suffix.lower() in PROSE else _read(folder, path.as_posix())
            if content and b"\0" not in content:
                yield path.as_posix(), content


def _read(folder: str, path: str) -> bytes:
    """A regular file's beginning; nothing for what is none or cannot be read."""
    return read_beneath(folder, path, MOST_BYTES) or b""
