"""What a run may not leave behind it, and what its journal says was done."""

import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

from autopilot.app import wiring as hiring
from autopilot.domain.errors import StorageFailed
from autopilot.domain.events import AgentAnswered, Event, StepFinished
from autopilot.journal.lock import owner
from autopilot.journal.sqlite import SqliteJournal
from autopilot.policy.failover import TROUBLES
from support.repos import git


def survivors(root: Path) -> list[str]:
    """Programs started for the project that are still alive, by the mark in their environment: name and words."""
    mark = f"AUTOPILOT_MARK={hiring.processes_of(root)._territory}/".encode()
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in environ.read_bytes():
                told = (environ.parent / "comm").read_bytes() + (environ.parent / "cmdline").read_bytes()
                found.append(" ".join(told.replace(b"\0", b" ").decode("utf-8", "replace").split()))
    return found


def leftovers(place: Path, root: Path) -> list[str]:
    """Everything that should be gone when a run has ended: programs, locks, held calls, checkouts, temporary files."""
    home = root / ".autopilot"
    files = [
        *(root / ".git").rglob("*.lock"),
        *(root / ".git").rglob("*.autopilot"),
        *home.rglob("*.lock"),
        *(home / "keep").glob("*"),
        *place.glob("cache/*/checkouts/*"),
        *place.glob("cache/**/*.lock"),
        *place.glob("tmp/*"),
    ]
    held = owner(home)
    alive = survivors(root) if sys.platform == "linux" else []
    return [*alive, *map(str, files), *([f"the lock of {held.pid}"] if held else [])]


def broken(root: Path) -> list[str]:
    """What git finds wrong with the user's repository and with ours."""
    ours = root / ".autopilot" / "repo.git"
    found = [git(root, "fsck", "--no-dangling", "--no-progress")]
    if ours.is_dir():
        found.append(git(root, f"--git-dir={ours}", "fsck", "--no-dangling", "--no-progress"))
    return [line for text in found for line in text.splitlines()]


def events(root: Path) -> list[tuple[str, Event]]:
    """Everything on record, by its stream; nothing where no run has come so far as to write."""
    path = root / ".autopilot" / "journal.db"
    if not path.exists():
        return []
    try:
        journal = SqliteJournal.read_only(path)
    except StorageFailed as error:
        if error.what == "No run found.":
            return []
        raise
    return [(stream, entry.event) for stream in journal.streams() for entry in journal.load(stream)]


def steps_done(done: list[tuple[str, Event]]) -> Counter[tuple[str, str, int]]:
    return Counter((stream, event.step, event.n) for stream, event in done if isinstance(event, StepFinished))


def calls_heard(done: list[tuple[str, Event]]) -> Counter[str]:
    """How often each call has its answer on record; an agent that was not to be had has given none."""
    return Counter(
        event.call for _, event in done if isinstance(event, AgentAnswered) and event.outcome not in TROUBLES
    )


def twice(done: list[tuple[str, Event]]) -> list[str]:
    """What is on record more than once and may not be."""
    return [str(what) for counts in (steps_done(done), calls_heard(done)) for what, n in counts.items() if n > 1]
