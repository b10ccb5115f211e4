"""Stores a request that certain waits end now: a small file that any process may replace."""

from collections.abc import Iterable
from pathlib import Path

from autopilot.files.home_files import read_file
from autopilot.journal.durable_files import make_folder, write_atomic


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
