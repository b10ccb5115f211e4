"""A piece of memory that is no longer needed goes back to the system, whatever was freed before."""

import ctypes
import subprocess
import sys

import pytest

from autopilot.sandbox.processes.malloc import hand_back

# A large piece is freed; then pieces are counted that are mapped by themselves, before and after one of 600 kB.
LOOK = """
import ctypes
from autopilot.sandbox.processes.malloc import hand_back

class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks a b c d e f".split()]

library = ctypes.CDLL(None)
library.mallinfo2.restype = Info
{first}
large = bytearray(20_000_000)
del large
before = library.mallinfo2().hblks
held = bytearray(600_000)
print(library.mallinfo2().hblks - before)
"""


@pytest.mark.parametrize(("first", "mapped"), [("hand_back()", "1"), ("", "0")], ids=["asked", "left alone"])
def test_after_a_large_piece_smaller_ones_are_still_handed_back(first: str, mapped: str) -> None:
    if not hand_back() or not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("the C library is no glibc of our time")
    ran = subprocess.run([sys.executable, "-c", LOOK.format(first=first)], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == mapped
