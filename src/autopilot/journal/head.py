"""The HEAD file beside the journal: how far it went, so that a lost tail is told from one that never was."""

import os
import re
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Self

from autopilot.domain.value import Value
from autopilot.files.home_files import open_file, read_file
from autopilot.journal.chain import Chain, Tip
from autopilot.journal.durable_files import flush, flush_folder, write_at
from autopilot.journal.storage_errors import translated

# Two slots written in turn, in blocks of their own: a write cut short can spoil only the older of the two.
SLOTS, SLOT_BYTES = 2, 4096
_LINE = re.compile(r"((\d{20}) ([0-9a-f]{64}) ([0-9a-f]{64})) ([0-9a-f]{64})\n")
_LINE_BYTES = 20 + 3 * (1 + 64) + 1
_EMPTY = Tip()


def head_path(journal: Path) -> Path:
    return journal.with_suffix(".head")


class Head(Value, frozen=True, kw_only=True):
    """
    The newest slot. `alone`: the other one tells nothing. It was cut off while it was written, or spoilt afterwards.

    A row is on disk before its slot is written: with a slot cut off, the journal goes further than the other one says.
    """

    tip: Tip
    alone: bool = False


class Slot(Value, frozen=True, kw_only=True):
    """What one of the slots says, as it was found; `mark` is its writer's."""

    number: int
    tip: Tip
    mark: str


def read_head(path: Path) -> Tip | None:
    """The newest slot that is whole, whoever wrote it: enough to see whether a journal has moved."""
    head = newest(read_slots(path), None)
    return head.tip if head else None


def read_slots(path: Path) -> tuple[Slot, ...]:
    """Those that are whole."""
    with translated(path):
        try:
            content = read_file(path)
        except FileNotFoundError:
            return ()
    lines = (content[at : at + _LINE_BYTES] for at in range(0, SLOTS * SLOT_BYTES, SLOT_BYTES))
    return tuple(slot for number, line in enumerate(lines) if (slot := _parsed(line, number)))


def newest(slots: tuple[Slot, ...], chain: Chain | None) -> Head | None:
    """With a chain, by those that its writer wrote, each in its place; None when there is none."""
    tips = [slot.tip for slot in slots if chain is None or _written_by(chain, slot)]
    return Head(tip=max(tips, key=_seq), alone=chain is not None and len(tips) < SLOTS) if tips else None


class HeadFile:
    """Open for writing; made with the empty journal's tip when absent."""

    def __init__(self, path: Path, chain: Chain) -> None:
        self._path, self._chain = path, chain
        with translated(path):
            self._fd = open_file(path, os.O_RDWR | os.O_CREAT)

    def write(self, tip: Tip) -> None:
        """On disk when this returns. In place, so a full disk cannot refuse it."""
        with translated(self._path):
            write_at(self._fd, _line(tip, self._chain), tip.seq % SLOTS * SLOT_BYTES)
            flush(self._fd)

    def lay(self, tip: Tip = _EMPTY, before: Tip = _EMPTY) -> None:
        """Give the file its full size, its slots holding the tip and the one before it, and make its name durable."""
        held = {before.seq % SLOTS: before} | {tip.seq % SLOTS: tip}
        lines = (_line(held.get(slot, tip), self._chain) for slot in range(SLOTS))
        with translated(self._path):
            write_at(self._fd, b"".join(line.ljust(SLOT_BYTES, b"\0") for line in lines), 0)
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


def _line(tip: Tip, chain: Chain) -> bytes:
    text = f"{tip.seq:020d} {tip.hash} {chain.mark(tip)}"
    return f"{text} {_checksum(text)}\n".encode("ascii")


def _parsed(line: bytes, number: int) -> Slot | None:
    found = _LINE.fullmatch(line.decode("ascii", "replace"))
    if found is None or _checksum(found[1]) != found[5]:
        return None
    return Slot(number=number, tip=Tip(seq=int(found[2]), hash=found[3]), mark=found[4])


def _written_by(chain: Chain, slot: Slot) -> bool:
    """One that was copied into the place of the other is out of its place: only an empty journal's fits both."""
    in_place = not slot.tip.seq or slot.tip.seq % SLOTS == slot.number
    return in_place and compare_digest(chain.mark(slot.tip), slot.mark)


def _seq(tip: Tip) -> int:
    return tip.seq


def _checksum(text: str) -> str:
    return sha256(text.encode("ascii")).hexdigest()
