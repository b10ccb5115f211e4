"""
Which files of a checkout use which others, and which nothing uses.

The repository map knows who imports whom; where there is none, or it does not know, a bounded search over text decides.
"""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath

from autopilot.domain.codemap import RepoMap
from autopilot.evidence.safe_read import read_beneath
from autopilot.policy.codemap_queries import Place, import_graph, places

NOT_OURS = frozenset({".git", ".planning", ".autopilot", "node_modules", ".venv"})
# Prose may mention a file without using it.
PROSE = (".md", ".rst", ".txt")
MOST_FILES, MOST_BYTES = 20_000, 512_000
MOST_RELATED, ENOUGH = 5, 3
MOST_KNOWN = 8
# A file in one of these is used by an import, or by its name in a string; the same word elsewhere is a coincidence.
IMPORTED = frozenset({"python", "typescript", "javascript"})
_QUOTED = re.compile(rb"\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`")
# Words that can only be names in code: joined by an underscore or a capital inside, or set in backticks.
_NAMES = re.compile(r"`([A-Za-z_]\w{2,})(?:\(\))?`|\b([a-z]\w*_\w+|[A-Za-z][a-z0-9]+[A-Z]\w*)\b")


def unreferenced(folder: str, paths: Sequence[str], told: RepoMap | None = None) -> tuple[str, ...]:
    """
    Those of the paths that no other file uses; empty when there are too many files to be sure.

    A file the map says is imported is used. Of others, mentions count: in code of a language that imports, only those
    inside a string.
    """
    imported = import_graph(told.files) if told else {}
    importing = {file.path for file in told.files if file.language in IMPORTED} if told else set()
    names = {path: pattern(path) for path in paths if path not in imported}
    for seen, (path, text) in enumerate(_texts(folder) if names else ()):
        if seen >= MOST_FILES:
            return ()
        quoted = b"\n".join(_QUOTED.findall(text)) if path in importing else text
        names = {
            own: wanted
            for own, wanted in names.items()
            if own == path or not wanted.search(quoted if own in importing else text)
        }
        if not names:
            return ()
    return tuple(names)


def known(told: RepoMap, text: str) -> tuple[str, ...]:
    """RMAP-07: the names in the text that the code has already, and where, at most eight."""
    said = dict.fromkeys(first or second for first, second in _NAMES.findall(text))
    there: dict[str, Place] = {}
    for file in told.files:
        for place in places(file):
            if place.name in said and place.path.isprintable():
                there.setdefault(place.name, place)
    return tuple(str(there[name]) for name in said if name in there)[:MOST_KNOWN]


def related(folder: str, paths: Sequence[str], told: RepoMap | None = None) -> tuple[str, ...]:
    """
    What to read before changing the paths, at most five files: those that are there, then the files that import them
    or mention most of them; only where that makes fewer than three, files beside them.
    """
    imported = import_graph(told.files) if told else {}
    importers = {user for path in paths for user in imported.get(path.removeprefix("./"), ())}
    wanted = {path.removeprefix("./"): pattern(path) for path in paths if PurePosixPath(path).name.strip(".")}
    folders = {PurePosixPath(path).parent.as_posix() for path in wanted}
    there = [path for path in wanted if _read(folder, path)]
    users, beside = dict[str, int](), list[str]()
    for path, text in islice(_texts(folder), MOST_FILES):
        named = sum(bool(own.search(text)) for own in wanted.values())
        if named:
            users[path] = named
        elif (path.rpartition("/")[0] or os.curdir) in folders:
            beside.append(path)
    known = dict.fromkeys((*there, *sorted(users, key=lambda path: (path not in importers, -users[path], path))))
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
        above = os.path.relpath(at, folder)
        for name in sorted(files):
            path = name if above == os.curdir else f"{above}/{name}"
            content = b"" if name.lower().endswith(PROSE) else _read(folder, path)
            if content and b"\0" not in content:
                yield path, content


def _read(folder: str, path: str) -> bytes:
    """A regular file's beginning; nothing for what is none or cannot be read."""
    return read_beneath(folder, path, MOST_BYTES) or b""
