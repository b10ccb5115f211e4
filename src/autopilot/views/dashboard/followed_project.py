"""One project followed by the dashboard: its journal, its runs as pictures, and whether somebody works on them."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from autopilot.domain.errors import AutopilotError
from autopilot.domain.events import Entry
from autopilot.domain.value import Value
from autopilot.journal.clock import SystemClock
from autopilot.journal.lock import alive, owner
from autopilot.journal.sqlite import SqliteJournal, Tail
from autopilot.state.picture_run import ASKING
from autopilot.text.clean import clean
from autopilot.text.times import iso
from autopilot.views.dashboard.actions import Question
from autopilot.views.dashboard.run_view import Doing, ShownRun, over
from autopilot.views.terminal.agent_activity import Glance, Glances

LOOK_S, AGAIN_S, RUNS_LISTED = 0.5, 2.0, 50
# An agent that has not used the processor for less than this is at work.
IDLE_S = 3.0


class RunLine(Value, frozen=True, kw_only=True):
    run: str
    state: str
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
        self.runs: dict[str, ShownRun] = {}
        self._tail = Tail(self.home / "journal.db")
        self._working, self._trouble, self._questions = "", "", tuple[Question, ...]()
        self._look_at, self._again_at = 0.0, 0.0
        self._lines: dict[str, RunLine] = {}
        self._clock, self._glances = SystemClock(), Glances(time.monotonic)

    def advance(self) -> set[str]:
        """Take in what is new; the runs it is about. Trouble with the journal is shown and tried again."""
        now, touched = time.monotonic(), set[str]()
        if now >= self._look_at:
            self._look_at = now + LOOK_S
            touched |= self._look()
        if now < self._again_at:
            return touched
        try:
            while self._tail.moved and (news := self._tail.news()):
                touched |= {self._hear(s, entry) for s, entry in news if not s.startswith(ASKING)}
            self._trouble = _stranger(self._tail.strange)
        except AutopilotError as error:
            self._trouble, self._again_at = clean(f"{error.what} {error.do}", 400), now + AGAIN_S
            self._tail, self.runs, self._lines = Tail(self.home / "journal.db"), {}, {}
        return touched

    def _hear(self, stream: str, entry: Entry) -> str:
        run = stream.partition("/")[0]
        if run not in self.runs:
            self.runs[run] = ShownRun()
        self.runs[run].hear(stream, entry)
        self._lines.pop(run, None)
        return run

    def _look(self) -> set[str]:
        """Who works here, what their agents do, and what is asked: none of it is in the journal."""
        try:
            holder = owner(self.home)
            self._working = holder.run if holder and alive(holder) else ""
            self._questions = self._pending(self.folder) if self._pending else ()
        except AutopilotError as error:
            self._trouble = clean(f"{error.what} {error.do}", 400)
        shown = self.runs.get(self._working)
        if shown is None:
            return set()
        before, shown.doing = shown.doing, self._doing(shown)
        return set() if before == shown.doing else {self._working}

    def _doing(self, shown: ShownRun) -> dict[str, Doing]:
        """Of each call under way. While an agent stays idle the moment it became so stays the same."""
        seen = self._glances.all(shown.picture.calls)
        return {call: self._told(glance, shown.doing.get(call, Doing())) for call, glance in seen.items()}

    def _told(self, glance: Glance, before: Doing) -> Doing:
        if glance.idle is None or glance.idle < IDLE_S:
            return Doing(doing=glance.doing)
        since = datetime.fromisoformat(self._clock.now()) - timedelta(seconds=glance.idle)
        return Doing(doing=glance.doing, idle_since=before.idle_since or iso(since))

    def line(self) -> ProjectLine:
        return ProjectLine(
            id=self.id,
            name=clean(self.folder.name or "/", 100),
            runs=tuple(self._run_line(run) for run in list(self.runs)[: -RUNS_LISTED - 1 : -1]),
            working=self._working,
            trouble=self._trouble,
            questions=self._questions,
        )

    def _run_line(self, run: str) -> RunLine:
        """Worked out again only when the run has moved."""
        if run not in self._lines:
            picture = self.runs[run].picture
            self._lines[run] = RunLine(run=run, state=picture.state, over=over(picture), total=len(picture.targets))
        return self._lines[run]

    @property
    def newest(self) -> str:
        return next(reversed(self.runs), "")

    def entries(self, stream: str) -> tuple[Entry, ...]:
        """A stream of the journal, read anew. Raises `StorageFailed`."""
        return SqliteJournal.look(self.home / "journal.db").load(stream)


def _stranger(why: str) -> str:
    return clean(f"These runs are not yours: {why}. What you can do: autopilot progress", 400) if why else ""
