"""Runs one session on this machine: chooses its phases, runs them, and keeps its heartbeat."""

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from autopilot.app import prepare as app
from autopilot.app.loop.session_log import WEAK, SessionLog
from autopilot.app.wiring import Warn, past, processes_of
from autopilot.authority.user_folder import user_folder_path
from autopilot.domain.errors import AutopilotError, StorageFailed
from autopilot.domain.events import Entry, RunFinished, RunStopped, WaitEnded, WaitStarted
from autopilot.domain.phase import Roadmap
from autopilot.domain.process import Job
from autopilot.domain.request import RunRequest
from autopilot.domain.verdict import ALREADY_SATISFIED
from autopilot.journal.clock import SystemClock
from autopilot.journal.earlier_runs import Ledger
from autopilot.planning.roadmap import order, selection
from autopilot.ports.agents import Listener
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sessions import backlog as backlogs
from autopilot.sessions import signals
from autopilot.sessions.backlog import Backlog, SessionWork
from autopilot.sessions.files import next_session as state_fields
from autopilot.sessions.files.loop_record import moment
from autopilot.sessions.kill_switches import PEER_ABORT
from autopilot.sessions.loop import SessionRequest
from autopilot.sessions.machine import measure as probes
from autopilot.sessions.machine import resources
from autopilot.sessions.machine.registry import Entry as LiveSession
from autopilot.sessions.machine.registry import Registry, path_hash
from autopilot.sessions.machine.resources import Assessment, Reading, gate
from autopilot.sessions.selector import EXECUTED, Recommendation, Signals, exclusivity
from autopilot.sessions.selector import Executed as Mode
from autopilot.sessions.session import Books, SessionEnd, SessionStart, record_of
from autopilot.sessions.signals import Sources
from autopilot.workspace.git import COMMON, Git, user_env
from autopilot.workspace.user_files import find_root, read_bytes
from autopilot.workspace.user_repository import UserRepository


def backlog_of(roadmap: Roadmap, ledger: Ledger) -> Backlog:
    """What the roadmap and the runs so far leave to do. Whatever waits for a person, or behind a failure, waits on."""
    roadmap = ledger.reopened(roadmap)
    done = ledger.completed(roadmap)
    standing = ledger.known(roadmap)
    open_phases = order.order(selection.outstanding(roadmap, done), roadmap)
    disputed = [p.id for p in open_phases if standing[p.id].status == "disputed"]
    failed = [p.id for p in open_phases if p.id in standing and standing[p.id].status == "failed"]
    waiting = [p.id for p in open_phases if p.id in standing and standing[p.id].status == "needs_human_verification"]
    behind = {later for phase in (*failed, *waiting, *disputed) for later in order.dependents(phase, roadmap)}
    accepted_by_nobody = {p.id for p in open_phases if p.id in standing and standing[p.id].status == ALREADY_SATISFIED}
    held = {*failed, *waiting, *disputed, *behind, *accepted_by_nobody}
    scores = {phase: end.score for phase, end in standing.items() if phase in done and end.score is not None}
    return Backlog(
        ready=tuple(p.id for p in open_phases if p.id not in held),
        failed=tuple(phase for phase in failed if phase not in behind),
        weak=tuple(p.id for p in roadmap.phases if scores.get(p.id, WEAK) < WEAK),
        gaps=_with_gaps(roadmap, ledger),
    )


def _with_gaps(roadmap: Roadmap, ledger: Ledger) -> tuple[str, ...]:
    """The phases that do not fit together yet, or whose requirements the last run's audit left open."""
    done = ledger.newest.completion if ledger.newest else None
    audit = done.self_audit if done else None
    if ledger.newest and done and done.integration == "fail":
        return ledger.newest.start.targets
    left = {gap.requirement_id for gap in audit.remaining_gap_details} if audit else set()
    named = {gap.phase_id for gap in audit.found if gap.requirement_id in left} if audit else set()
    return tuple(p.id for p in roadmap.phases if p.id in named or left & set(p.requirements))


@dataclass(slots=True)
class Heartbeat:
    """When something last happened: an entry of the journal, or an agent that wrote to its transcript."""

    transcripts: Path
    seconds: Callable[[], float] = time.time
    last: float | None = None
    session: str | None = None
    waits: set[str] = field(default_factory=set)

    def beat(self) -> None:
        self.last = self.seconds()

    def hear(self, entry: Entry) -> None:
        """A run that waits for an agent has not stalled, however long it takes."""
        self.beat()
        match entry.event:
            case WaitStarted(call=call):
                self.waits.add(call)
            case WaitEnded(call=call):
                self.waits.discard(call)
            case RunStopped() | RunFinished():
                self.waits.clear()

    def age_ms(self) -> float | None:
        if self.last is None:
            return None
        if self.waits:
            return 0.0
        newest = max((_changed(path) for path in self.transcripts.rglob("*")), default=0.0)
        return (self.seconds() - max(self.last, newest)) * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """One repository on this machine, and how its sessions are run."""

    root: Path
    branch: str | None
    base: RunRequest
    listener: Listener
    warn: Warn
    live: Registry
    books: Books
    heartbeat: Heartbeat
    mode: Mode | None = None
    """The mode of every session, as the user named it. None: the selector chooses."""
    resource_awareness: bool = True
    peer_abort: int = PEER_ABORT

    @classmethod
    def of(cls, base: RunRequest, listener: Listener, warn: Warn, mode: Mode | None = None) -> "Ground":
        """Raises before anything is written where there is no repository, no roadmap, or one that is not understood."""
        root = find_root(Path(base.folder))
        app.resumable(root, agent_named=base.agent != "auto")
        config = app.read_project(root).config
        return cls(
            root=root,
            branch=repository_of(root).branch(),
            base=base,
            listener=listener,
            warn=warn,
            live=Registry(sessions_folder(), lambda: datetime.now(UTC)),
            books=Books(root / ".autopilot"),
            heartbeat=Heartbeat(root / ".autopilot" / "transcripts"),
            mode=mode,
            resource_awareness=config.resource_awareness,
            peer_abort=PEER_ABORT if config.peer_abort is None else config.peer_abort,
        )

    @property
    def home(self) -> Path:
        return self.root / ".autopilot"

    def backlog(self) -> Backlog:
        return backlog_of(app.read_project(self.root).roadmap, past(self.home))

    def known(self) -> Signals:
        return signals.gathered(self._sources(), datetime.now(UTC))

    def remarks(self) -> tuple[str, ...]:
        return tuple(signals.remarks(self._sources(), str(self.books.sessions.path.relative_to(self.root))))

    def _sources(self) -> Sources:
        return Sources(
            state=self._word() or _text(self.root / ".planning" / "STATE.md"),
            sessions=_text(self.books.sessions.path),
            lock=_text(self.home / "bootstrap.lock"),
            learnings=self.books.learnings.newest("type", "subject"),
            calibration=_text(self.home / "learnings.md") or "",
        )

    def _word(self) -> str | None:
        """What the last session left for the next; its word is spent once all it had to leave over is done."""
        text = _text(self.books.state)
        fields = state_fields.read(text)
        carried = {str(phase) for phase in fields.priorities or ()} if fields else set()
        return text if not carried or carried & self.backlog().all else None

    def choose(self) -> Recommendation:
        backlog = self.backlog()
        return signals.wished(self.mode, backlog) if self.mode else signals.choose(self.known(), backlog)

    def assess(self) -> Assessment | None:
        reading = self.reading()
        return reading.assessment if reading else None

    def reading(self, own: str | None = None) -> Reading | None:
        """How much the machine allows. None: the project's config switched this off."""
        if not self.resource_awareness:
            return None
        seen = probes.probe(platform.system(), lambda path: _text(Path(path)) or "", _printed)
        return resources.read(replace(seen, peers=len(self.live.peers(own))))

    def look(self) -> float | None:
        """How long ago the session last moved. Other sessions are told that this one is still there."""
        if self.heartbeat.session:
            with suppress(StorageFailed):
                self.live.heartbeat(self.heartbeat.session)
        return self.heartbeat.age_ms()

    def session(self, request: SessionRequest) -> Mapping[str, Any]:
        """Runs one session, which is one run, and returns its record."""
        mode, started, backlog = executed(request.mode), SystemClock().now(), self.backlog()
        work = self._interrupted() or backlogs.work_for(mode, backlog, self.base, request.cap)
        name = self.books.name_session(self.branch, moment(started))
        own = f"{name}-{path_hash(str(self.root))[:8]}"
        self._mind_others(mode)
        modes = work.request.modes
        gated = gate(modes.jobs, self.reading(own))
        lowered = f"{started} wave 1: {gated.decision} to {gated.agents} agents ({'; '.join(gated.reasons)})"
        start = SessionStart(
            session_id=name,
            mode=mode,
            started_at=started,
            run_id=request.run_id,
            branch=self.branch,
            recommended=signals.recommended(self.known(), backlog) if self.mode else request.mode,
            jobs=max(1, gated.agents),
            decision=gated.decision,
            deviations=() if gated.decision == "proceed" else (lowered,),
        )
        self.live.sweep()
        self.live.register(self._entry(own, name, mode))
        self.heartbeat.session = own
        try:
            return self._run(replace(work.request, modes=replace(modes, jobs=start.jobs)), start, work.phases)
        finally:
            self.heartbeat.session = None
            self.live.deregister(own)

    def _interrupted(self) -> SessionWork | None:
        """A run that was cut off goes first, and is gone on with: what is left of it is the session's work."""
        ledger = past(self.home)
        if ledger.newest is None or ledger.newest.end is not None:
            return None
        done = ledger.completed(app.read_project(self.root).roadmap)
        left = tuple(phase for phase in ledger.newest.start.targets if phase not in done)
        return SessionWork(phases=left, request=self.base) if left else None

    def _entry(self, own: str, name: str, mode: Mode) -> LiveSession:
        return LiveSession(
            session_id=own,
            semantic_session_id=name,
            pid=os.getpid(),
            status="wave",
            current_wave=1,
            platform=platform.system().lower(),
            repo_path_hash=path_hash(str(self.root)),
            repo_name=self.root.name,
            branch=self.branch,
            mode=mode,
        )

    def _mind_others(self, mode: Mode) -> None:
        here = path_hash(str(self.root))
        beside = [peer.session_id for peer in self.live.peers() if peer.repo_path_hash == here]
        if beside and exclusivity(mode) == "exclusive":
            self.warn(f"A {mode} session should run alone, but {beside[0]} is at work in this repository.")

    def _run(self, request: RunRequest, start: SessionStart, phases: Sequence[str]) -> Mapping[str, Any]:
        self.heartbeat.beat()

        def hear(stream: str, entry: Entry) -> None:
            self.heartbeat.hear(entry)
            self.listener(stream, entry)

        log = SessionLog(home=self.home, warn=self.warn, start=start)
        end = app.start(request, hear, self.warn, log=log)
        left = SessionEnd(phases=dict.fromkeys(phases, "partial"), exit_code=end.exit)
        return log.record or {**record_of(start, left, SystemClock().now()), "session_id": None}


def require_trust(base: RunRequest) -> None:
    """At the start of a loop somebody may be there to answer; later sessions go by that answer."""
    app.require_trust(base.folder, base.trust, base.sandbox)


def repository_of(root: Path) -> UserRepository:
    git = Git(processes=processes_of(root), cwd=root, env=user_env(os.environ), flags=COMMON)
    return UserRepository(root, git)


def sessions_folder() -> Path:
    return Path(os.environ.get("AUTOPILOT_SESSIONS") or user_folder_path() / "sessions" / "active")


def executed(word: str) -> Mode:
    return next(mode for mode in EXECUTED if mode == word)


def _text(path: Path) -> str | None:
    held = read_bytes(path)
    return None if held is None else held.decode("utf-8", "replace")


def _printed(argv: tuple[str, ...]) -> str:
    job = Job(argv=argv, cwd="/", env=dict(os.environ), timeout_s=10, leaves="nothing")
    try:
        return ChildProcesses().run(job).stdout.decode("utf-8", "replace")
    except AutopilotError:
        return ""


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
