"""Following a journal from outside: what is new in it since it was last looked at."""

from pathlib import Path

from autopilot.domain.events import Entry
from autopilot.journal.chain import Tip
from autopilot.journal.head import head_path, read_head
from autopilot.journal.sqlite import SqliteJournal

MOST = 2_000


class Tail:
    """
    Hands out every entry once, in the order of the journal, each checked against the one before it.

    `strange` says why the journal is not the user's own, and so could not be checked; empty where it is.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._tip = path, Tip()
        self.strange = ""

    @property
    def moved(self) -> bool:
        """Whether there may be something new: one small file is read, the journal is not opened."""
        return (read_head(head_path(self._path)) or Tip()) != self._tip

    def news(self, most: int = MOST) -> list[tuple[str, Entry]]:
        """What came since the last call, up to `most`. Raises `StorageFailed` for a journal that is not the same."""
        if self._tip == Tip() and not self._path.exists():
            return []
        journal = SqliteJournal.look(self._path)
        self.strange = journal.bound.strange
        found, self._tip = journal.behind(self._tip, most)
        return found
