"""Files of one JSON object a line: appended under a lock, read with patience."""

import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from autopilot.files.home_files import folder, open_file, read_file
from autopilot.sessions.files.private_files import unwritable


class LineFile:
    """Any number of processes may append at once; each line is whole and on disk when `append` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, record: msgspec.Struct | Mapping[str, Any]) -> None:
        line = msgspec.json.encode(record) + b"\n"
        try:
            with folder(self.path.parent, make=True):
                fd = open_file(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        except OSError as error:
            raise unwritable(self.path, error) from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            _write(fd, line if _ends_well(fd) else b"\n" + line)
            os.fsync(fd)
        except OSError as error:
            raise unwritable(self.path, error) from error
        finally:
            os.close(fd)

    def read(self) -> tuple[dict[str, Any], ...]:
        """Every object in the file, oldest first; what is damaged, and a file that is not there, are passed over."""
        try:
            text = read_file(self.path)
        except OSError:
            return ()
        return objects_in(text)

    def newest(self, *keys: str) -> tuple[dict[str, Any], ...]:
        """The last object of each combination of these fields, in the order they were first written."""
        found = {tuple(str(line.get(key)) for key in keys): line for line in self.read()}
        return tuple(found.values())


def objects_in(text: bytes | str) -> tuple[dict[str, Any], ...]:
    """One object a line; blank and damaged lines are passed over."""
    raw = text.encode("utf-8", "replace") if isinstance(text, str) else text
    return tuple(found for line in raw.split(b"\n") if (found := _object(line)) is not None)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _ends_well(fd: int) -> bool:
    """A line that a crash cut off must not swallow the next one."""
    size = os.fstat(fd).st_size
    return size == 0 or os.pread(fd, 1, size - 1) == b"\n"


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]
