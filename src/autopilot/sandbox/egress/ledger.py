"""Who was tried to be reached, counted: a file that is always whole, however its writer ends."""

import json
import os
import threading
from contextlib import suppress

MOST = 500
REST_S = 0.2
MORE = "(others)"
Row = list[str | int]


class Tried:
    """One host, port and verdict: how often, and how much went there and came back."""

    def __init__(self, key: tuple[str, int, str, str]) -> None:
        self.key, self.count, self.sent, self.received = key, 0, 0, 0

    def row(self) -> Row:
        return [*self.key, self.count, self.sent, self.received]


class Ledger:
    """
    Written to one open file, over and over: what is there when the writer is killed is what it knew a moment before.

    There are never more than so many rows, whatever is tried.
    """

    def __init__(self, file: int) -> None:
        self._file, self._lock, self._changed = file, threading.Lock(), threading.Event()
        self._rows: dict[tuple[str, int, str, str], Tried] = {}
        self.sent = 0

    def note(self, host: str, port: int, verdict: str, reason: str = "") -> Tried:
        """`verdict` is allowed, refused or failed; `reason` says which rule, or what failed."""
        key = (host, port, verdict, reason)
        with self._lock:
            if key not in self._rows and len(self._rows) >= MOST:
                key = (MORE, 0, verdict, "")
            tried = self._rows.setdefault(key, Tried(key))
            tried.count += 1
        self._changed.set()
        return tried

    def moved(self, tried: Tried, sent: int = 0, received: int = 0) -> None:
        with self._lock:
            self.sent += sent
            tried.sent += sent
            tried.received += received
        self._changed.set()

    def write(self) -> None:
        """Longer than before or the end is cut: the first thing in the file is always a whole list."""
        with self._lock:
            text = json.dumps([tried.row() for tried in self._rows.values()]).encode()
            os.pwrite(self._file, text + b"\n", 0)
            os.ftruncate(self._file, len(text) + 1)

    def keep_writing(self) -> None:
        threading.Thread(target=self._write_on, daemon=True).start()

    def _write_on(self) -> None:
        pause = threading.Event()
        while True:
            self._changed.wait()
            self._changed.clear()
            with suppress(OSError):  # the disk is full: the call goes on, and the next write may succeed
                self.write()
            pause.wait(REST_S)


def rows_in(text: bytes) -> list[Row]:
    """The rows as they were written; none in what is no such file."""
    try:
        found, _ = json.JSONDecoder().raw_decode(text.decode())
    except ValueError:
        return []
    return found if isinstance(found, list) else []
