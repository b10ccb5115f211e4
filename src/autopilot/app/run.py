"""Drive one run: build the real adapters, hold them while the engine works, and write the account of its end."""

import os
import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autopilot.agents.discovery import signing_in
from autopilot.app.dependencies import suggested
from autopilot.app.finish import calibrate, ended_of, write_batch_report
from autopilot.app.run_grant import grant_of
from autopilot.app.state_writer import ProjectedStreams, beating
from autopilot.app.wiring import Crew, Warn, atlas_of, cache_folder, past, records_of, remarks, signer_of
from autopilot.authority.grants import Grant, Grants
from autopilot.codemap.grammars import missing
from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.codemap import NO_ATLAS, Atlas
from autopilot.domain.errors import AutopilotError, Interrupted, StorageFailed
from autopilot.domain.events import AgentAnswered, Entry, PhaseFinished, RunFinished, RunResumed, RunStarted, RunStopped
from autopilot.domain.evidence import CommandRun
from autopilot.domain.people import NOBODY, Person
from autopilot.domain.process import Sandbox, refusals
from autopilot.domain.request import Resumption, RunEnd, report_name
from autopilot.domain.rework import redoes
from autopilot.domain.settings import Settings, detected
from autopilot.domain.verdict import Advance, Stop
from autopilot.domain.visual import Looking, NotLooking
from autopilot.engine.decide.next_move import one_chance, phase_of, second_chances
from autopilot.engine.decide.resume import verified_already
from autopilot.engine.perform.agent_calls import heard_calls
from autopilot.engine.perform.consultation import close
from autopilot.engine.perform.context import Hands
from autopilot.engine.perform.run_log import Streams
from autopilot.engine.run.drive import run_all
from autopilot.engine.run.result import run_end
from autopilot.engine.run.verdicts import asked
from autopilot.evidence.facts import CommandFacts
from autopilot.evidence.held_already import held_already
from autopilot.evidence.receipts.signed_files import PhaseReceipts, unsigned
from autopilot.history.record import RunRecord
from autopilot.journal.clock import SystemClock
from autopilot.journal.diagnostic_files import FileDiagnostics
from autopilot.journal.durable_files import clear_torn, write_atomic
from autopilot.journal.earlier_runs import Ledger
from autopilot.journal.inbox import FileInbox, FileNudge
from autopilot.journal.lock import birth_of, boot_id
from autopilot.journal.metrics_file import MetricsFile
from autopilot.journal.sqlite import SqliteJournal
from autopilot.journal.state_file import StateFile
from autopilot.planning.plan.problems import PlanReader
from autopilot.planning.roadmap import ids
from autopilot.planning.start.read_project import Project
from autopilot.policy.facts.commands import first_results, why_not_run
from autopilot.policy.loops import finished_steps, starts_anew
from autopilot.policy.roadmap_changes import STARTS_OVER, Settled
from autopilot.policy.uniform_scores import alert, completed
from autopilot.ports.agents import Listener
from autopilot.sandbox.egress.passage import clear_records
from autopilot.sandbox.processes.awake import kept_awake
from autopilot.sandbox.processes.dependency_path import EquippedSandbox
from autopilot.sandbox.processes.malloc import hand_back
from autopilot.sandbox.processes.scratch import clear_abandoned, room
from autopilot.sandbox.processes.stop_signals import stopped_by_signals
from autopilot.sandbox.processes.tool_versions import tool_versions
from autopilot.state.build_state import Projection
from autopilot.text.clean import harmless
from autopilot.text.distribution import how_to_install
from autopilot.text.redact import Redactor, redact
from autopilot.views.lines.trend_lines import notes
from autopilot.views.markdown.completion_report import report
from autopilot.views.markdown.handover import exhausted, handover
from autopilot.workspace.git_workspace import GitWorkspace, Places


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """Drives one run while its lock is held."""

    home: Path
    crew: Crew
    listener: Listener
    warn: Warn
    person: Person = NOBODY
    launch: Path = Path()

    def begin(self, first: RunStarted) -> RunEnd:
        self.crew.kept.release_all()
        self._clear_litter()
        self.bring_home(first.run)
        clear_records(records_of(self.home.parent))
        workspace = self.workspace(first.run)
        begun = workspace.start()
        workspace.recover()
        workspace.snapshot_planning()
        first = msgspec.structs.replace(first, branch=begun.branch, base=begun.base, tools=self._tools(first))
        first, tried = self._with_usable(workspace, first)
        with SqliteJournal(self.home / "journal.db", SystemClock()) as journal:
            ledger = past(self.home)
            settle(self.home, journal, ledger)
            StateFile(self.home).set_aside()
            if FileDiagnostics(self.home).reset(ledger.newest.start.run if ledger.newest else "unknown"):
                self.warn("Learnings file reset for new run.")
            streams = self._streams(journal, first.run)
            Grants().write(grant_of(first, self.crew, self.launch))
            streams.append_run(first)
            for session in {asked.session for asked in first.consulted}:
                close(journal, session)
            return self._drive(streams, workspace, first, tried)

    def _with_usable(self, workspace: GitWorkspace, first: RunStarted) -> tuple[RunStarted, tuple[CommandRun, ...]]:
        """Without detected commands that do not run here: each is run once on the untouched tree."""
        with stopped_by_signals():
            workspace.supply(self.crew.provision.source(workspace, self.crew.ground, self.warn))
            tried = self._facts(workspace, first, NO_ATLAS).gates(first.base, detected(first.settings))
        unused = {run.check: why for run in tried if (why := why_not_run(run))}
        for _, told in first_results(tried, unused, suggested(first.settings, self.home.parent)):
            self.warn(told)
        commands = msgspec.structs.replace(first.settings.commands, **dict.fromkeys(unused))
        settings = msgspec.structs.replace(first.settings, commands=commands)
        return msgspec.structs.replace(first, settings=settings, unused=unused), tried

    def go_on(self, run: str, project: Project, changes: Resumption, settled: Settled, grant: Grant) -> RunEnd:
        workspace = self.workspace(run)
        with SqliteJournal(self.home / "journal.db", SystemClock()) as journal:
            self._clear_up(run, workspace, journal)
            streams = self._streams(journal, run, grant.settings)
            self._set_aside(settled, workspace, streams)
            record = streams.run()
            phase, tools = ids.normalise(changes.retry) if changes.retry else "", self._tools(record.start)
            chances = one_chance(record, phase) if phase else second_chances(record)
            retry = tuple(t for t in record.start.targets if t in chances or t in settled.again)
            resumed = RunResumed(
                pid=os.getpid(),
                spec=project.spec,
                retry=retry,
                tools=tools,
                caps=changes.caps,
                at_once=changes.now,
                anew=finished_steps(streams.digests()) if starts_anew(record) else None,
                steps={phase: changes.step} if phase else {},
                roadmap=settled.taken,
                roadmap_sha256=settled.sha256,
            )
            for line in (*verified_already(record), *self._uniform(record)):
                self.warn(line)
            streams.append_run(resumed)
            # The repository may have been moved since the run began.
            start = record.start.going_by(settled.taken)
            return self._drive(streams, workspace, msgspec.structs.replace(start, root=str(self.home.parent)))

    def _set_aside(self, settled: Settled, workspace: GitWorkspace, streams: Streams) -> None:
        """Ends the open passes of phases that start over by a new roadmap. Their work is kept on a branch."""
        for brief in streams.run().open_passes:
            if not {brief.phase.id, brief.parent} & {*settled.again}:
                continue
            commit = streams.phase(brief).commit
            name = f"autopilot-diagnostic-phase-{brief.phase.id}"
            branch = workspace.branch(name, commit) if commit != brief.base else None
            outcome = PhaseOutcome(
                phase=brief.phase.id, status="failed", reason=STARTS_OVER, commit=commit, diagnostic_branch=branch
            )
            streams.append_run(
                PhaseFinished(
                    cycle=brief.cycle,
                    outcome=outcome,
                    verdict=Stop(because=STARTS_OVER),
                    mode=brief.mode,
                    turn=brief.turn,
                )
            )

    def _clear_up(self, run: str, workspace: GitWorkspace, journal: SqliteJournal) -> None:
        """End and remove what the process before us left, but for calls that go on and have no answer on record yet."""
        kept = self.crew.kept
        answered = heard_calls(journal, run) if kept.held() else frozenset[str]()
        kept.release_all(but=lambda call: call not in answered)
        held = kept.held()
        self.crew.processes.sweep(run, held)
        self._clear_litter()
        self.bring_home(run)
        workspace.recover([paper.cwd for paper in held.values()])

    def bring_home(self, run: str) -> None:
        """Sign-ins that agents of a killed process renewed; the homes of other runs are removed."""
        homes = self.crew.homes
        for told in homes.bring_home({paper.call for paper in self.crew.kept.held().values()}):
            self.warn(told)
        homes.clear(sparing=run)

    def _clear_litter(self) -> None:
        """Temporary files and folders of processes that were killed."""
        clear_abandoned()
        clear_torn(self.home)

    def _drive(
        self,
        streams: ProjectedStreams,
        workspace: GitWorkspace,
        first: RunStarted,
        tried: tuple[CommandRun, ...] = (),
    ) -> RunEnd:
        """`tried` are gates that were run already: those that passed are not run again."""
        hand_back()
        try:
            with stopped_by_signals(), kept_awake(os.environ, self.warn, wanted=self.crew.keep_awake):
                hands = self.hands(workspace, first)
                hands.facts.recall(tried)
                self._warn_of_held(hands, streams)
                with beating(streams, hands.clock):
                    finished = self._run(hands, streams)
        except Interrupted:
            self.crew.kept.release_all()
            streams.forget()
            streams.append_run(RunStopped(exit_code=Interrupted.exit_code, reason="interrupted"))
            raise
        except StorageFailed:
            raise
        except AutopilotError as error:
            self.crew.kept.release_all()
            streams.append_run(RunStopped(exit_code=error.exit_code, reason=error.what))
            raise
        self.crew.kept.release_all()
        self._clear_litter()
        if isinstance(finished, RunFinished):
            self.crew.homes.end(first.run)
        clear_records(records_of(self.home.parent))
        return wind_up(self.home, streams, finished)

    def _warn_of_held(self, hands: Hands, streams: Streams) -> None:
        """At the start of a run: the phases of which nothing would be proven. Work that is done again always holds."""
        run = streams.run()
        if len(run.entries) > 1 or redoes(run.start.settings.modes):
            return
        targets = [phase_of(run, target) for target in run.start.targets]
        for found in held_already(hands.facts, run.start.base, targets):
            for told in found.lines if found.alone else ():
                self.warn(told)

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
        workspace.bound(first.settings.limits)
        workspace.supply(provision.source(workspace, ground, self.warn))
        for remark in (*remarks(first, ground), *provision.remarks, *self.crew.missing):
            self.warn(remark)
        return self._hands_in(workspace, first, self._atlas(workspace))

    def _hands_in(self, workspace: GitWorkspace, first: RunStarted, atlas: Atlas) -> Hands:
        """With the clone of the workspace, and facts of its own: nothing else is shared by threads but what may be."""
        settings, processes, redactor = first.settings, self.crew.processes, Redactor.of(os.environ)
        facts = self._facts(workspace, first, atlas)
        return Hands(
            agent=self.crew.agent,
            reviewer=self.crew.reviewer,
            workspace=workspace,
            facts=facts,
            planning=PlanReader(),
            diagnostics=FileDiagnostics(self.home, redactor),
            processes=processes,
            clock=SystemClock(),
            boot=boot_id(),
            nonce=lambda: secrets.token_hex(8),
            birth=birth_of,
            looks=self._looks(workspace, first),
            receipts=PhaseReceipts(self._signing(settings), workspace.blobs),
            redact=redactor,
            inbox=FileInbox(self.home),
            elsewhere=lambda slot: self._hands_in(workspace.in_slot(slot), first, atlas),
            halted=processes.halted,
            cores=os.cpu_count() or 1,
            atlas=atlas,
            keeping=self.crew.kept,
            ladders=self.crew.ladders,
            staff=self.crew.staff,
            sign_in=signing_in,
            waits=self.crew.waits,
            rest=processes.rest,
            hurried=FileNudge(self.home).names,
        )

    def _facts(self, workspace: GitWorkspace, first: RunStarted, atlas: Atlas) -> CommandFacts:
        ground, provision, settings = self.crew.ground, self.crew.provision, first.settings
        below = workspace.within.prefix
        confined = ground.sandbox((workspace.history, *provision.readable), f"{first.run}/fact", below)
        return CommandFacts(
            workspace=workspace,
            sandbox=EquippedSandbox(confined, provision.kit) if provision.readable else confined,
            limits=settings.limits,
            commands=settings.commands,
            redact=Redactor.of(os.environ),
            atlas=atlas,
        )

    def _signing(self, settings: Settings) -> Callable[[str], str | None]:
        return signer_of(self.home, self.crew.processes, self.warn).sign if settings.sign_receipts else unsigned

    def _atlas(self, workspace: GitWorkspace) -> Atlas:
        """Maps of the code, where there is anything to read it with."""
        lacking = missing()
        if lacking is None:
            return atlas_of(workspace, self.crew.processes, SystemClock().now)
        self.warn(f"No repository map: {lacking} is not installed. Install it: {how_to_install('map')}.")
        return NO_ATLAS

    def _looks(self, workspace: GitWorkspace, first: RunStarted) -> Looking:
        """A browser, where the run has use for one."""
        processes = self.crew.processes
        if first.settings.visual is None:
            return NotLooking()
        from autopilot.evidence.visual.visit import BrowserLooking
        from autopilot.sandbox.web_app import run_app as serving

        shown = (workspace.history, *serving.readable())

        def sandbox(mark: str) -> Sandbox:
            return self.crew.ground.sandbox(shown, mark, workspace.within.prefix)

        return BrowserLooking(
            workspace=workspace,
            serving=serving.AppServing(sandbox=sandbox, processes=processes, mark=f"{first.run}/app"),
            album=workspace.album,
            processes=processes,
            clock=SystemClock(),
            environment=os.environ,
            mark=f"{first.run}/browser",
            room=room,
        )

    def _tools(self, first: RunStarted) -> dict[str, str]:
        commands = (command for _, command in first.settings.commands.configured())
        return tool_versions(self.crew.processes, commands, os.environ)

    def _uniform(self, run: RunRecord) -> tuple[str, ...]:
        """INTG-05: what the newest score says together with those before it."""
        told = alert(completed(run.of(PhaseFinished)))
        return (told.message,) if told else ()

    def _refused(self, answered: AgentAnswered, told: set[tuple[str, int]]) -> Iterator[str]:
        """Each host and port once a run: what to do about it does not change."""
        new = [known for known in answered.tries if (known.host, known.port) not in told]
        told.update((known.host, known.port) for known in new if known.verdict == "refused")
        return refusals(new, answered.backend or "The agent")

    def _streams(self, journal: SqliteJournal, run: str, settings: Settings | None = None) -> ProjectedStreams:
        told = set[tuple[str, int]]()

        def hear(stream: str, entry: Entry) -> None:
            self.listener(stream, entry)
            if isinstance(entry.event, AgentAnswered):
                for line in self._refused(entry.event, told):
                    self.warn(line)
            if isinstance(entry.event, PhaseFinished) and isinstance(entry.event.verdict, Advance):
                for line in self._uniform(streams.run()):
                    self.warn(line)

        streams = ProjectedStreams(self.home, journal, run, hear, settings)
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
