"""Holds on to the first process of a bubblewrap sandbox, with which everything inside it ends."""

import os
import re
import select
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import Self

from autopilot.sandbox.processes import marks

PATIENCE_S = 10.0
_PID, _END = re.compile(rb'"child-pid":\s*(\d+)'), b'"exit-code"'


class Lifeline:
    """
    The open files a sandbox is started with, and the handle of its first process.

    The kernel says that this process is gone only when every other one of its namespace is gone as well. So there is
    nothing to search for afterwards, wherever a daemon has hidden itself.
    """

    def __init__(self, program: bytes, options: Iterable[str] = ()) -> None:
        """
        `program` is the seccomp filter; empty for none.

        `options` are handed over in a file: a command line can be read by every user of the machine.
        """
        self._told, self._telling = os.pipe()
        self._filter = _file_of(program) if program else None
        self._options = _file_of(b"".join(os.fsencode(option) + b"\0" for option in options))
        self._first: int | None = None
        self._heard = b""

    @property
    def arguments(self) -> tuple[str, ...]:
        filters = ("--seccomp", str(self._filter)) if self._filter is not None else ()
        return ("--json-status-fd", str(self._telling), *filters, "--args", str(self._options))

    @property
    def inherited(self) -> tuple[int, ...]:
        filters = (self._filter,) if self._filter is not None else ()
        return (self._telling, self._options, *filters)

    @property
    def held_open(self) -> tuple[int, ...]:
        """The sandbox ends at once when nobody is left who could hear what it tells."""
        return (self._told,)

    def hold(self, pid: int) -> None:
        """
        Take hold of the sandbox started as process `pid`, or by it; it waits until it has told us its first process.
        """
        os.close(self._telling)
        self._telling = -1
        self._heard = _read(self._told, PATIENCE_S)
        found = _PID.search(self._heard)
        if found is None:
            return
        first = int(found[1])
        with suppress(OSError):
            self._first = os.pidfd_open(first)
            above = marks.stat_of(str(first))[1].decode()
            if str(pid) not in {above, marks.stat_of(above)[1].decode()}:
                self._let_go()

    def gone(self) -> bool:
        """Whether everything inside is certainly gone; kills it first. False when hold was never taken."""
        if self._first is None:
            return False
        with suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(self._first, signal.SIGKILL)
        poller = select.poll()
        poller.register(self._first, select.POLLIN)
        return bool(poller.poll(PATIENCE_S * 1000))

    def began(self) -> bool | None:
        """
        Whether the program inside was ever started; None where we did not take hold. To be asked after the end.

        Bubblewrap tells how the program ended, and nothing if it could not set up the sandbox.
        """
        if self._telling >= 0:
            return None
        return _END in self._heard + _read(self._told, 0.0)

    def _let_go(self) -> None:
        if self._first is not None:
            os.close(self._first)
            self._first = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._let_go()
        for descriptor in (self._told, self._telling, self._options, self._filter):
            if descriptor is not None and descriptor >= 0:
                os.close(descriptor)


def _file_of(content: bytes) -> int:
    """A file in memory, at its beginning: bubblewrap reads it to the end."""
    descriptor = os.memfd_create("bubblewrap")
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _read(descriptor: int, patience_s: float) -> bytes:
    """Up to the closing brace, or to the end when the sandbox could not be built."""
    text, deadline, poller = b"", time.monotonic() + patience_s, select.poll()
    poller.register(descriptor, select.POLLIN)
    while b"}" not in text and poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
        chunk = os.read(descriptor, 4096)
        if not chunk:
            break
        text += chunk
    return text
