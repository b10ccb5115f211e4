"""The state.json object, computed from the records alone: STATE-01 to STATE-08."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import msgspec

from autopilot.domain.events import (
    Noted,
    PhaseFinished,
    PhaseStarted,
    RunFinished,
    RunResumed,
    RunStopped,
    VerdictGiven,
)
from autopilot.domain.phase import Phase
from autopilot.domain.results import COMPLETION
from autopilot.domain.verdict import Advance, AskHuman
from autopilot.history.active_time import active_time
from autopilot.history.digest import PassDigest, digest_of
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.history.timeline import History, Timeline, in_order
from autopilot.history.totals import Tally, tallied
from autopilot.policy.deferral import Counts, counts, deferral_history, settled_ends, threshold_of
from autopilot.policy.taken_in import share, tokens_of
from autopilot.policy.uniform_scores import suspects
from autopilot.state.breaker_state import breaker_state, spending
from autopilot.state.completion_state import completion_state
from autopilot.state.event_log import EventLog, Source
from autopilot.state.phase_state import part_states, part_tokens, phase_state, wholes_of
from autopilot.text.clean import harmless

VERSION = "1.0"
EVENTS_KEPT = 200
WAITING_FOR_A_PERSON = 11


def state_of(
    run: RunRecord,
    phases: Mapping[str, tuple[PhaseRecord, ...]],
    *,
    now: str = "",
    events: int | None = EVENTS_KEPT,
) -> dict[str, Any]:
    """`phases` is phase id to its passes in order; `events` None keeps the whole log, as the archive does."""
    return Projection(events).state(run, Held(run, phases), now=now)


@dataclass(frozen=True, slots=True)
class Held:
    """Fulfils `Source` where all passes are at hand."""

    run: RunRecord
    phases: Mapping[str, tuple[PhaseRecord, ...]]

    def digests(self) -> tuple[PassDigest, ...]:
        return tuple(digest_of(record, self.run.resumes, self.run.waits) for record in in_order(self.run, self.phases))

    def passes(self, phase: str) -> tuple[PhaseRecord, ...]:
        return self.phases.get(phase, ())

    def completions(self) -> tuple[PhaseRecord, ...]:
        return self.phases.get(COMPLETION, ())


@dataclass(frozen=True, slots=True)
class Ends:
    """What the ends of phases add up to, and people's words on them; worked out once for as long as `known` is so."""

    known: tuple[int, int]
    suspects: frozenset[str]
    seen: Counts
    history: list[dict[str, Any]]

    @classmethod
    def of(cls, run: RunRecord) -> Self:
        return cls(known_ends(run), suspects(run), counts(settled_ends(run)), deferral_history(run))


def known_ends(run: RunRecord) -> tuple[int, int]:
    return len(run.places(PhaseFinished)), len(run.places(VerdictGiven))


@dataclass(frozen=True, slots=True)
class About:
    """
    What the run's own entries say, worked out once for as long as none is added.

    `more` is what a phase shows beside its own, `wholes` the phase of each part, `meta` what no step changes.
    """

    run: RunRecord
    known: dict[str, History]
    more: dict[str, dict[str, Any]]
    wholes: dict[str, str]
    current: str | None
    meta: dict[str, Any]

    @classmethod
    def of(cls, run: RunRecord, known: dict[str, History], told: int, ends: Ends) -> Self:
        more = part_states(run, known)
        for id_ in ends.suspects:
            more[id_] = more.get(id_, {}) | {"rubber_stamp_suspect": True}
        current = _current(run, known)
        return cls(run, known, more, wholes_of(run), current, _meta(run, current, share(told), ends))


@dataclass(frozen=True, slots=True)
class Shown:
    """A phase as the state has it, and what that was made of."""

    history: History
    made: tuple[PassDigest, ...]
    own: dict[str, Any]
    more: dict[str, Any]
    state: dict[str, Any]


class Projection:
    """Computes the state of one run again and again; what is known of a phase is worked out when it has changed."""

    def __init__(self, events: int | None = EVENTS_KEPT) -> None:
        self._log, self._timeline = EventLog(events), Timeline()
        self._shown: dict[str, Shown] = {}
        self._about: About | None = None
        self._ends: Ends | None = None
        self._read = self._told = 0

    def state(self, run: RunRecord, source: Source, *, now: str = "") -> dict[str, Any]:
        """`now` moves `last_checkpoint` on between entries (AMB-19). What has not changed is the very same object."""
        about = self._about = self._about if self._about and self._about.run is run else self._taken(run)
        made = tallied(source.digests())
        last = max(run.entries[-1].at, made.whole.figures.last, self._ended(source))
        states = self._phases(about, source, made)
        minutes = round(active_time(run, made, last).run, 2)
        step = _step(source.passes(about.current)) if about.current is not None else None
        return {
            "_meta": about.meta | {"current_step": step, "last_checkpoint": max(now, last)},
            "spec": _spec(run),
            "roadmap_path": run.start.roadmap,
            "last_checkpoint_sha": _checkpoint(run, source),
            "phases": states,
            "circuit_breaker": breaker_state(run, made),
            "spending": spending(run, made, minutes),
            "event_log": self._log.lines(run, source),
            "metrics": _metrics(states, minutes),
            **completion_state(run),
            **_waiting(run),
            **_not_landed(run),
        }

    def _taken(self, run: RunRecord) -> About:
        new = (entry.event for entry in run.entries[self._read :])
        self._told += sum(tokens_of(event.outcome) for event in new if isinstance(event, PhaseFinished))
        self._read = len(run.entries)
        if self._ends is None or self._ends.known != known_ends(run):
            self._ends = Ends.of(run)
        return About.of(run, self._timeline.take(run), self._told, self._ends)

    def _phases(self, about: About, source: Source, made: Tally) -> dict[str, dict[str, Any]]:
        whole_phases = {id_: history for id_, history in about.known.items() if id_ not in about.wholes}
        tokens, passes = part_tokens(about.wholes, made.whole.by_phase), made.whole.by_phase
        for id_, history in whole_phases.items():
            shown, own_passes = self._shown.get(id_), passes.get(id_, ())
            more = about.more.get(id_, {})
            if shown is None or shown.history is not history or shown.made is not own_passes:
                whole = replace(history, passes=source.passes(id_))
                own = phase_state(_phase(about.run, id_), whole, about.run.start.settings.pass_threshold)
            else:
                own = shown.own
            if id_ in tokens:
                more = more | {"tokens_used": own["tokens_used"] + tokens[id_]}
            if shown is None or shown.own is not own or shown.more != more:
                self._shown[id_] = Shown(history, own_passes, own, more, own | more if more else own)
        return {id_: self._shown[id_].state for id_ in whole_phases}

    def _ended(self, source: Source) -> str:
        return max((end.entries[-1].at for end in source.completions() if end.entries), default="")


def state_text(state: dict[str, Any]) -> bytes:
    text = msgspec.json.format(msgspec.json.encode(state), indent=2).decode()
    return harmless(text).encode() + b"\n"


def run_status(run: RunRecord) -> str:
    """running, paused, failed or completed. What is noted after the end does not open a run again."""
    last = next((e.event for e in reversed(run.entries) if not isinstance(e.event, Noted)), None)
    match last:
        case RunStopped():
            return "paused"
        case RunFinished(status="completed" | "failed" | "paused" as status):
            return status
        case RunFinished(exit_code=code):
            return {0: "completed", WAITING_FOR_A_PERSON: "paused"}.get(code, "failed")
    return "running"


def _meta(run: RunRecord, current: str | None, context_pct: int, ends: Ends) -> dict[str, Any]:
    seen = ends.seen
    return {
        "version": VERSION,
        "run_id": run.start.run,
        "started_at": run.entries[0].at,
        "last_checkpoint": "",
        "status": run_status(run),
        "total_phases": len(run.start.targets),
        "current_phase": current,
        "current_step": None,
        "orchestrator_context_pct": context_pct,
        "human_deferred_count": seen.deferred,
        "total_phases_processed": seen.processed,
        "pass_threshold": run.start.settings.pass_threshold,
        "deferral_history": ends.history,
        "autonomous_resolution_rate": None if (rate := seen.resolution_rate) is None else round(rate, 3),
        "deferral_threshold": threshold_of(run),
    }


def _phase(run: RunRecord, id_: str) -> Phase:
    return next((phase for phase in run.start.phases if phase.id == id_), Phase(id=id_, name=""))


def _waiting(run: RunRecord) -> dict[str, Any]:
    """The calls nobody can be asked for now; left out where there is none."""
    waits = [wait for wait in run.waits if not wait.end] if run.end is None else []
    told = [
        {
            "phase": wait.phase,
            "step": wait.event.step,
            "role": wait.event.role,
            "agent": wait.event.backend,
            "outcome": wait.event.outcome,
            "since": wait.begin,
            "until": wait.event.until,
        }
        for wait in waits
    ]
    return {"waiting": told} if told else {}


def _not_landed(run: RunRecord) -> dict[str, Any]:
    """The phases that passed and could not be put on the user's branch; left out where there is none."""
    late = [landing.phase for landing in run.unlanded if landing.phase != COMPLETION]
    return {"not_landed": late} if late else {}


def _current(run: RunRecord, known: Mapping[str, History]) -> str | None:
    """The phase at work, else the one to come; None when none is left."""
    for at in reversed(run.places(PhaseStarted)):
        event = run.entries[at].event
        if isinstance(event, PhaseStarted) and known[event.brief.phase.id].status == "in_progress":
            return event.brief.phase.id
    return next((id_ for id_, history in known.items() if history.status in {"not_started", "in_progress"}), None)


def _step(passes: tuple[PhaseRecord, ...]) -> str | None:
    """The step at work, else the last one finished."""
    record = passes[-1] if passes else None
    if record is None:
        return None
    if record.open_step is not None:
        return record.open_step.step
    return record.finished[-1].step if record.finished else None


def _spec(run: RunRecord) -> dict[str, Any]:
    """A resumed run locks the specification again (AMB-23); an unchanged one keeps its first time."""
    spec, locked_at = run.start.spec, run.entries[0].at
    for at in run.places(RunResumed):
        event = run.entries[at].event
        if isinstance(event, RunResumed) and event.spec != spec:
            spec, locked_at = event.spec, run.entries[at].at
    return {"path": spec.path, "hash": f"sha256:{spec.sha256}", "locked_at": locked_at}


def _checkpoint(run: RunRecord, source: Source) -> str:
    """The tip of the work: the open pass's, else what the last pass that counts left, else the run's base."""
    for entry in reversed(run.entries):
        match entry.event:
            case PhaseStarted(brief=brief):
                passes = source.passes(brief.phase.id)
                return passes[-1].commit if passes else brief.base
            case PhaseFinished(verdict=Advance() | AskHuman(), outcome=outcome):
                return outcome.commit
    return run.start.base


def _metrics(states: Mapping[str, Any], minutes: float) -> dict[str, Any]:
    phases = states.values()
    statuses = [phase["status"] for phase in phases]
    return {
        "total_tokens_used": sum(phase["tokens_used"] for phase in phases),
        "total_duration_minutes": minutes,
        "phases_completed": statuses.count("completed"),
        "phases_failed": statuses.count("failed"),
        "debug_loops_total": sum(phase["debug_attempts"] for phase in phases),
        "replan_count": sum(phase["replan_attempts"] for phase in phases),
    }
