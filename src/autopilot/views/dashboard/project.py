"""One project followed by the dashboard: its journal, its runs as pictures, and whether somebody works on them."""

import time
from collections.abc import Callable
from pathlib import Path

from autopilot.domain.errors import AutopilotError
from autopilot.domain.events import Entry
from autopilot.domain.value import Value
from autopilot.journal.lock import alive, owner
from autopilot.journal.sqlite import SqliteJournal
from autopilot.journal.tail import Tail
from autopilot.views.dashboard.deeds import Question
from autopilot.views.dashboard.run_picture import RunPicture
from autopilot.views.text import clean

LOOK_S, AGAIN_S, RUNS_LISTED = 0.5, 2.0, 50


class RunLine(Value, frozen=True, kw_only=True):
    run: str
    status: str
    started: str
    over: int
    total: int


class ProjectLine(Value, frozen=True, kw_only=True):
    """`working` names the run somebody works on now; `trouble` says why the journal cannot be read."""

    id: str
    name: str
    runs: tuple[RunLine, ...]
    working: str = ""
    trouble: str = ""
    questions: tuple[Question, ...] = ()


class Project:
    """Used by one thread. `id` is the project's name in addresses."""

    def __init__(self, id_: str, folder: Path, pending: Callable[[Path], tuple[Question, ...]] | None = None) -> None:
        self.id, self.folder, self._pending = id_, folder, pending
        self.home = folder / ".autopilot"
        self.pictures: dict[str, RunPicture] = {}
        self._tail = Tail(self.home / "journal.db")
        self._working, self._trouble, self._questions = "", "", tuple[Question, ...]()
        self._look_at, self._again_at = 0.0, 0.0
        self._lines: dict[str, RunLine] = {}

    def advance(self) -> set[str]:
        """Take in what is new; the runs it is about. Trouble with the journal is shown and tried again."""
        now, touched = time.monotonic(), set[str]()
        if now >= self._look_at:
            self._look_at = now + LOOK_S
            self._look()
        if now < self._again_at:
            return touched
        try:
            while self._tail.moved and (news := self._tail.news()):
                touched |= {self._hear(stream, entry) for stream, entry in news}
            self._trouble = ""
        except AutopilotError as error:
            self._trouble, self._again_at = clean(f"{error.what} {error.do}", 400), now + AGAIN_S
            self._tail, self.pictures, self._lines = Tail(self.home / "journal.db"), {}, {}
        return touched

    def _hear(self, stream: str, entry: Entry) -> str:
        run = stream.partition("/")[0]
        if run not in self.pictures:
            self.pictures[run] = RunPicture(run)
        self.pictures[run].hear(stream, entry)
        self._lines.pop(run, None)
        return run

    def _look(self) -> None:
        """Who works here, and what is asked: neither is in the journal."""
        try:
            holder = owner(self.home)
            self._working = holder.run if holder and alive(holder) else ""
            self._questions = self._pending(self.folder) if self._pending else ()
        except AutopilotError as error:
            self._trouble = clean(f"{error.what} {error.do}", 400)

    def line(self) -> ProjectLine:
        return ProjectLine(
            id=self.id,
            name=clean(self.folder.name or "/", 100),
            runs=tuple(self._run_line(run) for run in list(self.pictures)[: -RUNS_LISTED - 1 : -1]),
            working=self._working,
            trouble=self._trouble,
            questions=self._questions,
        )

    def _run_line(self, run: str) -> RunLine:
        """Worked out again only when the run has moved."""
        if run not in self._lines:
            head = self.pictures[run].head()
            waiting = head.counts.get("not_started", 0) + head.counts.get("in_progress", 0)
            self._lines[run] = RunLine(
                run=run, status=head.status, started=head.started, over=head.total - waiting, total=head.total
            )
        return self._lines[run]

    @property
    def newest(self) -> str:
        return next(reversed(self.pictures), "")

    def entries(self, stream: str) -> tuple[Entry, ...]:
        """A stream of the journal, read anew. Raises `StorageFailed`."""
        return SqliteJournal.read_only(self.home / "journal.db").load(stream)
