"""A person's wish that a run which waits goes on at once: a small file that any process may write anew."""

import secrets
from pathlib import Path

from autopilot.journal.files import make_folder, write_atomic


class FileNudge:
    """Who waits compares what is there with what was there before, so a wish reaches all who wait, and none later."""

    def __init__(self, home: Path) -> None:
        self._path = home / "inbox" / "retry"

    def put(self) -> None:
        make_folder(self._path.parent)
        write_atomic(self._path, secrets.token_hex(8).encode())

    def mark(self) -> str:
        """Empty before the first wish; another one after each."""
        try:
            return self._path.read_text(encoding="ascii", errors="replace")
        except OSError:
            return ""
