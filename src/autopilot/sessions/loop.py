"""
The session loop: one complete session after another until a switch stops it.

Deciding is pure: `begun`, `before_iteration`, `on_recommendation` and `after_session` take a state and return one.
`run_loop` only asks the ports in their order. A running session is never cut short: switches act between sessions.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from msgspec.structs import replace

from autopilot.domain.errors import AutopilotError, Interrupted
from autopilot.domain.value import Value
from autopilot.sessions import kill_switches as switches
from autopilot.sessions.files.loop_record import LoopRecord, default_run_id, duration_s, moment
from autopilot.sessions.flags import LoopFlags
from autopilot.sessions.kill_switches import Boundary, Kill
from autopilot.sessions.machine.resources import Assessment
from autopilot.sessions.machine.stall import Pulse
from autopilot.sessions.selector import Recommendation
from autopilot.text.numbers import measured, shown

DRY_RUN = "dry-run preview \u2014 no sessions executed"
T = TypeVar("T")


class SessionRequest(Value, frozen=True, kw_only=True):
    """One session to run, for this loop. `cap` bounds the agents of its waves; 0: the coordinator works alone."""

    mode: str
    run_id: str
    iteration: int
    cap: int | None = None


class LoopState(Value, frozen=True, kw_only=True):
    """Everything a decision may rest on. `over` says that the loop ends, and the fields behind it say why."""

    run_id: str
    started_at: str
    verdict_at_start: str | None = None
    iterations: int = 0
    sessions: tuple[str, ...] = ()
    tokens: float = 0
    stalls: int = 0
    over: bool = False
    kill: Kill | None = None
    detail: str | None = None
    manual: bool = False
    exhausted: bool = False
    exits: tuple[int, ...] = ()
    trouble: int | None = None
    rationale: str = ""
    advice: str = ""


class Watching(Protocol):
    """Looks at a session's heartbeat while it runs; `sessions.stall.Watch` is one."""

    @property
    def pulse(self) -> Pulse: ...

    def watching(self) -> AbstractContextManager[None]: ...


class Unwatched:
    """No heartbeat is known, so nothing can be said to stall."""

    pulse = Pulse()

    def watching(self) -> AbstractContextManager[None]:
        return nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """
    What the loop asks. A part that is None does not exist: no selector recommends, no evaluator judges.

    `opened` is told the record as it stands, when the loop starts and after each session; `closed` the final one.
    """

    now: Callable[[], str]
    selector: Callable[[], Recommendation | None] | None = None
    runner: Callable[[SessionRequest], Any] | None = None
    evaluator: Callable[[], Assessment | None] | None = None
    peers: Callable[[], float | None] | None = None
    aborted: Callable[[], bool] = lambda: False
    watch: Watching = field(default_factory=Unwatched)
    opened: Callable[[LoopRecord], None] = lambda _: None
    closed: Callable[[LoopRecord], None] = lambda _: None


class LoopPlan(Value, frozen=True, kw_only=True):
    """The flags of this loop and what goes with them."""

    flags: LoopFlags = LoopFlags()
    run_id: str | None = None
    branch: str | None = None
    host_class: str | None = None
    peer_abort: float = switches.PEER_ABORT
    carryover_threshold: float = switches.CARRYOVER


class LoopEnd(Value, frozen=True, kw_only=True):
    """
    How the loop ended: its record, and what only the exit code needs to know.

    `exits` are those of the sessions' runs, `trouble` that of an error which kept a session from taking place.
    `rationale` is what the selector had to say when its choice ended the loop, `advice` what the user can do about it.
    """

    record: LoopRecord
    exhausted: bool = False
    exits: tuple[int, ...] = ()
    trouble: int | None = None
    rationale: str = ""
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """What was raised instead of an answer, in its own words; `code` where it is trouble the user can mend."""

    words: str
    code: int | None = None


@dataclass(frozen=True, slots=True)
class Got(Generic[T]):
    value: T


def begun(plan: LoopPlan, now: str, verdict: str | None) -> LoopState:
    run_id = plan.run_id or default_run_id(plan.branch, moment(now))
    state = LoopState(run_id=run_id, started_at=now, verdict_at_start=verdict)
    return replace(state, over=True, detail=DRY_RUN) if plan.flags.dry_run else state


def before_iteration(state: LoopState, seen: Boundary) -> LoopState:
    """`seen` is what the ports say; how far the loop has come is for the state to say."""
    killed = switches.before(replace(seen, iterations=state.iterations, tokens=state.tokens))
    return state if killed is None else _stopped(state, killed)


def on_recommendation(state: LoopState, plan: LoopPlan, said: Got[Recommendation | None] | Failed) -> LoopState:
    """Below the threshold the first iteration hands over to the user, and a later one ends the loop."""
    if isinstance(said, Failed):
        detail = f"modeSelector threw: {said.words}"
        return _stopped(state, Kill(switch="low-confidence-fallback", detail=detail))
    found, threshold = said.value, plan.flags.confidence_threshold
    confidence = found.confidence if found else 0.0
    if found and _named(found) and confidence >= threshold:
        return state
    words = "no mode recommendation"
    if found and _named(found):
        words = f"confidence={shown(confidence)} < threshold={shown(threshold)}"
    detail = f"iteration {state.iterations + 1}: {words}"
    found = found or Recommendation(mode=None)
    ended = replace(state, exhausted=found.exhausted, rationale=found.rationale, advice=found.advice)
    if state.iterations:
        return _stopped(ended, Kill(switch="low-confidence-fallback", detail=detail))
    return replace(ended, over=True, manual=True, detail=f"{detail} \u2014 fallback to manual")


def _named(found: Recommendation) -> bool:
    return isinstance(found.mode, str) and bool(found.mode)


def after_session(state: LoopState, plan: LoopPlan, said: Got[Any] | Failed, pulse: Pulse) -> LoopState:
    """A session that came back counts, whatever it brought; one that died does not."""
    if isinstance(said, Failed):
        broken = replace(state, trouble=said.code)
        return _stopped(broken, Kill(switch="failed-wave", detail=f"sessionRunner threw: {said.words}"))
    result = said.value if isinstance(said.value, Mapping) else {}
    name, code = result.get("session_id"), measured(result.get("exit_code"))
    counted = replace(
        state,
        iterations=state.iterations + 1,
        sessions=(*state.sessions, name) if isinstance(name, str) else state.sessions,
        tokens=state.tokens + spent_tokens(result),
        stalls=state.stalls + pulse.stalls,
        exits=state.exits if code is None else (*state.exits, int(code)),
    )
    killed = switches.after(said.value, pulse.stalled, plan.carryover_threshold)
    return counted if killed is None else _stopped(counted, killed)


def between_iterations(state: LoopState, *, aborted: bool) -> LoopState:
    if state.over or not aborted:
        return state
    return _stopped(state, Kill(switch="user-abort", detail="AbortSignal triggered between iterations"))


def spent_tokens(result: Mapping[str, Any]) -> float:
    """What a session wrote, or all it used where only that is known. Garbage and less than nothing are nothing."""
    usage = result.get("usage")
    if not isinstance(usage, Mapping):
        return 0
    said = usage.get("output_tokens")
    number = measured(usage.get("total_tokens") if said is None else said)
    return max(0.0, number or 0.0)


def record_of(state: LoopState, plan: LoopPlan, now: str) -> LoopRecord:
    flags = plan.flags
    return LoopRecord(
        autopilot_run_id=state.run_id,
        started_at=state.started_at,
        completed_at=now,
        duration_seconds=duration_s(state.started_at, now),
        max_sessions=flags.max_sessions,
        max_hours=flags.max_hours,
        confidence_threshold=flags.confidence_threshold,
        iterations_completed=state.iterations,
        kill_switch=state.kill.switch if state.kill else None,
        kill_switch_detail=state.detail,
        sessions=state.sessions,
        host_class=plan.host_class,
        resource_verdict_at_start=state.verdict_at_start,
        fallback_to_manual=state.manual,
        dry_run=flags.dry_run,
        total_tokens_used=int(state.tokens),
        stall_recovery_count=state.stalls,
    )


def run_loop(plan: LoopPlan, ports: Ports) -> LoopEnd:
    """Run sessions until one of the switches stops it; the record is written when this returns."""
    at_start = _assessed(ports)
    state = begun(plan, ports.now(), at_start.verdict if at_start else None)
    while not state.over:
        ports.opened(record_of(state, plan, ports.now()))
        state = _iterated(state, plan, ports)
    record = record_of(state, plan, ports.now())
    ports.closed(record)
    return LoopEnd(
        record=record,
        exhausted=state.exhausted,
        exits=state.exits,
        trouble=state.trouble,
        rationale=state.rationale,
        advice=state.advice,
    )


def _iterated(state: LoopState, plan: LoopPlan, ports: Ports) -> LoopState:
    seen, cap = _boundary(state, plan, ports)
    state = before_iteration(state, seen)
    if state.over:
        return state
    said = _attempt(ports.selector or _nothing)
    state = on_recommendation(state, plan, said)
    if state.over or isinstance(said, Failed) or said.value is None or said.value.mode is None:
        return state
    mode = said.value.mode
    request = SessionRequest(mode=mode, run_id=state.run_id, iteration=state.iterations + 1, cap=cap)
    try:
        state = _after(state, plan, ports, request)
    except Interrupted:
        detail = f"interrupted during session {request.iteration}; `autopilot resume` goes on with it"
        return _stopped(state, Kill(switch="user-abort", detail=detail))
    return between_iterations(state, aborted=ports.aborted())


def _after(state: LoopState, plan: LoopPlan, ports: Ports, request: SessionRequest) -> LoopState:
    runner = ports.runner
    with ports.watch.watching():
        said = _attempt(lambda: runner(request)) if runner else Got(None)
    return after_session(state, plan, said, ports.watch.pulse)


def _boundary(state: LoopState, plan: LoopPlan, ports: Ports) -> tuple[Boundary, int | None]:
    elapsed = moment(ports.now()) - moment(state.started_at)
    counted = _attempt(ports.peers) if ports.peers else Got(None)
    assessed = _assessed(ports)
    seen = Boundary(
        max_sessions=plan.flags.max_sessions,
        elapsed_ms=elapsed.total_seconds() * 1000,
        max_hours_ms=plan.flags.max_hours * switches.HOUR_MS,
        max_tokens=plan.flags.max_tokens,
        verdict=assessed.verdict if assessed else state.verdict_at_start,
        peers=measured(counted.value) if isinstance(counted, Got) else None,
        peer_abort=plan.peer_abort,
        aborted=ports.aborted(),
    )
    return seen, assessed.cap if assessed else None


def _assessed(ports: Ports) -> Assessment | None:
    said = _attempt(ports.evaluator) if ports.evaluator else Got(None)
    return said.value if isinstance(said, Got) else None


def _nothing() -> None:
    return None


def _stopped(state: LoopState, killed: Kill) -> LoopState:
    return replace(state, over=True, kill=killed, detail=killed.detail)


def _attempt(work: Callable[[], T]) -> Got[T] | Failed:
    try:
        return Got(work())
    except AutopilotError as error:
        return Failed(f"{error.what} {error.why} {error.do}", error.exit_code)
    except Exception as error:  # noqa: BLE001 - whatever a part dies of, the loop ends in order and its record says so
        return Failed(str(error))
