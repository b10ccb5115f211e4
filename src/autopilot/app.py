"""The only place that builds real adapters: it reads the project, wires the engine and starts, resumes or stops it."""

import hashlib
import os
import platform
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from platformdirs import user_cache_path

from autopilot.agents import choose as agents
from autopilot.agents.installed import agent_checks
from autopilot.domain.checkup import Check
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
from autopilot.domain.forecast import Forecast
from autopilot.domain.protocols import Agent, Listener
from autopilot.domain.request import RunEnd, RunRequest, report_name
from autopilot.engine.ending import run_end
from autopilot.engine.going_on import goes_on, still_to_do
from autopilot.engine.hands import Hands
from autopilot.engine.loop import run_all
from autopilot.engine.orchestrate import second_chances
from autopilot.engine.streams import Streams
from autopilot.evidence.facts import CommandFacts
from autopilot.journal.checkup import run_checks
from autopilot.journal.clock import SystemClock
from autopilot.journal.diagnostics import FileDiagnostics
from autopilot.journal.files import make_folder, write_atomic
from autopilot.journal.ledger import Ledger, ledger_of_archive, new_name, read_ledger
from autopilot.journal.lock import RunLock, alive, birth_of, boot_id, end, owner
from autopilot.journal.projection import state_of
from autopilot.journal.sqlite import SqliteJournal
from autopilot.journal.state_file import StateFile
from autopilot.planning import forecast as forecasts
from autopilot.planning import prices, selection
from autopilot.planning.checkup import planning_checks
from autopilot.planning.desk import Desk, Pens
from autopilot.planning.detect import MANIFESTS
from autopilot.planning.opening import nothing_to_do, opening
from autopilot.planning.plan_problems import PlanReader
from autopilot.planning.whole import CONFIG, Project, understand
from autopilot.planning.write_back import with_project
from autopilot.sandbox import choose as sandboxes
from autopilot.sandbox.checkup import sandbox_check
from autopilot.sandbox.processes import ChildProcesses
from autopilot.sandbox.signals import stopped_by_signals
from autopilot.steps import plan, research
from autopilot.views.overview import Overview, overview
from autopilot.views.summary import account
from autopilot.workspace.checkup import cache_check, disk_check, git_check, repository_checks
from autopilot.workspace.git import COMMON, Git, user_env
from autopilot.workspace.git_workspace import GitWorkspace, Places
from autopilot.workspace.user_files import find_root, phase_folders, read_bytes, root_files
from autopilot.workspace.user_repo import UserRepository

Warn = Callable[[str], None]
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
    chosen = selection.wanted(request, project.roadmap, done)
    if ledger.resumable and ledger.newest and goes_on(request, ledger.newest, {p.id for p in chosen}, warn):
        return resume(request.folder, listener, warn, agent=None if request.agent == "auto" else request.agent)
    if not chosen:
        return RunEnd(run="", exit=0, reason=nothing_to_do(request, project, done))
    first = msgspec.structs.replace(
        opening(request, project, chosen, done),
        run=new_name(ledger.runs),
        root=str(root),
        proposals=ledger.proposals,
    )
    for note in project.notes[:MOST_NOTES]:
        warn(note)
    crew = hire(first, Path(request.folder))
    check_repository(root, crew.processes)
    with RunLock(home, first.run):
        return Driver(home=home, crew=crew, listener=listener, warn=warn).begin(first)


def foresee(request: RunRequest) -> Forecast:
    """What `start` would do with the request, and what it may cost. Nothing is written and no agent is asked."""
    root = find_root(Path(request.folder))
    project, ledger, notes = read_project(root), past(root / ".autopilot"), list[str]()
    done = ledger.completed(project.roadmap)
    chosen = selection.wanted(request, project.roadmap, done)
    open_run = ledger.newest if ledger.resumable else None
    if open_run and not goes_on(request, open_run, {p.id for p in chosen}, notes.append):
        open_run = None
    if not open_run and not chosen:
        notes.append(nothing_to_do(request, project, done))
    first = still_to_do(open_run, request) if open_run else opening(request, project, chosen, done)
    first = msgspec.structs.replace(first, root=str(root))
    processes = processes_of(root)
    sandbox, warning = sandboxes.choose(first.settings.sandbox, processes, ())
    per_million, price_note = prices.per_million(first.settings.model, prices.installed())
    around = forecasts.Surroundings(
        per_million=per_million,
        price_note=price_note,
        sandbox=f"{sandbox.tier}: {warning or 'it withstood an attack just now'}",
        resumes=open_run.start.run if open_run else None,
        notes=(*project.notes[:MOST_NOTES], *notes),
        problems=forecasts.troubles(
            lambda: hire(first, Path(request.folder)),
            lambda: check_repository(root, processes),
            lambda: StateFile(root / ".autopilot").read(),
        ),
    )
    return forecasts.forecast(
        project, first, lambda r: {"research": research.prompt(r), "plan": plan.prompt(r)}, around
    )


def examine(folder: str) -> tuple[Check, ...]:
    """Everything a run depends on, looked at and left as it is."""
    python = Check(level="ok", what="python", found=platform.python_version())
    try:
        root = find_root(Path(folder))
    except RepositoryInvalid as error:
        missing = Check(level="fail", what="repository", found=error.what, fix=error.do)
        processes = ChildProcesses()
        return (missing, python, *agent_checks(processes, os.environ), sandbox_check(processes))
    processes, home = processes_of(root), root / ".autopilot"
    git = Git(processes=processes, cwd=root, env=user_env(os.environ), flags=COMMON)
    return (
        git_check(git),
        *repository_checks(root, git),
        *planning_checks(lambda: read_project(root)),
        *run_checks(home, lambda: past(home), StateFile(home).read),
        *agent_checks(processes, os.environ),
        sandbox_check(processes),
        disk_check("disk", root),
        disk_check("cache disk", cache_folder()),
        cache_check(cache_folder()),
        python,
    )


def write_config(folder: str) -> str:
    """Put the detected commands into config.json with their source, and leave all else there as it is."""
    root = find_root(Path(folder))
    held, path = read_bytes(root / CONFIG), (root / CONFIG).resolve()
    facts = forecasts.project_facts(read_project(root))
    text = with_project(None if held is None else held.decode("utf-8"), facts, CONFIG)
    make_folder(path.parent)
    write_atomic(path, text.encode("utf-8"))
    return str(path)


def survey(folder: str) -> Overview:
    """How far the roadmap is, over all runs."""
    root = find_root(Path(folder))
    project = read_project(root)
    begun = {phase for phase, place in project.folders.items() if (root / place / "EXECUTION-LOG.md").is_file()}
    return overview(project.roadmap, past(root / ".autopilot"), begun)


def cache_folder() -> Path:
    return Path(os.environ.get("AUTOPILOT_CACHE") or user_cache_path("autopilot"))


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
    end(holder, now=now)
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


def desk(folder: str) -> Desk:
    """The planning files of the repository, to look at and to edit."""
    root, manifests = find_root(Path(folder)), {name for name, _ in MANIFESTS} | READ_AS_WELL
    pens = Pens(read=read_bytes, write=write_atomic, make_folder=make_folder)
    return Desk(root=root, pens=pens, root_files=lambda: root_files(root, manifests))


def past(home: Path) -> Ledger:
    path, archived = home / "journal.db", StateFile(home).archived()
    return read_ledger(SqliteJournal.read_only(path), archived) if path.exists() else ledger_of_archive(archived)


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
            ledger = past(self.home)
            settle(self.home, journal, ledger)
            StateFile(self.home).set_aside()
            if FileDiagnostics(self.home).reset(ledger.newest.start.run if ledger.newest else "unknown"):
                self.warn("Learnings file reset for new run.")
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
        return GitWorkspace(Places(root=self.home.parent, cache=cache_folder()), self.crew.processes, run, os.environ)

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
            diagnostics=FileDiagnostics(self.home),
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
