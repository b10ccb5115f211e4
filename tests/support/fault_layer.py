"""A layer between a process and the system: it fails the n-th change of a file, and moves the clock."""

import errno
import mmap
import os
import shutil
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.programs import trouble_with

SOURCE = Path(__file__).with_name("faultio.c")
SIZE, PREFIX_AT, CLOCK_AT, STEADY_AT = 512, 64, 48, 56
NUMBERS = struct.Struct("<6q")
SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens: an error once or from then on (`sticky`), or a write of which only half is done (`cut`)."""

    name: str
    error: int = errno.EIO
    sticky: bool = False
    cut: bool = False


KINDS = (
    Fault("EIO"),
    Fault("ENOSPC", errno.ENOSPC),
    Fault("EDQUOT", errno.EDQUOT),
    Fault("short", cut=True),
    Fault("EIO for ever", sticky=True),
    Fault("full for ever", errno.ENOSPC, sticky=True),
    Fault("short, then full", errno.ENOSPC, sticky=True, cut=True),
)


class FaultLayer:
    """Built once; every process started with `env` shares the one count of operations."""

    def __init__(self, folder: Path) -> None:
        self._library, self._control = folder / "faultio.so", folder / "control"
        words = ["cc", "-shared", "-fPIC", "-O1", "-o", str(self._library), str(SOURCE), "-ldl"]
        subprocess.run(words, check=True, capture_output=True)
        self._control.write_bytes(bytes(SIZE))
        with self._control.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), SIZE)

    @property
    def env(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self._library), "FAULT_CONTROL": str(self._control)}

    def arm(self, below: Path, at: int = 0, fault: Fault = KINDS[0]) -> None:
        """Count what is changed below the folder; the operation number `at` fails, 0 for none."""
        prefix = os.fsencode(below)
        self._map[PREFIX_AT : PREFIX_AT + len(prefix) + 1] = prefix + b"\0"
        self._map[: NUMBERS.size] = NUMBERS.pack(0, at, fault.error, fault.sticky, fault.cut, 0)

    def disarm(self) -> tuple[int, int]:
        """How many operations there were, and how many of them were struck."""
        seen, *_, hits = NUMBERS.unpack(self._map[: NUMBERS.size])
        self._map[PREFIX_AT] = 0
        self._map[: NUMBERS.size] = bytes(NUMBERS.size)
        return seen, hits

    def move_clock(self, seconds: float) -> None:
        """The wall clock of those processes goes wrong by so much; the monotonic one does not."""
        self._map[CLOCK_AT : CLOCK_AT + 8] = struct.pack("<q", int(seconds * SECOND))

    def stand_still(self, seconds: float) -> None:
        """As if those processes had been stopped for so long: the clock that nobody sets has gone on without them."""
        self._map[STEADY_AT : STEADY_AT + 8] = struct.pack("<q", int(seconds * SECOND))

    def git_below(self, folder: Path, log: Path | None = None) -> str:
        """A folder for the front of PATH, whose git is under the layer too. `log` is where changes are written down."""
        real = shutil.which("git")
        env = self.env | ({"FAULT_LOG": str(log)} if log else {})
        sets = " ".join(f"{name}='{value}'" for name, value in env.items())
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "git").write_text(f'#!/bin/sh\n{sets} exec {real} "$@"\n', encoding="utf-8")
        (folder / "git").chmod(0o755)
        return str(folder)


def joined() -> FaultLayer:
    """The layer this very process was started under."""
    layer = FaultLayer.__new__(FaultLayer)
    layer._library, layer._control = Path(os.environ["LD_PRELOAD"]), Path(os.environ["FAULT_CONTROL"])
    with layer._control.open("r+b") as file:
        layer._map = mmap.mmap(file.fileno(), SIZE)
    return layer


def layer_or_skip(folder: Path) -> FaultLayer:
    if sys.platform != "linux" or trouble_with("cc"):
        pytest.skip("the layer is loaded by the dynamic linker of Linux and built with a C compiler")
    return FaultLayer(folder)
