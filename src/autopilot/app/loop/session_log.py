"""Writes the session record of every run: what it planned, what it finished, what it used."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from autopilot.domain.errors import AutopilotError, Interrupted, StorageFailed
from autopilot.domain.events import AgentAnswered, Entry, RunStarted, RunStopped, StepFinished
from autopilot.domain.request import PhaseEnd, RunEnd
from autopilot.domain.results import Debugged, Executed, Fixed
from autopilot.domain.rework import Standing
from autopilot.domain.settings import Modes
from autopilot.domain.verdict import ALREADY_SATISFIED
from autopilot.journal.clock import SystemClock
from autopilot.ports.agents import Listener
from autopilot.sessions.files.loop_record import moment
from autopilot.sessions.selector import Executed as Mode
from autopilot.sessions.session import Books, SessionEnd, SessionStart, Status

WEAK = 9.0
"""A phase that passed below this was let through leniently, and is worth another try."""
BREAKER = 21


@dataclass(slots=True)
class Tally:
    """What a run does in one session, counted from the entries of its journal."""

    files: set[str] = field(default_factory=set)
    output_tokens: int | None = None
    branch: str | None = None
    paused: bool = False
    """A checkpoint stopped the run: phases it had not started were not part of this session."""

    def hear(self, entry: Entry) -> None:
        match entry.event:
            case AgentAnswered(usage=usage) if usage.output_tokens is not None:
                self.output_tokens = (self.output_tokens or 0) + usage.output_tokens
            case StepFinished(result=Executed(work=work) | Fixed(work=work) | Debugged(work=work)):
                self.files |= {file.path for file in work.change.files}
            case RunStarted(branch=branch):
                self.branch = branch
            case RunStopped(checkpoint=checkpoint):
                self.paused = checkpoint > 0


@dataclass(slots=True, kw_only=True)
class SessionLog:
    """The record of one session. `start` None: a person started the run, and the record says so."""

    home: Path
    warn: Callable[[str], None]
    start: SessionStart | None = None
    tally: Tally = field(default_factory=Tally)
    record: Mapping[str, Any] | None = None

    def hears(self, listener: Listener) -> Listener:
        def hear(stream: str, entry: Entry) -> None:
            self.tally.hear(entry)
            listener(stream, entry)

        return hear

    def keep(self, begun: RunStarted, standings: Mapping[str, Standing], drive: Callable[[], RunEnd]) -> RunEnd:
        """Drives the run, then writes its record. `begun` names the phases that this session is to finish."""
        self.tally.branch = begun.branch or None
        started, planned = SystemClock().now(), begun.targets
        mode = mode_of(begun.settings.modes, [standings[phase].status for phase in planned if phase in standings])
        try:
            end = drive()
        except (Interrupted, AutopilotError) as error:
            if not isinstance(error, StorageFailed):
                left = RunEnd(run=begun.run, exit=error.exit_code, reason="")
                self._write(lambda: self._started(mode, started, begun), left, planned, abandoned=True)
            raise
        self._write(lambda: self._started(mode, started, begun), end, planned)
        return end

    def _started(self, mode: Mode, started: str, begun: RunStarted) -> SessionStart:
        if self.start is not None:
            return self.start
        branch = self.tally.branch
        name = Books(self.home).name_session(branch, moment(started))
        jobs = begun.settings.modes.jobs
        return SessionStart(session_id=name, mode=mode, started_at=started, branch=branch, jobs=jobs)

    def _write(
        self, started: Callable[[], SessionStart], end: RunEnd, planned: Sequence[str], *, abandoned: bool = False
    ) -> None:
        try:
            self._record(started(), end, planned, abandoned=abandoned)
        except StorageFailed as error:
            self.warn(f"The session of {end.run} is not recorded: {error.what} {error.do}")

    def _record(self, start: SessionStart, end: RunEnd, planned: Sequence[str], *, abandoned: bool) -> None:
        tally = self.tally
        ends = {phase: end.phases.get(phase, PhaseEnd(status="not_started")) for phase in planned}
        counted = {phase: found for phase, found in ends.items() if not tally.paused or found.status != "not_started"}
        session = SessionEnd(
            phases={phase: status_of(found, end.exit, start.mode) for phase, found in counted.items()},
            files_changed=len(tally.files),
            tokens=end.tokens,
            output_tokens=tally.output_tokens,
            exit_code=end.exit,
            run=end.run,
            abandoned=abandoned,
        )
        self.record = Books(self.home).close(replace(start, branch=tally.branch), session, SystemClock().now())


def mode_of(modes: Modes, standings: Sequence[str]) -> Mode:
    """The kind of session that a run amounts to."""
    if modes.gaps is not None:
        return "housekeeping"
    again = modes.quality is not None or modes.force is not None or modes.debug
    return "deep" if again or (standings and set(standings) == {"failed"}) else "feature"


def status_of(end: PhaseEnd, exit_code: int, mode: Mode) -> Status:
    """How the run left the phase. A deep session has finished a phase once its score is no longer weak."""
    if end.outcome == ALREADY_SATISFIED:
        return "partial"
    if end.status == "completed":
        raised = mode != "deep" or end.score is None or end.score >= WEAK
        return "done" if raised else "partial"
    if exit_code == BREAKER and end.status in {"in_progress", "failed"}:
        return "spiral"
    return "failed" if end.status == "failed" else "partial"
