"""Papers for people and for later phases, below `.autopilot/`; each may be written again without doing harm."""

from collections.abc import Callable
from pathlib import Path

from autopilot.domain.errors import StorageFailed
from autopilot.files.home_files import read_file
from autopilot.journal.durable_files import flush_folder, make_folder, write_atomic
from autopilot.journal.storage_errors import translated
from autopilot.text.clean import harmless
from autopilot.text.redact import redact

HEADER = "# Learnings (current run)\n"


class FileDiagnostics:
    """Implements `Diagnostics` in the folder `.autopilot` of a project. Secrets are taken out of what is written."""

    def __init__(self, home: Path, redact: Callable[[str], str] = redact) -> None:
        self._home, self._redact = home, redact

    def write(self, name: str, text: str) -> None:
        folder = self._home / "diagnostics"
        make_folder(folder)
        write_atomic(folder / name, self._redact(harmless(text)).encode("utf-8", "replace"))

    def learn(self, entry: str) -> None:
        """Append the entry unless it is there: a pass that is ended twice, after a crash, teaches once."""
        known, entry = _text(self._learnings) or HEADER, self._redact(harmless(entry))
        if entry not in known:
            write_atomic(self._learnings, f"{known}\n{entry}".encode("utf-8", "replace"))

    def learnings(self) -> str:
        """What cannot be read has taught nothing: it is no reason to stop."""
        try:
            return _text(self._learnings)
        except StorageFailed:
            return ""

    def learnings_of(self, run: str) -> str:
        """Those of an earlier run, as they were kept."""
        try:
            return _text(self._kept(run))
        except StorageFailed:
            return ""

    def reset(self, run: str) -> bool:
        """LRNG-03, AMB-04: a new run starts without them; those of `run` are kept, behind others of it if need be."""
        known, kept = _text(self._learnings), self._kept(run)
        if not known:
            return False
        make_folder(kept.parent)
        before = _text(kept)
        if known not in before:
            write_atomic(kept, (before + known).encode("utf-8", "replace"))
        with translated(self._learnings):
            self._learnings.unlink()
            flush_folder(self._home)
        return True

    def _kept(self, run: str) -> Path:
        return self._home / "archive" / f"learnings-{run}.md"

    @property
    def _learnings(self) -> Path:
        return self._home / "learnings.md"


def _text(path: Path) -> str:
    with translated(path):
        try:
            return read_file(path).decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
