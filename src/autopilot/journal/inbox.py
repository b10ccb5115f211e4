"""Stores what a person tells a running process: verdicts, and requests to try again now."""

import re
import secrets
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from autopilot.domain.errors import StorageFailed
from autopilot.domain.people import HumanWord, Said
from autopilot.files.home_files import read_file, require_folder
from autopilot.journal.durable_files import flush_folder, make_folder, write_atomic
from autopilot.journal.storage_errors import translated
from autopilot.text.checksum import intact, sealed

_OURS = re.compile(r"\d{20}-[0-9a-f]{8}")


class FileInbox:
    """Implements `Inbox`. Written whole or not at all, by any process; read by the one that holds the run's lock."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "inbox"

    def put(self, run: str, phase: str, verdict: HumanWord, issues: Sequence[str] = ()) -> Said:
        """On disk when this returns."""
        said = Said(
            id=f"{time.time_ns():020}-{secrets.token_hex(4)}",
            run=run,
            phase=phase,
            verdict=verdict,
            issues=tuple(issues),
        )
        make_folder(self._folder)
        write_atomic(self._path(said.id), sealed(msgspec.json.format(msgspec.json.encode(said), indent=2)))
        return said

    def waiting(self) -> Sequence[Said]:
        """
        Oldest first, as their names sort. A file that is none of ours is let be.

        Raises `StorageFailed` for a damaged one of ours: what a person said is not passed over.
        """
        try:
            require_folder(self._folder)
            names = sorted(path.stem for path in self._folder.glob("*.json"))
        except OSError:
            return ()
        return tuple(said for name in names if (said := self._read(name)))

    def holds(self, said: Said) -> bool:
        return self._path(said.id).exists()

    def remove(self, said: Said) -> None:
        with translated(self._folder):
            self._path(said.id).unlink(missing_ok=True)
            flush_folder(self._folder)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _read(self, name: str) -> Said | None:
        try:
            content = read_file(self._path(name))
        except OSError:
            return None
        said = _said(content)
        if said is not None and said.id == name:
            return said
        if _OURS.fullmatch(name) is None:
            return None
        raise StorageFailed(
            f"{str(self._path(name))!r} is damaged.",
            why="It holds what somebody said of a phase, and a guess at it could be the opposite.",
            do="Remove the file, then say it again with `autopilot verdict`.",
        )


def _said(content: bytes) -> Said | None:
    try:
        return msgspec.json.decode(content, type=Said) if intact(content) else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class FileNudge:
    """
    Names the waits it is about, so it does not matter whether it arrives before or after a process looks for it.

    A comparison with what was there before would lose a request that is made between the two looks.
    """

    def __init__(self, home: Path) -> None:
        self._path = home / "inbox" / "retry"

    def put(self, waits: Iterable[str]) -> None:
        """Replaces the request before it: whoever asks names all waits that are open, so none is dropped."""
        make_folder(self._path.parent)
        write_atomic(self._path, "".join(f"{wait}\n" for wait in waits).encode())

    def names(self, wait: str) -> bool:
        try:
            return wait in read_file(self._path).decode("utf-8", "replace").splitlines()
        except OSError:
            return False
