"""
Notices when a confined program tries a service on this machine's loopback, which its own loopback does not have.

Such a connection never comes to the proxy. The program is told "connection refused", as it should be: it may have
servers of its own there. Only a port on which this machine listens is noted, since any other is closed for everybody.
"""

import select
import socket
import struct
import sys
import threading
import time

from autopilot.sandbox.egress.ledger import Ledger

REASON = "loopback"
KNOWN_S = 1.0
LISTS, LISTENS = ("/proc/net/tcp", "/proc/net/tcp6"), "0A"
ANY4, ANY6 = "0.0.0.0", "::"  # noqa: S104 - compared with, not bound
ATTACH_FILTER = 26
# A packet that refuses a connection: RST and ACK with the number 0. It begins with its IP head in version 4 only.
HEAD = {socket.AF_INET: (0xB1, 0, 0, 0), socket.AF_INET6: (0x01, 0, 0, 0)}
REFUSES = ((0x50, 0, 0, 13), (0x15, 0, 3, 0x14), (0x40, 0, 0, 4), (0x15, 0, 1, 0), (6, 0, 0, 0xFFFF), (6, 0, 0, 0))


def refusals_here() -> list[socket.socket]:
    """Sockets that hear of each connection refused in the network we are in; none where the kernel does not let us."""
    made = []
    for family, head in HEAD.items():
        try:
            raw = socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_TCP)
            _attach(raw, b"".join(struct.pack("HBBI", *step) for step in (head, *REFUSES)))
        except OSError:
            continue
        made.append(raw)
    return made


def _attach(raw: socket.socket, code: bytes) -> None:
    import ctypes

    steps = ctypes.create_string_buffer(code, len(code))
    raw.setsockopt(socket.SOL_SOCKET, ATTACH_FILTER, struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(steps)))


class Watch:
    """Takes from each source who was refused: packets of the sandbox's network, or what its launcher says."""

    def __init__(self, sources: list[socket.socket], ledger: Ledger) -> None:
        self._sources, self._ledger, self._lock = sources, ledger, threading.Lock()
        self._listening, self._since = set[str](), -KNOWN_S

    def start(self) -> None:
        if self._sources:
            threading.Thread(target=self._go_on, daemon=True).start()

    def _go_on(self) -> None:
        while True:
            select.select(self._sources, (), ())
            self.take_in()

    def take_in(self) -> None:
        """All that was refused so far. When this returns it is noted, whoever took it."""
        with self._lock:
            for source in self._sources:
                while (told := _next(source)) is not None:
                    if self._is_served(*told):
                        self._ledger.note(*told, "refused", REASON)

    def _is_served(self, address: str, port: int) -> bool:
        if time.monotonic() - self._since >= KNOWN_S:
            self._listening, self._since = listening(), time.monotonic()
        places = (address, ANY6) if ":" in address else (address, ANY4, ANY6)
        return any(f"{listed(place)}:{port:04X}" in self._listening for place in places)


def _next(source: socket.socket) -> tuple[str, int] | None:
    try:
        data, sender = source.recvfrom(1 << 10, socket.MSG_DONTWAIT)
    except OSError:
        return None
    if source.family == socket.AF_UNIX:
        address, _, port = data.decode().partition(" ")
        return address, int(port)
    segment = data[(data[0] & 15) * 4 :] if source.family == socket.AF_INET else data
    return sender[0], int.from_bytes(segment[:2], "big")


def listening() -> set[str]:
    """Where this machine listens, as the kernel lists it."""
    found = set[str]()
    for path in LISTS:
        try:
            with open(path) as lines:
                rows = [line.split(maxsplit=4)[1:4] for line in lines]
        except OSError:
            continue
        found.update(place for place, _, state in rows if state == LISTENS)
    return found


def listed(address: str) -> str:
    """An address as the kernel's lists have it: words of 32 bits in the machine's own order."""
    raw = socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
    return "".join(f"{int.from_bytes(raw[at : at + 4], sys.byteorder):08X}" for at in range(0, len(raw), 4))
