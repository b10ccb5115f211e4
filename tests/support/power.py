"""What a power cut may leave on the disk, made from the changes and waits of a run that really took place."""

import os
import random
import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

HEAD = struct.Struct("<5q")
SECTOR = 512
Choice = Literal["nothing", "everything", "names only", "content only", "chance"]
CHOICES: tuple[Choice, ...] = ("nothing", "everything", "names only", "content only", "chance")


@dataclass(frozen=True, slots=True)
class Operation:
    """
    `kind`: O opened to create or empty, W written, T cut, S and D waited for, R renamed, L linked, U removed, M folder
    made, Y link made. `end` is how long the log is with it.
    """

    kind: str
    number: int
    path: str
    other: str
    data: bytes
    end: int


def operations(log: Path) -> Iterator[Operation]:
    """Each change and each wait, in their order."""
    content, at = log.read_bytes(), 0
    while at < len(content):
        kind, number, one, two, size = HEAD.unpack_from(content, at)
        at += HEAD.size
        parts = []
        for length in (one, two, size):
            parts.append(content[at : at + length])
            at += length
        path, other = (os.path.normpath(os.fsdecode(part)) for part in parts[:2])
        yield Operation(chr(kind), number, path, other, parts[2], at)


@dataclass(frozen=True, slots=True)
class Naming:
    """A change of names: what a path leads to from now on. A folder leads to -1, a removed path to None."""

    at: int
    changes: tuple[tuple[str, int | None], ...]
    moved: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Content:
    """A change of what is in a file: bytes at a place, or a new length. `safe` is when it was waited for."""

    at: int
    file: int
    offset: int
    data: bytes
    length: int | None = None


FOLDER = -1


@dataclass(slots=True)
class Recording:
    """A folder as it was, and everything that was done below it."""

    root: Path
    names: dict[str, int] = field(default_factory=dict)
    first: dict[int, bytes] = field(default_factory=dict)
    modes: dict[str, int] = field(default_factory=dict)
    links: dict[int, str] = field(default_factory=dict)
    naming: list[Naming] = field(default_factory=list)
    content: list[Content] = field(default_factory=list)
    waits: dict[int, list[int]] = field(default_factory=dict)
    commits: list[int] = field(default_factory=list)
    length: int = 0

    def heard(self, done: list[Operation]) -> "Recording":
        """Follow the operations in their order."""
        tracker = Tracker(self)
        for at, operation in enumerate(done, start=1):
            tracker.follow(at, operation)
        self.length = len(done)
        return self


def snapshot(root: Path) -> Recording:
    """The folder as it is: all of that is on the disk."""
    made = Recording(root)
    for number, path in enumerate(sorted(root.rglob("*"))):
        name = str(path)
        if path.is_symlink():
            made.names[name], made.links[number] = number, str(path.readlink())
        elif path.is_dir():
            made.names[name] = FOLDER
        else:
            made.names[name], made.first[number] = number, path.read_bytes()
            made.modes[name] = path.stat().st_mode & 0o777
    return made


class Tracker:
    """Knows at each moment what a path leads to, and which files have changes that only a wait makes safe."""

    def __init__(self, recording: Recording) -> None:
        self._to, self._names = recording, dict(recording.names)
        self._next = len(recording.names) + 1_000_000
        self._held = {file: bytearray(data) for file, data in recording.first.items()}
        self._fresh = set[int]()

    def follow(self, at: int, done: Operation) -> None:
        """What is done to a file that was removed meanwhile is of no consequence."""
        makes = {"O": self._opened, "M": self._made, "Y": self._linked, "S": self._waited, "D": self._waited}
        alters = {"W": self._written, "T": self._written, "U": self._removed, "L": self._renamed, "R": self._renamed}
        if done.kind in makes:
            makes[done.kind](at, done)
        elif done.path in self._names:
            alters[done.kind](at, done)

    def _made(self, at: int, done: Operation) -> None:
        self._name(at, (done.path, FOLDER))

    def _linked(self, at: int, done: Operation) -> None:
        self._to.links[self._next] = os.fsdecode(done.data)
        self._name(at, (done.path, self._next))
        self._next += 1

    def _written(self, at: int, done: Operation) -> None:
        offset, length = (done.number, None) if done.kind == "W" else (0, done.number)
        self._change(Content(at, self._names[done.path], offset, done.data, length))

    def _removed(self, at: int, done: Operation) -> None:
        self._name(at, (done.path, None))

    def _opened(self, at: int, done: Operation) -> None:
        file = self._names.get(done.path)
        if file is None:
            self._name(at, (done.path, self._next))
            self._held[self._next], self._to.first[self._next] = bytearray(), b""
            self._fresh.add(self._next)
            self._next += 1
        elif done.number and self._held.get(file):
            self._change(Content(at, file, 0, b"", 0))

    def _change(self, content: Content) -> None:
        self._to.content.append(content)
        held = self._held.setdefault(content.file, bytearray())
        before = len(held)
        put(held, content, "whole")
        if len(held) != before:
            self._fresh.add(content.file)

    def _waited(self, at: int, done: Operation) -> None:
        """
        A wait makes the file's content safe. Names are kept in order, and all so far are safe once the file system
        has to write down something about this very file or folder: its names, its birth, its length.
        """
        file = self._names.get(done.path, FOLDER)
        self._to.waits.setdefault(file, []).append(at)
        if file == FOLDER or done.kind == "S" or file in self._fresh:
            self._to.commits.append(at)
            self._fresh.clear()

    def _renamed(self, at: int, done: Operation) -> None:
        other, file = done.other, self._names[done.path]
        if done.number and bytes(self._held.get(file, b"")) != done.data:
            self._change(Content(at, file, 0, done.data))
        if done.kind == "L":
            self._name(at, (other, file))
        elif file != FOLDER:
            self._name(at, (other, file), (done.path, None))
        else:
            below = [(path, leads) for path, leads in self._names.items() if path.startswith(f"{done.path}/")]
            moved = [(f"{other}{path[len(done.path) :]}", leads) for path, leads in below]
            gone = [(path, None) for path, _ in below]
            self._name(at, *gone, (done.path, None), (other, FOLDER), *moved)

    def _name(self, at: int, *changes: tuple[str, int | None]) -> None:
        self._to.naming.append(Naming(at, changes))
        apply(self._names, changes)


def apply(names: dict[str, int], changes: tuple[tuple[str, int | None], ...]) -> None:
    for path, leads in changes:
        if leads is None:
            names.pop(path, None)
        else:
            names[path] = leads


@dataclass(frozen=True, slots=True)
class Cut:
    """The power fails behind operation `at`; of what nobody waited for this much is on the disk."""

    at: int
    choice: Choice
    seed: int = 0


def disk_after(recording: Recording, cut: Cut) -> tuple[dict[str, int], dict[int, bytearray]]:
    """The names and the contents that are on the disk."""
    chance = random.Random(f"{cut.seed} {cut.at}")
    safe = max((at for at in recording.commits if at <= cut.at), default=0)
    pending = [one.at for one in recording.naming if safe < one.at <= cut.at]
    upto = {"nothing": safe, "content only": safe, "everything": cut.at, "names only": cut.at}.get(
        cut.choice, chance.choice([safe, *pending])
    )
    names = dict(recording.names)
    for naming in recording.naming:
        if naming.at <= upto:
            apply(names, naming.changes)
    files = {file: bytearray(data) for file, data in recording.first.items()}
    ways = dict[int, str]()
    for content in recording.content:
        if content.at > cut.at:
            break
        waited = any(content.at < wait <= cut.at for wait in recording.waits.get(content.file, ()))
        way = "whole" if waited else _way(cut.choice, content.file, ways, chance)
        put(files.setdefault(content.file, bytearray()), content, way, chance)
    return names, files


def _way(choice: Choice, file: int, ways: dict[int, str], chance: random.Random) -> str:
    """How an unsafe change fares. With `chance` a file's changes stop somewhere, and the one there may be torn."""
    if choice != "chance":
        return "whole" if choice in {"everything", "content only"} else "lost"
    if ways.get(file) != "lost":
        ways[file] = chance.choice(["whole", "whole", "torn", "zeros", "lost"])
    way = ways[file]
    if way in {"torn", "zeros"}:
        ways[file] = "lost"
    return way


def put(held: bytearray, content: Content, way: str, chance: random.Random | None = None) -> None:
    if way == "lost":
        return
    if content.length is not None:
        held[:] = held[: content.length].ljust(content.length, b"\0")
        return
    data = content.data
    if way == "torn" and chance:
        data = data[: min(len(data), chance.randrange(0, len(data) + SECTOR, SECTOR))]
    if way == "zeros":
        data = bytes(len(data))
    if len(held) < content.offset:
        held.extend(bytes(content.offset - len(held)))
    held[content.offset : content.offset + len(data)] = data


def lay_out(recording: Recording, cut: Cut, only: str = "") -> None:
    """Put the folder into the state the cut leaves; with `only`, just the paths that have this in them."""
    names, files = disk_after(recording, cut)
    names = {path: leads for path, leads in names.items() if only in path}
    _clear(recording.root)
    recording.root.mkdir(parents=True, exist_ok=True)
    for path, leads in sorted(names.items()):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        if leads == FOLDER:
            Path(path).mkdir(exist_ok=True)
        elif leads in recording.links:
            Path(path).symlink_to(recording.links[leads])
        else:
            Path(path).write_bytes(files.get(leads, b""))
            Path(path).chmod(recording.modes.get(path, 0o644))


def _clear(root: Path) -> None:
    """But for the user's git folder, which is the same one after a power cut: journals are bound to it."""
    for path in sorted(root.rglob("*"), reverse=True):
        if path.is_symlink() or not path.is_dir():
            path.unlink()
        elif path.name != ".git":
            with suppress(OSError):  # the git folder is in it
                path.rmdir()


def difference(recording: Recording, ignored: re.Pattern[str]) -> list[str]:
    """Where the folder is not what the recording says it must be by now: then it is not a faithful one."""
    names, files = disk_after(recording, Cut(recording.length, "everything"))
    there = {str(path) for path in recording.root.rglob("*")}
    odd = [path for path in there ^ set(names) if not ignored.search(path)]
    plain = [path for path in there & set(names) if names[path] >= 0 and not Path(path).is_symlink()]
    return sorted(odd + [p for p in plain if Path(p).read_bytes() != files[names[p]] and not ignored.search(p)])
