"""The folder `.autopilot/inbox`: what a person says while a run holds the journal, a file each."""

import secrets
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from autopilot.domain.person import HumanWord, Said
from autopilot.journal.failures import translated
from autopilot.journal.files import flush_folder, make_folder, write_atomic


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
        write_atomic(self._path(said.id), msgspec.json.encode(said) + b"\n")
        return said

    def waiting(self) -> Sequence[Said]:
        """Oldest first, as their names sort. A file that is none of ours is let be."""
        try:
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
            said = msgspec.json.decode(self._path(name).read_bytes(), type=Said)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return said if said.id == name else None
