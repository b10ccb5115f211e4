"""The only place that builds real adapters: it reads the project, wires the engine and starts, resumes or stops it."""

import hashlib
import os
import secrets
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import msgspec
from platformdirs import user_cache_path

from autopilot.agents import choose as agents
from autopilot.domain.errors import AutopilotError, Interrupted, RepositoryInvalid, StorageFailed, UsageInvalid
from autopilot.domain.events import (
    AgentAnswered,
    AgentStarted,
    Entry,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    stream_of,
)
from autopilot.domain.protocols import Agent, Listener
from autopilot.domain.record import RunRecord
from autopilot.domain.request import RunEnd, RunRequest, report_name
from autopilot.domain.settings import Limits, Settings
from autopilot.engine.ending import run_end
from autopilot.engine.hands import Hands
from autopilot.engine.loop import run_all
from autopilot.engine.orchestrate import second_chances
from autopilot.engine.streams import Streams
from autopilot.evidence.facts import CommandFacts
from autopilot.journal.clock import SystemClock
from autopilot.journal.files import write_atomic
from autopilot.journal.ledger import Ledger, read_ledger
from autopilot.journal.lock import RunLock, alive, birth_of, boot_id, owner
from autopilot.journal.projection import state_of
from autopilot.journal.sqlite import SqliteJournal
from autopilot.journal.state_file import StateFile
from autopilot.planning import order, selection
from autopilot.planning.detect import MANIFESTS
from autopilot.planning.plan_problems import PlanReader
from autopilot.planning.whole import Project, understand
from autopilot.sandbox import choose as sandboxes
from autopilot.sandbox.processes import ChildProcesses
from autopilot.views.summary import account
from autopilot.workspace.git import COMMON, Git, user_env
from autopilot.workspace.git_workspace import GitWorkspace, Places
from autopilot.workspace.user_files import find_root, phase_folders, read_bytes, root_files
from autopilot.workspace.user_repo import UserRepository

Warn = Callable[[str], None]
STOP_SECONDS = 20.0
LENIENT, STRICT = 7.0, 9.0
READ_AS_WELL = frozenset({"mypy.ini", "pytest.ini", "setup.cfg", "tox.ini"})
MOST_NOTES = 5


def start(request: RunRequest, listener: Listener, warn: Warn) -> RunEnd:
    """Start a run, or go on with the open one (INV-01, AMB-01). Nothing is written before all input is understood."""
    root = find_root(Path(request.folder))
    home = root / ".autopilot"
    project = read_project(root)
    StateFile(home).read()
    ledger = past(home)
    done = ledger.completed(project.roadmap)
    chosen = selection.select(request.phases, project.roadmap, done) if request.phases else ()
    if ledger.resumable and ledger.newest and _goes_on(request, ledger.newest, {p.id for p in chosen}, warn):
        return resume(request.folder, listener, warn, agent=None if request.agent == "auto" else request.agent)
    if not request.phases:
        raise UsageInvalid(
            "no phases named, and no unfinished run to go on with",
            why="Autopilot has to know which phases to drive",
            do="name them, as in `autopilot 3-7`, `autopilot next` or `autopilot all`",
        )
    if not chosen:
        return RunEnd(run="", exit=0, reason="All phases complete. Project is done.")
    first = RunStarted(
        run=new_name(ledger.runs),
        root=str(root),
        branch=None,
        base="",
        spec=project.spec,
        roadmap=project.roadmap.path,
        phases=project.roadmap.phases,
        targets=tuple(phase.id for phase in order.order(chosen, project.roadmap)),
        settings=settings_of(request, project),
        folders=project.folders,
        requirements=project.requirements,
        completed=tuple(sorted(done)),
        proposals=ledger.proposals,
    )
    for note in project.notes[:MOST_NOTES]:
        warn(note)
    crew = hire(first, Path(request.folder))
    check_repository(root, crew.processes)
    with RunLock(home, first.run):
        return Driver(home=home, crew=crew, listener=listener, warn=warn).begin(first)


def resume(folder: str, listener: Listener, warn: Warn, agent: str | None = None) -> RunEnd:
    """
    Go on with the newest run from its last finished step; one that failed gets another chance (RSM-01..07).

    `agent` asks another one from here on.
    """
    root = find_root(Path(folder))
    home = root / ".autopilot"
    StateFile(home).read()
    ledger = past(home)
    if ledger.newest is None:
        raise UsageInvalid(
            "No run found.",
            why=f"there is no journal of a run in {home}",
            do="start one: `autopilot next`, or name the phases, as in `autopilot 3-7`",
        )
    begun = ledger.newest.start
    if not ledger.resumable:
        with RunLock(home, begun.run), SqliteJournal(home / "journal.db", SystemClock()) as journal:
            settle(home, journal, ledger)
        return RunEnd(run=begun.run, exit=0, reason="Already finished. Start new with `autopilot <phases>`.")
    project = read_project(root)
    if project.spec.sha256 != begun.spec.sha256:
        warn(f"{project.spec.path} changed since the run started: it is locked anew from here on.")
    settings = msgspec.structs.replace(begun.settings, agent=agent or begun.settings.agent)
    crew = hire(msgspec.structs.replace(begun, settings=settings), Path(folder))
    with RunLock(home, begun.run):
        return Driver(home=home, crew=crew, listener=listener, warn=warn).go_on(begun.run, project)


def stop(folder: str, *, now: bool) -> str:
    """Ask the running process to stop and wait until it has; `now` does not wait for it to tidy up."""
    home = find_root(Path(folder)) / ".autopilot"
    holder = owner(home)
    if holder is None or not alive(holder):
        return "No run is going on here."
    os.kill(holder.pid, signal.SIGKILL if now else signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while alive(holder) and time.monotonic() < deadline:
        time.sleep(0.05)  # the end of a process that is not our child can only be watched for
    if alive(holder):
        raise RepositoryInvalid(
            f"process {holder.pid} did not stop within {STOP_SECONDS:.0f} seconds",
            why="the run may be in the middle of a command that does not end",
            do="use `autopilot stop --now`; nothing is lost by it",
        )
    processes_of(home.parent).sweep(holder.run)
    return f"Stopped {holder.run or 'the run'} (process {holder.pid}). Go on with `autopilot resume`."


def rebuild(folder: str) -> str:
    """Compute state.json anew from the journal, which is the truth."""
    home = find_root(Path(folder)) / ".autopilot"
    ledger = past(home)
    if ledger.newest is None:
        raise UsageInvalid(
            "No run found.", why=f"there is no journal in {home} to rebuild from", do="start a run: `autopilot next`"
        )
    with RunLock(home), SqliteJournal(home / "journal.db", SystemClock()) as journal:
        journal.verify()
        file = StateFile(home)
        write_state(file, Streams(journal, ledger.newest.start.run, ()))
    return str(home / "state.json")


def processes_of(root: Path) -> ChildProcesses:
    """Children of a run in this repository, told from those of every other by its path."""
    return ChildProcesses(territory=hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:16])


def check_repository(root: Path, processes: ChildProcesses) -> None:
    """Raises `RepositoryInvalid` for a repository no run can start from, before anything is written there."""
    git = Git(processes=processes, cwd=root, env=user_env(os.environ), flags=COMMON)
    repository = UserRepository(root, git)
    repository.shape()
    repository.start()


def read_project(root: Path) -> Project:
    manifests = {name for name, _ in MANIFESTS} | READ_AS_WELL
    return understand(lambda path: read_bytes(root / path), root_files(root, manifests), phase_folders(root))


def past(home: Path) -> Ledger:
    path = home / "journal.db"
    if not path.exists():
        return Ledger()
    return read_ledger(SqliteJournal.read_only(path))


def _goes_on(request: RunRequest, newest: RunRecord, chosen: set[str], warn: Warn) -> bool:
    """AMB-01: no phases, or the same ones, resume; others start anew, but not over a run that was cut off."""
    if not request.phases or chosen == set(newest.start.targets):
        return True
    if newest.end is None:
        warn(
            f"An interrupted run of phases {' '.join(newest.start.targets)} is resumed first; "
            f"when it is over, ask again for {request.phases}."
        )
        return True
    return False


def settings_of(request: RunRequest, project: Project) -> Settings:
    config = project.config
    known = {
        name: type(getattr(Limits(), name))(value) for name, value in config.limits.items() if hasattr(Limits(), name)
    }
    return Settings(
        agent=request.agent,
        reviewer=request.reviewer,
        model=request.model or config.model,
        lenient=request.lenient,
        pass_threshold=LENIENT if request.lenient else STRICT,
        research=config.research,
        commands=project.commands,
        limits=Limits(**known),
        sandbox=request.sandbox,
    )


def new_name(taken: tuple[str, ...]) -> str:
    name = time.strftime("run-%Y-%m-%d-%H%M%S", time.gmtime())
    return next(n for n in (name, *(f"{name}-{i}" for i in range(2, 1000))) if n not in taken)


@dataclass(frozen=True, slots=True)
class Crew:
    agent: Agent
    reviewer: Agent
    processes: ChildProcesses


def hire(begun: RunStarted, launch: Path) -> Crew:
    """The agents of a run; raises before anything is written when one cannot be used here."""
    processes, settings = processes_of(Path(begun.root)), begun.settings
    transcripts = Path(begun.root) / ".autopilot" / "transcripts"
    agent = agents.choose(settings.agent, processes, transcripts, begun.run, launch)
    other = settings.reviewer
    reviewer = agents.choose(other, processes, transcripts, begun.run, launch) if other else agent
    return Crew(agent, reviewer, processes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """Drives one run while its lock is held."""

    home: Path
    crew: Crew
    listener: Listener
    warn: Warn

    def begin(self, first: RunStarted) -> RunEnd:
        workspace = self._workspace(first.run)
        begun = workspace.start()
        workspace.recover()
        workspace.snapshot_planning()
        first = msgspec.structs.replace(first, branch=begun.branch, base=begun.base)
        with SqliteJournal(self.home / "journal.db", SystemClock()) as journal:
            settle(self.home, journal, past(self.home))
            self._set_old_state_aside()
            streams = self._streams(journal, first.run)
            streams.append_run(first)
            return self._drive(streams, workspace, first)

    def go_on(self, run: str, project: Project) -> RunEnd:
        self.crew.processes.sweep(run)
        workspace = self._workspace(run)
        workspace.recover()
        with SqliteJournal(self.home / "journal.db", SystemClock()) as journal:
            streams = self._streams(journal, run)
            record = streams.run()
            streams.append_run(RunResumed(pid=os.getpid(), spec=project.spec, retry=second_chances(record)))
            return self._drive(streams, workspace, record.start)

    def _drive(self, streams: Streams, workspace: GitWorkspace, first: RunStarted) -> RunEnd:
        try:
            with stopped_by_signals():
                hands = self._hands(workspace, first)
                finished = run_all(hands, streams)
        except Interrupted:
            streams.forget()
            streams.append_run(RunStopped(exit_code=Interrupted.exit_code, reason="interrupted"))
            raise
        except StorageFailed:
            raise
        except AutopilotError as error:
            streams.append_run(RunStopped(exit_code=error.exit_code, reason=error.what))
            raise
        return wind_up(self.home, streams, finished)

    def _workspace(self, run: str) -> GitWorkspace:
        cache = Path(os.environ.get("AUTOPILOT_CACHE") or user_cache_path("autopilot"))
        return GitWorkspace(Places(root=self.home.parent, cache=cache), self.crew.processes, run, os.environ)

    def _hands(self, workspace: GitWorkspace, first: RunStarted) -> Hands:
        settings, processes = first.settings, self.crew.processes
        sandbox, warning = sandboxes.choose(settings.sandbox, processes, (workspace.history,), f"{first.run}/fact")
        if warning:
            self.warn(warning)
        return Hands(
            agent=self.crew.agent,
            reviewer=self.crew.reviewer,
            workspace=workspace,
            facts=CommandFacts(workspace=workspace, sandbox=sandbox, limits=settings.limits),
            planning=PlanReader(),
            processes=processes,
            clock=SystemClock(),
            boot=boot_id(),
            nonce=lambda: secrets.token_hex(8),
            birth=birth_of,
        )

    def _streams(self, journal: SqliteJournal, run: str) -> Streams:
        file = StateFile(self.home)

        def project(stream: str, entry: Entry) -> None:  # noqa: ARG001 - a listener's signature
            if not isinstance(entry.event, AgentStarted | AgentAnswered):
                write_state(file, streams)

        streams = Streams(journal, run, (self.listener, project))
        return streams

    def _set_old_state_aside(self) -> None:
        """A run that failed or was stopped keeps its state under its own name when another one starts."""
        file = StateFile(self.home)
        held = file.read()
        if held is not None:
            file.archive(held["_meta"]["run_id"])


def wind_up(home: Path, streams: Streams, finished: RunFinished) -> RunEnd:
    """Write the account of a finished run and archive its state. May be done again after a crash."""
    run = streams.run()
    passes = {target: streams.passes(target) for target in run.start.targets}
    told = {stream_of(run.start.run, p.phase.id, p.brief.number): p.entries for ps in passes.values() for p in ps}
    write_atomic(home / report_name(run.start.run), account(run.entries, told).encode())
    if finished.status == "completed":
        StateFile(home).archive(run.start.run, state_of(run, passes, events=None))
    return run_end(run, [record for records in passes.values() for record in records], finished)


def settle(home: Path, journal: SqliteJournal, ledger: Ledger) -> None:
    """A run that ended but was cut off before its last files were written gets them now."""
    held = StateFile(home).read()
    if ledger.newest and ledger.finished and held and held["_meta"]["run_id"] == ledger.newest.start.run:
        streams = Streams(journal, ledger.newest.start.run, ())
        write_state(StateFile(home), streams)
        wind_up(home, streams, ledger.finished)


def write_state(file: StateFile, streams: Streams) -> None:
    run = streams.run()
    file.write(state_of(run, {target: streams.passes(target) for target in run.start.targets}))


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """SIGINT and SIGTERM stop the run at once and cleanly; a second one is not swallowed either."""

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a signal handler's signature
        raise Interrupted(signal.Signals(number).name)

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(ValueError):
                signal.signal(number, handler)
