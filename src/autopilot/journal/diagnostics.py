"""Papers for people and for later phases, below `.autopilot/`; each may be written again without doing harm."""

from pathlib import Path

from autopilot.journal.failures import translated
from autopilot.journal.files import flush_folder, make_folder, write_atomic

HEADER = "# Learnings (current run)\n"


class FileDiagnostics:
    """Implements `Diagnostics` in the folder `.autopilot` of a project."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def write(self, name: str, text: str) -> None:
        folder = self._home / "diagnostics"
        make_folder(folder)
        write_atomic(folder / name, text.encode("utf-8", "replace"))

    def learn(self, entry: str) -> None:
        """Append the entry unless it is there: a pass that is ended twice, after a crash, teaches once."""
        known = self.learnings() or HEADER
        if entry not in known:
            write_atomic(self._learnings, f"{known}\n{entry}".encode("utf-8", "replace"))

    def learnings(self) -> str:
        with translated(self._learnings):
            try:
                return self._learnings.read_text(encoding="utf-8", errors="replace")
            except FileNotFoundError:
                return ""

    def reset(self, run: str) -> bool:
        """LRNG-03, AMB-04: a new run starts without them; those of `run` are kept in the archive."""
        if not self.learnings():
            return False
        archive = self._home / "archive"
        make_folder(archive)
        with translated(self._learnings):
            self._learnings.replace(archive / f"learnings-{run}.md")
            flush_folder(archive)
            flush_folder(self._home)
        return True

    @property
    def _learnings(self) -> Path:
        return self._home / "learnings.md"
