"""Reads what a keeper writes down while its program is still printing, and tells it to who listens."""

import os
import time
from contextlib import suppress
from pathlib import Path

from autopilot.domain.process import Talk
from autopilot.sandbox.keeper import keeper
from autopilot.sandbox.processes.pipes import CHUNK, LINGER_S


class Following:
    """
    One stream in the order it came: the first file up to `room` bytes, then the two that take turns.

    Who prints more than a whole turn between two looks leaves a gap; a line's end stands for it.
    """

    def __init__(self, place: Path, name: str, room: int) -> None:
        self._first, self._room = place / name, room
        self._older, self._newer = place / f"{name}{keeper.OLDER}", place / f"{name}{keeper.NEWER}"
        self._file = -1
        self._read = 0

    def more(self) -> bytes:
        """What has come since the last look, at most a piece of it."""
        if self._file < 0 and not self._turn_to(self._first):
            return b""
        piece = os.read(self._file, CHUNK)
        self._read += len(piece)
        if piece or self._read < self._room:
            return piece
        return self._next()

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _next(self) -> bytes:
        """Go on to the file behind the one that is full, if it is there already."""
        here, older, newer = os.fstat(self._file).st_ino, _number(self._older), _number(self._newer)
        if here == newer:
            return b""
        if here == older or older is None:
            return self.more() if self._turn_to(self._newer) else b""
        gap = b"" if here == _number(self._first) else b"\n"
        return gap + self.more() if self._turn_to(self._older) else b""

    def _turn_to(self, path: Path) -> bool:
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        self.close()
        self._file, self._read = file, 0
        return True


class Listening:
    """Tells a talk all that is printed, from the first byte on, whoever was there when it was printed."""

    def __init__(self, talk: Talk, following: Following) -> None:
        self._talk, self._following = talk, following
        self._over_since: float | None = None

    def hear(self) -> bool:
        """Whether anything was said."""
        said = False
        while piece := self._following.more():
            self._talk.heard(piece)
            said = True
        if not self._talk.over:
            self._over_since = None
        elif self._over_since is None:
            self._over_since = time.monotonic()
        return said

    @property
    def enough(self) -> bool:
        """All was said, and there was time enough to end by itself."""
        return self._over_since is not None and time.monotonic() - self._over_since > LINGER_S

    def close(self) -> None:
        self._following.close()


def _number(path: Path) -> int | None:
    with suppress(FileNotFoundError):
        return path.stat().st_ino
    return None
