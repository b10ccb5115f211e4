"""Drive one run: build the real adapters, hold them while the engine works, and write the account of its end."""

import hashlib
import os
import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from platformdirs import user_cache_path

from autopilot.accounts import calibrate, ended_of, write_batch_report
from autopilot.agents import choose as agents
from autopilot.agents.environment import passing_on
from autopilot.domain.errors import AutopilotError, Interrupted, StorageFailed
from autopilot.domain.events import (
    AgentAnswered,
    AgentStarted,
    CompletionStarted,
    Entry,
    PhaseFinished,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
)
from autopilot.domain.person import NOBODY, Person
from autopilot.domain.plain_text import harmless
from autopilot.domain.protocols import Agent, Listener, Sandbox
from autopilot.domain.record import RunRecord
from autopilot.domain.request import RunEnd, report_name
from autopilot.domain.run_caps import RunCaps
from autopilot.domain.secrets import Redactor, redact
from autopilot.domain.tries import finished_steps, starts_anew
from autopilot.domain.uniformity import alert, completed
from autopilot.domain.verdict import Advance
from autopilot.domain.visual import Looking, NotLooking
from autopilot.engine.asked import asked
from autopilot.engine.consultation import close
from autopilot.engine.ending import run_end
from autopilot.engine.going_on import verified_already
from autopilot.engine.hands import Hands
from autopilot.engine.orchestrate import second_chances
from autopilot.engine.parallel import run_all
from autopilot.engine.streams import Streams
from autopilot.evidence.attest import PhaseReceipts, unsigned
from autopilot.evidence.facts import CommandFacts
from autopilot.journal.clock import SystemClock
from autopilot.journal.diagnostics import FileDiagnostics
from autopilot.journal.files import write_atomic
from autopilot.journal.inbox import FileInbox
from autopilot.journal.ledger import Ledger, ledger_of_archive, read_ledger
from autopilot.journal.lock import birth_of, boot_id
from autopilot.journal.metrics import MetricsFile
from autopilot.journal.projection import Projection
from autopilot.journal.sqlite import SqliteJournal
from autopilot.journal.state_file import StateFile
from autopilot.planning.plan_problems import PlanReader
from autopilot.planning.whole import Project
from autopilot.provision import Provision, provide
from autopilot.sandbox import choose as sandboxes
from autopilot.sandbox.agent_view import REPOSITORY_CONFIG, AgentView, repository_config
from autopilot.sandbox.awake import kept_awake
from autopilot.sandbox.equipped import EquippedProcesses, EquippedSandbox
from autopilot.sandbox.processes import ChildProcesses
from autopilot.sandbox.signals import stopped_by_signals
from autopilot.sandbox.versions import tool_versions
from autopilot.views.completion_report import report
from autopilot.views.handover import exhausted, handover
from autopilot.views.trends import notes
from autopilot.workspace.git import COMMON, Git, user_env
from autopilot.workspace.git_workspace import GitWorkspace, Places
from autopilot.workspace.signing import GitSigner

Warn = Callable[[str], None]


def cache_folder() -> Path:
    return Path(os.environ.get("AUTOPILOT_CACHE") or user_cache_path("autopilot"))


def processes_of(root: Path) -> ChildProcesses:
    """Children of a run in this repository, told from those of every other by its path."""
    return ChildProcesses(territory=hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:16])


def past(home: Path) -> Ledger:
    path, archived = home / "journal.db", StateFile(home).archived()
    return read_ledger(SqliteJournal.read_only(path), archived) if path.exists() else ledger_of_archive(archived)


def signer_of(home: Path, processes: ChildProcesses, warn: Warn) -> GitSigner:
    git = Git(processes=processes, cwd=home.parent, env=user_env(os.environ), flags=COMMON)
    return GitSigner(git=git, processes=processes, folder=home / "receipts", warn=warn)


@dataclass(frozen=True, slots=True)
class Crew:
    agent: Agent
    reviewer: Agent
    processes: ChildProcesses
    ground: sandboxes.Ground
    provision: Provision
    keep_awake: bool = True


def hire(begun: RunStarted, launch: Path) -> Crew:
    """The agents of a run and where it runs; raises before anything is written when one cannot be used here."""
    root, settings = Path(begun.root), begun.settings
    processes, transcripts = processes_of(root), root / ".autopilot" / "transcripts"
    ground = sandboxes.choose(settings.sandbox, processes)
    places = Places(root=root, cache=cache_folder())
    workspace = GitWorkspace(places, processes, begun.run or "unnamed", os.environ)
    provision = provide(settings, root, workspace, ground)
    view = _view(begun, workspace, provision.readable)
    confined = ground.agents(view) if settings.confine_agents else processes
    confined = EquippedProcesses(confined, provision.kit) if provision.readable else confined
    called = passing_on(confined, settings.agent_env, os.environ)
    agent = agents.choose(settings.agent, called, transcripts, begun.run, launch)
    other = settings.reviewer
    reviewer = agents.choose(other, called, transcripts, begun.run, launch) if other else agent
    return Crew(agent, reviewer, processes, ground, provision, settings.keep_awake)


def _view(begun: RunStarted, workspace: GitWorkspace, readable: tuple[str, ...]) -> AgentView:
    root = Path(begun.root)
    return AgentView(
        readable=readable,
        beside=lambda folder: (workspace.history_for(folder),),
        settings=lambda folder: workspace.brought_along(folder, REPOSITORY_CONFIG),
        own=begun.settings.agent_folders,
        hidden=(str(root / ".autopilot"), str(root / ".planning")),
        trusts_repository=begun.settings.trust_repository_config,
    )


def remarks(begun: RunStarted, ground: sandboxes.Ground) -> Iterator[str]:
    """What the user must know about how this run is confined."""
    if ground.warning:
        yield ground.warning
    settings, seen = begun.settings, [Path(path).name for path in repository_config(begun.root)]
    hidden = ground.hides and settings.confine_agents
    if seen and not hidden and not settings.trust_repository_config and settings.agent.startswith("exec:"):
        yield f"Agents may load settings that come with the repository ({', '.join(seen)}): they are not hidden here."


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """Drives one run while its lock is held."""

    home: Path
    crew: Crew
    listener: Listener
    warn: Warn
    person: Person = NOBODY

    def begin(self, first: RunStarted) -> RunEnd:
        workspace = self.workspace(first.run)
        begun = workspace.start()
        workspace.recover()
        workspace.snapshot_planning()
        first = msgspec.structs.replace(first, branch=begun.branch, base=begun.base, tools=self._tools(first))
        with SqliteJournal(self.home / "journal.db", SystemClock()) as journal:
            ledger = past(self.home)
            settle(self.home, journal, ledger)
            StateFile(self.home).set_aside()
            if FileDiagnostics(self.home).reset(ledger.newest.start.run if ledger.newest else "unknown"):
                self.warn("Learnings file reset for new run.")
            streams = self._streams(journal, first.run)
            streams.append_run(first)
            for session in {asked.session for asked in first.consulted}:
                close(journal, session)
            return self._drive(streams, workspace, first)

    def go_on(self, run: str, project: Project, caps: RunCaps) -> RunEnd:
        self.crew.processes.sweep(run)
        workspace = self.workspace(run)
        workspace.recover()
        with SqliteJournal(self.home / "journal.db", SystemClock()) as journal:
            streams = self._streams(journal, run)
            record = streams.run()
            retry, tools = second_chances(record), self._tools(record.start)
            resumed = RunResumed(
                pid=os.getpid(),
                spec=project.spec,
                retry=retry,
                tools=tools,
                caps=caps,
                anew=finished_steps(streams.digests()) if starts_anew(record) else None,
            )
            for line in (*verified_already(record), *self._uniform(record)):
                self.warn(line)
            streams.append_run(resumed)
            return self._drive(streams, workspace, record.start)

    def _drive(self, streams: Streams, workspace: GitWorkspace, first: RunStarted) -> RunEnd:
        try:
            with stopped_by_signals(), kept_awake(os.environ, self.warn, wanted=self.crew.keep_awake):
                hands = self.hands(workspace, first)
                finished = self._run(hands, streams)
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

    def _run(self, hands: Hands, streams: Streams) -> RunFinished | RunStopped:
        """To the end, or to a stop; where somebody is at hand they are asked, and with their word it goes on."""
        while True:
            finished = run_all(hands, streams)
            if not asked(self.person, streams, finished):
                return finished
            run = streams.run()
            streams.append_run(RunResumed(pid=os.getpid(), spec=run.spec, tools=self._tools(run.start)))

    def workspace(self, run: str) -> GitWorkspace:
        return GitWorkspace(Places(root=self.home.parent, cache=cache_folder()), self.crew.processes, run, os.environ)

    def hands(self, workspace: GitWorkspace, first: RunStarted) -> Hands:
        ground, provision = self.crew.ground, self.crew.provision
        workspace.supply(provision.source(workspace, ground, self.warn))
        for remark in (*remarks(first, ground), *provision.remarks):
            self.warn(remark)
        return self._hands_in(workspace, first)

    def _hands_in(self, workspace: GitWorkspace, first: RunStarted) -> Hands:
        """With the clone of the workspace, and facts of its own: nothing else is shared by threads but what may be."""
        settings, processes, redactor = first.settings, self.crew.processes, Redactor.of(os.environ)
        ground, provision = self.crew.ground, self.crew.provision
        confined = ground.sandbox((workspace.history, *provision.readable), f"{first.run}/fact")
        sandbox = EquippedSandbox(confined, provision.kit) if provision.readable else confined
        return Hands(
            agent=self.crew.agent,
            reviewer=self.crew.reviewer,
            workspace=workspace,
            facts=CommandFacts(
                workspace=workspace,
                sandbox=sandbox,
                limits=settings.limits,
                commands=settings.commands,
                redact=redactor,
            ),
            planning=PlanReader(),
            diagnostics=FileDiagnostics(self.home, redactor),
            processes=processes,
            clock=SystemClock(),
            boot=boot_id(),
            nonce=lambda: secrets.token_hex(8),
            birth=birth_of,
            looks=self._looks(workspace, first),
            receipts=PhaseReceipts(
                signer_of(self.home, processes, self.warn).sign if settings.sign_receipts else unsigned
            ),
            redact=redactor,
            inbox=FileInbox(self.home),
            elsewhere=lambda slot: self._hands_in(workspace.in_slot(slot), first),
            halted=processes.halted,
            cores=os.cpu_count() or 1,
        )

    def _looks(self, workspace: GitWorkspace, first: RunStarted) -> Looking:
        """A browser, where the run has use for one."""
        processes = self.crew.processes
        if first.settings.visual is None:
            return NotLooking()
        from autopilot.evidence.visual.look import BrowserLooking
        from autopilot.sandbox import serving

        shown = (workspace.history, *serving.readable())

        def sandbox(mark: str) -> Sandbox:
            return self.crew.ground.sandbox(shown, mark)

        return BrowserLooking(
            workspace=workspace,
            serving=serving.AppServing(sandbox=sandbox, processes=processes, mark=f"{first.run}/app"),
            album=workspace.album,
            processes=processes,
            clock=SystemClock(),
            environment=os.environ,
            mark=f"{first.run}/browser",
        )

    def _tools(self, first: RunStarted) -> dict[str, str]:
        commands = (command for _, command in first.settings.commands.configured())
        return tool_versions(self.crew.processes, commands, os.environ)

    def _uniform(self, run: RunRecord) -> tuple[str, ...]:
        """INTG-05: what the newest score says together with those before it."""
        told = alert(completed(run.of(PhaseFinished)))
        return (told.message,) if told else ()

    def _streams(self, journal: SqliteJournal, run: str) -> Streams:
        def hear(stream: str, entry: Entry) -> None:
            self.listener(stream, entry)
            if isinstance(entry.event, PhaseFinished) and isinstance(entry.event.verdict, Advance):
                for line in self._uniform(streams.run()):
                    self.warn(line)

        streams = projected(self.home, journal, run, hear)
        return streams


def projected(home: Path, journal: SqliteJournal, run: str, listener: Listener) -> Streams:
    """The run's streams, with state.json and the report of a batch kept up with them."""
    file, projection = StateFile(home), Projection()

    def project(stream: str, entry: Entry) -> None:  # noqa: ARG001 - a listener's signature
        if not isinstance(entry.event, AgentStarted | AgentAnswered):
            file.write(projection.state(streams.run(), streams))
        if isinstance(entry.event, CompletionStarted | RunFinished):
            write_batch_report(home, streams)

    streams = Streams(journal, run, (listener, project))
    return streams


def wind_up(home: Path, streams: Streams, finished: RunFinished | RunStopped) -> RunEnd:
    """Write the account of a finished run and archive its state (COMP-05). May be done again after a crash."""
    if isinstance(finished, RunStopped):
        return run_end(streams.run(), streams.digests(), finished)
    calibrate(home, streams)
    write_batch_report(home, streams)
    ended, end, state = ended_of(streams, finished)
    run = ended.run
    paper = home / report_name(run.start.run)
    write_atomic(paper, redact(harmless(report(ended))).encode())
    runs = MetricsFile(home).record(ended.metrics)
    write_atomic(paper, redact(harmless(report(ended, runs))).encode())
    if finished.status == "completed":
        StateFile(home).archive(run.start.run, state)
    if exhausted(end):
        # Named for the moment the run ended, so that doing this again writes the same file.
        moment = re.sub(r"\.\d+|[:-]", "", run.entries[-1].at)
        write_atomic(home / f"handoff-{moment}.md", redact(harmless(handover(end))).encode())
    return msgspec.structs.replace(end, ending=msgspec.structs.replace(end.closing, notes=notes(runs)))


def settle(home: Path, journal: SqliteJournal, ledger: Ledger) -> None:
    """A run that ended but was cut off before its last files were written gets them now."""
    held = StateFile(home).read()
    if ledger.newest and ledger.finished and held and held["_meta"]["run_id"] == ledger.newest.start.run:
        streams = Streams(journal, ledger.newest.start.run, ())
        write_state(StateFile(home), streams)
        wind_up(home, streams, ledger.finished)


def write_state(file: StateFile, streams: Streams) -> None:
    file.write(Projection().state(streams.run(), streams))
