"""Have the C library hand large pieces of memory back at once, so that a process that runs for days stays small."""

import ctypes
import sys

# glibc: what may be free at the end of the heap, and from which size on a piece is mapped by itself. Left alone, both
# grow with the largest piece that was ever freed, and from then on such pieces stay in the heap and break it up.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
LIMITS = {TRIM_THRESHOLD: 128 * 1024, MMAP_THRESHOLD: 512 * 1024}


def hand_back() -> bool:
    """Whether it could be asked to; other libraries than glibc know no such wish."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    return mallopt is not None and all(mallopt(option, size) == 1 for option, size in LIMITS.items())
