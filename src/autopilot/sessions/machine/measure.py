"""How the machine is doing: /proc on Linux, the system's own tools on macOS. What is not told stays unknown."""

import re
from collections.abc import Callable

from autopilot.sessions.machine.resources import Snapshot
from autopilot.text.numbers import rounded, whole

Read = Callable[[str], str]
"""The text of a file, empty when it cannot be read."""
Run = Callable[[tuple[str, ...]], str]
"""What a program prints, empty when it cannot be run."""

_KIB_A_GIB = 1024**2
_MIB_A_GIB = 1024
_BYTES_A_GIB = 1024**3
_MEMINFO = re.compile(r"^(MemAvailable|SwapTotal|SwapFree):\s+(\d+) kB$", re.MULTILINE)
_STALLED = re.compile(r"^some avg10=(\d+(?:\.\d+)?) ", re.MULTILINE)
_SWAP_USED = re.compile(r"\bused = (\d+(?:\.\d+)?)M\b")
_PRESSURE = re.compile(r"System-wide memory free percentage:\s*(\d+)%")
_PAGE = re.compile(r"page size of (\d+) bytes")
_PAGES = re.compile(r"^Pages (?:free|inactive|speculative|purgeable):\s+(\d+)\.", re.MULTILINE)


def probe(system: str, read: Read, run: Run) -> Snapshot:
    """`system` as `platform.system()` names it; of one we do not know nothing is known. Peers are for the registry."""
    if system == "Linux":
        return linux(read("/proc/meminfo"), read("/proc/pressure/memory"))
    if system == "Darwin":
        swap = swap_used_mb(run(("sysctl", "vm.swapusage")))
        return Snapshot(
            ram_free_gb=reclaimable_gb(run(("vm_stat",))),
            swap_gb=None if swap is None else swap / _MIB_A_GIB,
            memory_pressure_pct_free=pressure_pct_free(run(("memory_pressure",))),
        )
    return Snapshot()


def linux(meminfo: str, pressure: str) -> Snapshot:
    """MemAvailable, not MemFree: what the cache holds is there for the taking."""
    kib = {name: int(size) for name, size in _MEMINFO.findall(meminfo)}
    swap = kib["SwapTotal"] - kib["SwapFree"] if {"SwapTotal", "SwapFree"} <= kib.keys() else None
    return Snapshot(
        ram_free_gb=kib["MemAvailable"] / _KIB_A_GIB if "MemAvailable" in kib else None,
        swap_gb=None if swap is None else swap / _KIB_A_GIB,
        memory_pressure_pct_free=unstalled_pct(pressure),
    )


def unstalled_pct(pressure: str) -> float | None:
    """The share of the last ten seconds in which no process waited for memory, by the kernel's own count."""
    found = _STALLED.search(pressure)
    return max(0.0, 100.0 - float(found[1])) if found else None


def swap_used_mb(swapusage: str) -> int | None:
    found = _SWAP_USED.search(swapusage)
    return whole(float(found[1])) if found else None


def pressure_pct_free(memory_pressure: str) -> int | None:
    found = _PRESSURE.search(memory_pressure)
    return int(found[1]) if found else None


def reclaimable_gb(vm_stat: str) -> float | None:
    """What is free or can be had at once; pages that are merely free say next to nothing on macOS."""
    size, pages = _PAGE.search(vm_stat), _PAGES.findall(vm_stat)
    return rounded(sum(map(int, pages)) * int(size[1]) / _BYTES_A_GIB, 1) if size and pages else None
