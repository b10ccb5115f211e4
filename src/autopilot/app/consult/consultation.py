"""Opens a sitting: real agents on a disposable checkout, a stream of its own, and nothing that looks like a run."""

import os
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autopilot.app.run import Driver
from autopilot.app.wiring import hire, kept_of
from autopilot.domain.events import Entry, RunResumed, RunStarted
from autopilot.domain.people import Answering
from autopilot.domain.phase import Phase
from autopilot.domain.request import RunRequest
from autopilot.domain.settings import Settings
from autopilot.engine.perform.consultation import FOLDER, Consultation, left_open
from autopilot.engine.perform.run_log import Streams
from autopilot.history.record import RunRecord
from autopilot.journal.clock import SystemClock
from autopilot.journal.earlier_runs import Ledger, new_name
from autopilot.journal.lock import RunLock
from autopilot.journal.sqlite import SqliteJournal
from autopilot.planning.config.user_config import UserChoices, applied
from autopilot.planning.start.opening import opening
from autopilot.planning.start.read_project import Project
from autopilot.ports.agents import Listener
from autopilot.sandbox.processes.stop_signals import stopped_by_signals
from autopilot.state.wait_words import wait_lines

A_YEAR = 525_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is known before anybody is asked. `base` is the commit to look at, empty when nobody will be."""

    request: RunRequest
    root: Path
    base: str
    project: Project
    choices: UserChoices
    ledger: Ledger
    person: Answering
    warn: Callable[[str], None]

    @property
    def home(self) -> Path:
        return self.root / ".autopilot"

    @property
    def done(self) -> AbstractSet[str]:
        """The phases completed before."""
        return self.ledger.completed(self.project.roadmap)

    def first(self, phases: tuple[Phase, ...]) -> RunStarted:
        begun = opening(self.request, self.project, phases, self.done)
        settings = _unhurried(applied(begun.settings, self.choices))
        return msgspec.structs.replace(begun, root=str(self.root), base=self.base, settings=settings)


def _unhurried(settings: Settings) -> Settings:
    """A person may take their time: caps in money and tokens hold, those in minutes do not."""
    limits = msgspec.structs.replace(settings.limits, minutes_per_run=A_YEAR, minutes_per_phase=A_YEAR)
    return msgspec.structs.replace(settings, limits=limits)


@contextmanager
def sitting(kind: str, around: Around, phases: tuple[Phase, ...]) -> Iterator[Consultation]:
    """A new one, or the one that was left when it was about the same commit and roadmap; holds the run's lock."""
    first = around.first(phases)
    held = unfinished(kind, around.home, first)
    name = held.start.run if held else new_name(taken(around.home), kind)
    crew = hire(msgspec.structs.replace(first, run=name), Path(around.request.folder))
    driver = Driver(home=around.home, crew=crew, listener=lambda _stream, _entry: None, warn=around.warn)
    clock = SystemClock()
    with stopped_by_signals(), RunLock(around.home, name), SqliteJournal(around.home / "journal.db", clock) as journal:
        workspace = driver.workspace(name)
        start = workspace.start()
        going_on = kept_of(around.root, crew.processes).held()
        workspace.recover([paper.cwd for paper in going_on.values()])
        for told in crew.homes.bring_home({paper.call for paper in going_on.values()}):
            around.warn(told)
        workspace.snapshot_planning()
        streams = Streams(journal, FOLDER + name, (told_by(around.warn),))
        begun = msgspec.structs.replace(first, run=name, branch=start.branch, base=start.base)
        streams.append_run(RunResumed(pid=os.getpid(), spec=first.spec) if held else begun)
        yield Consultation(driver.hands(workspace, begun), streams, name, around.person)
        crew.homes.end(name)


def told_by(warn: Callable[[str], None]) -> Listener:
    """Nothing else is shown of a sitting, so whoever sits there is told what they wait for."""

    def tell(stream: str, entry: Entry) -> None:  # noqa: ARG001 - a listener's signature
        for line in wait_lines(entry):
            warn(line)

    return tell


def taken(home: Path) -> tuple[str, ...]:
    path = home / "journal.db"
    streams = SqliteJournal.read_only(path).streams() if path.exists() else ()
    return tuple(stream.removeprefix(FOLDER) for stream in streams)


def unfinished(kind: str, home: Path, first: RunStarted) -> RunRecord | None:
    """What was asked on another commit, or of a roadmap that has changed since, is asked anew."""
    path = home / "journal.db"
    held = left_open(SqliteJournal.read_only(path), kind) if path.exists() else None
    same = held is not None and (held.start.base, held.start.phases) == (first.base, first.phases)
    return held if same else None
