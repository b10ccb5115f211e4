"""A run's entries as another process writes them: the journal is looked at again and again, and never touched."""

import time
from collections.abc import Iterator
from pathlib import Path

from autopilot.domain.errors import StorageFailed, UsageInvalid
from autopilot.domain.events import Entry
from autopilot.journal.head import head_path, read_head
from autopilot.journal.lock import alive, owner
from autopilot.journal.sqlite import SqliteJournal

MOST_NAMED = 5
TRIES, PAUSE_S = 3, 0.05
Told = tuple[str, Entry]


class Follower:
    """`home` is `.autopilot`. A look that finds nothing new reads one small file."""

    def __init__(self, home: Path, run: str) -> None:
        self._home, self._path, self.run = home, home / "journal.db", run
        self._seq, self._looked = 0, 0

    def news(self) -> Iterator[Told]:
        """What was written since the last look, in order."""
        head = read_head(head_path(self._path))
        if head is None or head.seq == self._looked:
            return
        for seq, stream, entry in self._written():
            self._seq = seq
            yield stream, entry
        self._looked = head.seq

    def _written(self) -> tuple[tuple[int, str, Entry], ...]:
        """A journal that is just being closed cannot be opened for an instant; what is really damaged stays so."""
        for _ in range(TRIES - 1):
            try:
                return SqliteJournal.look(self._path).since(self.run, self._seq)
            except StorageFailed:
                time.sleep(PAUSE_S)
        return SqliteJournal.look(self._path).since(self.run, self._seq)

    def alive(self) -> bool:
        """Whether a process works on the repository."""
        holder = owner(self._home)
        return holder is not None and alive(holder)


def newest(home: Path) -> Follower:
    """Of the run that is going on, else of the newest one. Raises `UsageInvalid` when there is none."""
    holder = owner(home)
    if holder is not None and alive(holder) and holder.run:
        return Follower(home, holder.run)
    return Follower(home, _runs(home)[-1])


def named(home: Path, name: str) -> Follower:
    """Of the run with that name, or the only one that has it in its name; without a name of the newest."""
    runs = _runs(home)
    found = [run for run in runs if run == name] or [run for run in runs if name in run]
    if not name or len(found) == 1:
        return Follower(home, found[0] if name else runs[-1])
    what = f"{len(found)} runs fit {name!r}" if found else f"There is no run {name!r}"
    raise UsageInvalid(
        f"{what}.",
        why="Only one run can be played, and it must be in this repository's journal.",
        do=f"Name one of: {', '.join(reversed((found or runs)[-MOST_NAMED:]))}",
    )


def history(home: Path, run: str) -> tuple[Told, ...]:
    """Everything the journal says of the run by now; nothing where it cannot be read."""
    try:
        return tuple(Follower(home, run).news())
    except StorageFailed:
        return ()


def _runs(home: Path) -> list[str]:
    path = home / "journal.db"
    runs = [s for s in SqliteJournal.look(path).streams() if "/" not in s] if path.exists() else []
    if not runs:
        raise UsageInvalid(
            "No run found.",
            why=f"There is no journal of a run in {str(home)!r}.",
            do="Start one, for example with: autopilot next",
        )
    return runs
