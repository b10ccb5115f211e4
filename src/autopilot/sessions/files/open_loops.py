"""Loops that have begun: each has a name of its own, and a file that tells of it until its record is written."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from autopilot.domain.value import Value
from autopilot.sessions.files.jsonl import LineFile
from autopilot.sessions.files.loop_record import LoopRecord
from autopilot.sessions.files.private_files import remove, unwritable, write_private

CUT_OFF = "the process ended before the loop did; what its sessions finished is kept"
_MOST = 10_000


class OpenLoop(Value, frozen=True, kw_only=True):
    """A loop as it stood when its last session ended. `owner` tells its process from a later one."""

    owner: str
    record: LoopRecord | None = None


class OpenLoops:
    """`folder` is `.autopilot/metrics`. `alive` says of an owner whether that very process still runs."""

    def __init__(self, folder: Path, owner: str, alive: Callable[[str], bool]) -> None:
        self._folder, self._owner, self._alive = folder / "open-loops", owner, alive
        self.lines = LineFile(folder / "autopilot.jsonl")

    def unique(self, name: str) -> str:
        """The name, or with a number behind it when a loop has it already. It is taken when this returns."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(self._folder, error) from error
        written = {line.get("autopilot_run_id") for line in self.lines.read()}
        for number in range(1, _MOST):
            fresh = name if number == 1 else f"{name}-{number}"
            if fresh not in written and self._take(fresh):
                return fresh
        raise AssertionError(f"{_MOST} loops cannot have begun in one minute")

    def opened(self, record: LoopRecord) -> None:
        body = msgspec.json.encode(OpenLoop(owner=self._owner, record=record))
        write_private(self._path(record.autopilot_run_id), body)

    def closed(self, record: LoopRecord) -> None:
        """Append the record, once, and forget that the loop was open."""
        if not self._known(record.autopilot_run_id):
            self.lines.append(record)
        remove(self._path(record.autopilot_run_id))

    def recover(self) -> tuple[LoopRecord, ...]:
        """The records of loops whose process died, as far as they had come; they are written down first."""
        found: list[LoopRecord] = []
        for path in sorted(self._folder.glob("*.json")):
            held = _read(path)
            if held is None or self._alive(held.owner):
                continue
            if held.record and not self._known(held.record.autopilot_run_id):
                found.append(replace(held.record, kill_switch_detail=CUT_OFF))
                self.lines.append(found[-1])
            remove(path)
        return tuple(found)

    def _take(self, name: str) -> bool:
        body = msgspec.json.encode(OpenLoop(owner=self._owner))
        try:
            fd = os.open(self._path(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(body)
        except FileExistsError:
            return False
        except OSError as error:
            raise unwritable(self._path(name), error) from error
        return True

    def _known(self, name: str) -> bool:
        return any(line.get("autopilot_run_id") == name for line in self.lines.read())

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"


def _read(path: Path) -> OpenLoop | None:
    """None for a file that is just being made, or that nothing can be made of."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=OpenLoop)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
