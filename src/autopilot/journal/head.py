"""The HEAD file beside the journal: how far it went, so that a lost tail is told from one that never was."""

import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Self

from autopilot.home_files import open_file, read_file
from autopilot.journal.chain import Tip
from autopilot.journal.failures import translated
from autopilot.journal.files import flush, flush_folder, write_at

# Two slots written in turn, in blocks of their own: a write cut short can spoil only the older of the two.
SLOTS, SLOT_BYTES = 2, 4096
_LINE = re.compile(r"((\d{20}) ([0-9a-f]{64})) ([0-9a-f]{64})\n")
_LINE_BYTES = 20 + 1 + 64 + 1 + 64 + 1


def head_path(journal: Path) -> Path:
    return journal.with_suffix(".head")


def read_head(path: Path) -> Tip | None:
    """The newest slot that is whole; None when there is none."""
    with translated(path):
        try:
            content = read_file(path)
        except FileNotFoundError:
            return None
    tips = (_parsed(content[at : at + _LINE_BYTES]) for at in range(0, SLOTS * SLOT_BYTES, SLOT_BYTES))
    return max((tip for tip in tips if tip), key=lambda tip: tip.seq, default=None)


class HeadFile:
    """Open for writing; made with the empty journal's tip when absent."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with translated(path):
            self._fd = open_file(path, os.O_RDWR | os.O_CREAT)

    def write(self, tip: Tip) -> None:
        """On disk when this returns. In place, so a full disk cannot refuse it."""
        with translated(self._path):
            write_at(self._fd, _line(tip), tip.seq % SLOTS * SLOT_BYTES)
            flush(self._fd)

    def lay(self, tip: Tip) -> None:
        """Give the file its full size, both slots holding the tip, and make its name durable."""
        with translated(self._path):
            write_at(self._fd, b"".join(_line(tip).ljust(SLOT_BYTES, b"\0") for _ in range(SLOTS)), 0)
            flush(self._fd)
            flush_folder(self._path.parent)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _line(tip: Tip) -> bytes:
    text = f"{tip.seq:020d} {tip.hash}"
    return f"{text} {_checksum(text)}\n".encode("ascii")


def _parsed(line: bytes) -> Tip | None:
    found = _LINE.fullmatch(line.decode("ascii", "replace"))
    if found is None or _checksum(found[1]) != found[4]:
        return None
    return Tip(seq=int(found[2]), hash=found[3])


def _checksum(text: str) -> str:
    return sha256(text.encode("ascii")).hexdigest()
