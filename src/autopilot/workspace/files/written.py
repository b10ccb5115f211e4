"""Which texts we ever wrote to which planning file: what we may overwrite, and no more than that."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from autopilot.workspace.files.beneath import opened

NEW_LINE = b"\n"
Stamp = tuple[int, int, int]


class Line(msgspec.Struct, frozen=True):
    """The hashes of the texts that were written at one time, by path."""

    hashes: dict[str, list[str]] = {}


class Written:
    """
    A file to which a line is added each time; somebody else may add to it too.

    A line that is damaged, or was cut short, counts for nothing: the files it named are then taken for the user's.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: Stamp | None = None
        self._known: set[bytes] = set()

    def holds(self, path: str, text: str) -> bool:
        """Whether we wrote that text there once."""
        self._look()
        return _key(path, _hash(text)) in self._known

    def add(self, files: Mapping[str, str]) -> None:
        """On disk when this returns."""
        self._look()
        line = Line({path: [_hash(text)] for path, text in files.items()})
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            before = os.fstat(file).st_size
            whole = before == 0 or os.pread(file, 1, before - 1) == NEW_LINE
            rest = memoryview((b"" if whole else NEW_LINE) + msgspec.json.encode(line) + NEW_LINE)
            while rest:
                rest = rest[os.write(file, rest) :]
            os.fsync(file)
            if before == (self._stamp[1] if self._stamp else 0):
                self._known.update(_keys(line))
                self._stamp = _stamp(os.fstat(file))
        finally:
            os.close(file)
        if before == 0:
            with opened(self._path.parent) as folder:
                os.fsync(folder)

    def _look(self) -> None:
        """Take in what the file says, if it is not as we left it."""
        with suppress(FileNotFoundError):
            stamp = _stamp(self._path.stat())
            if stamp != self._stamp:
                lines = self._path.read_bytes().split(NEW_LINE)
                self._known = {key for line in lines for key in _keys(_line(line))}
                self._stamp = stamp


def _line(text: bytes) -> Line:
    try:
        return msgspec.json.decode(text, type=Line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Line()


def _keys(line: Line) -> Iterator[bytes]:
    return (_key(path, text) for path, texts in line.hashes.items() for text in texts)


def _key(path: str, text: str) -> bytes:
    """Short, for there are many in a long run."""
    return hashlib.blake2b(f"{path}\0{text}".encode("utf-8", "replace"), digest_size=16).digest()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _stamp(found: os.stat_result) -> Stamp:
    return found.st_ino, found.st_size, found.st_mtime_ns
