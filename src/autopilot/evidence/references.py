"""Which files of a checkout nothing else in it mentions: a bounded search over its text files."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

NOT_OURS = frozenset({".git", ".planning", ".autopilot", "node_modules", ".venv"})
# Prose may mention a file without using it.
PROSE = frozenset({".md", ".rst", ".txt"})
MOST_FILES, MOST_BYTES = 20_000, 512_000


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


def pattern(path: str) -> re.Pattern[bytes]:
    """How others call a file: by its stem, by the type it may hold, or, as in Go, by its folder."""
    pure = PurePosixPath(path)
    stem = pure.name.partition(".")[0]
    camel = "".join(word[:1].upper() + word[1:] for word in re.split(r"[_-]", stem))
    names = {stem, camel} if pure.suffix != ".go" else {pure.parent.name or stem}
    spelled = "|".join(re.escape(name) for name in sorted(names))
    return re.compile(rf"(?<!\w)(?:{spelled})(?!\w)".encode())


def _texts(folder: str) -> Iterator[tuple[str, bytes]]:
    """Every text file that is no prose, by its path below the folder. Links are not followed."""
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - NOT_OURS)
        for name in sorted(files):
            path = Path(at, name)
            content = b"" if path.suffix.lower() in PROSE else _read(path)
            if content and b"\0" not in content:
                yield path.relative_to(folder).as_posix(), content


def _read(path: Path) -> bytes:
    """A regular file's beginning; nothing for what is none or cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return os.read(file, MOST_BYTES) if stat.S_ISREG(os.fstat(file).st_mode) else b""
    finally:
        os.close(file)
