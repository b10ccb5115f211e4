"""How much is new in a folder that an agent or a command filled: found before git is asked to take it in."""

import heapq
import os
import re
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autopilot.domain.settings import Limits
from autopilot.workspace.files.beneath import FOLDER, closing
from autopilot.workspace.git import Git
from autopilot.workspace.own_repository import shown

MEBIBYTE = 1 << 20
MOST_TOLD = 5
LONGEST_TOLD = 120
# A look at the clock for each file would cost as much as the file.
EVERY = 256
DEEPEST = 200
# What Python leaves beside the code of whoever runs it. Nobody means to commit that, and checks make their own.
BY_PRODUCTS = ("__pycache__",)
_LAID = re.compile(rb"([^\0]+)\0[^\0]*?\n  size: (\d+)\tflags: [0-9a-f]+\n")


@dataclass(slots=True)
class Volume:
    """`over` says which bound was met first, and is empty while there is none. Everything else is as far as it went."""

    over: str = ""
    files: int = 0
    size: int = 0
    largest: list[tuple[int, str]] = field(default_factory=list)
    crowded: Counter[str] = field(default_factory=Counter)

    def told(self) -> str:
        """In one line, for the next attempt and for the report."""
        parts = [f"too much was written: {self.over}"]
        crowded = [f"{_short(name)} ({count:,} files)" for name, count in self.crowded.most_common(MOST_TOLD)]
        if self.files > MOST_TOLD and crowded:
            parts.append(f"most of it in {', '.join(crowded)}")
        largest = [f"{_short(name)} ({_amount(size)})" for size, name in sorted(self.largest, reverse=True)]
        if largest:
            parts.append(f"the largest are {', '.join(largest)}")
        return "; ".join(parts)

    def _add(self, path: str, size: int) -> None:
        self.files, self.size = self.files + 1, self.size + size
        self.crowded["/".join(path.split("/")[:-1][:2]) or "."] += 1
        if len(self.crowded) > 2 * EVERY:
            self.crowded = Counter(dict(self.crowded.most_common(EVERY)))
        entry = (size, path)
        if len(self.largest) < MOST_TOLD:
            heapq.heappush(self.largest, entry)
        elif entry > self.largest[0]:
            heapq.heapreplace(self.largest, entry)

    def take(self, path: str, size: int, limits: Limits) -> bool:
        """Whether there is room left."""
        self._add(path, size)
        if size > limits.file_mebibytes * MEBIBYTE:
            self.over = f"a file of more than {limits.file_mebibytes:,} MiB (limits.file_mebibytes)"
        elif self.size > limits.work_mebibytes * MEBIBYTE:
            self.over = f"more than {limits.work_mebibytes:,} MiB in new or changed files (limits.work_mebibytes)"
        elif self.files > limits.work_files:
            self.over = f"more than {limits.work_files:,} new or changed files (limits.work_files)"
        return not self.over


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """
    `aside` are paths of the folder's own that are nobody's work. `git` has the index of what was laid in the folder.

    It may be asked what that was, and which files are ignored; it reads names for that and no contents.
    """

    folder: Path
    aside: Collection[str]
    git: Git
    limits: Limits

    def measure(self) -> Volume:
        """At first as if everything was new: that is quick, and in most projects all there is to do."""
        end = time.monotonic() + self.limits.walk_seconds
        found = self._walked({}, frozenset(), end)
        if found.over:
            laid = laid_sizes(self.git)
            found = self._walked(laid, frozenset(), end) if laid else found
            if found.over and (ignored := self._ignored()):
                found = self._walked(laid, ignored, end)
        return found

    def _walked(self, laid: Mapping[str, int], ignored: Collection[str], end: float) -> Volume:
        """A file that was laid there and has its size still is taken for the same."""
        found, limits = Volume(), self.limits
        for seen, (path, size, depth) in enumerate(_files(self.folder, frozenset({".git", *self.aside})), start=1):
            if seen % EVERY == 0 and time.monotonic() > end:
                found.over = f"it could not be looked through in {limits.walk_seconds:g} s (limits.walk_seconds)"
            elif depth > DEEPEST and not _within(path, ignored):
                found.over = f"folders more than {DEEPEST} deep"
                found.largest = [(0, path)]
            elif seen > limits.ignored_files:
                told = f"more than {limits.ignored_files:,} files, ignored ones counted"
                found.over = f"{told} (limits.ignored_files)"
            elif size is not None and laid.get(path) != size and not _within(path, ignored):
                found.take(path, size, limits)
            if found.over:
                break
        return found

    def _ignored(self) -> frozenset[str]:
        """Files, and folders as a whole with a slash at their end."""
        words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
        ran = self.git.run(*words, ok=(0, 1, 128))
        return frozenset(os.fsdecode(name) for name in ran.stdout.split(b"\0") if name)


def _within(path: str, ignored: Collection[str]) -> bool:
    if path in ignored or any(f"/{name}/" in f"/{path}" for name in BY_PRODUCTS):
        return True
    at = path.find("/")
    while at >= 0:
        if path[: at + 1] in ignored:
            return True
        at = path.find("/", at + 1)
    return False


def _files(folder: Path, without: frozenset[str]) -> Iterator[tuple[str, int | None, int]]:
    """
    Every file below the folder with its apparent size, and every folder with none; through no link.

    One folder at a time is open, from the one above it, and only names wait: however much there is, it takes little.
    """
    top = os.open(folder, FOLDER)
    with closing(top):
        waiting = [("", 0)]
        while waiting:
            place, depth = waiting.pop()
            try:
                here = os.open(place, FOLDER, dir_fd=top) if place else os.dup(top)
            except OSError:
                continue  # gone, not to be read, or a path too long for the system; git takes nothing from there either
            with closing(here), os.scandir(here) as entries:
                for entry in entries:
                    path = f"{place}/{entry.name}" if place else entry.name
                    if path in without:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((path, depth + 1))
                        yield path, None, depth + 1
                        continue
                    try:
                        size = entry.stat(follow_symlinks=False).st_size
                    except OSError:
                        size = 0
                    yield path, size, depth + 1


def laid_sizes(git: Git) -> dict[str, int]:
    """From the index alone: no file is looked at."""
    return {os.fsdecode(name): int(size) for name, size in _LAID.findall(git.out("ls-files", "-z", "--debug"))}


def _short(name: str) -> str:
    return " ".join(shown(name).split())[:LONGEST_TOLD]


def _amount(size: int) -> str:
    return f"{size / MEBIBYTE:,.0f} MiB" if size >= MEBIBYTE else f"{size:,} bytes"
