"""What happens next in a run: which phase to start, skip, land or remediate; from the run's record alone."""

from collections.abc import Iterable
from dataclasses import dataclass

from autopilot.domain.auditing import due
from autopilot.domain.completion import COMPLETION
from autopilot.domain.events import Brief, CompletionFinished, PhaseFinished, PhaseMerged, PhaseOutcome, RunFinished
from autopilot.domain.phase import Phase
from autopilot.domain.record import RunRecord
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop

PASSED = "every target phase passed"
GAPS_REMAIN = 12


@dataclass(frozen=True, slots=True)
class Spawn:
    """Start a pass: the first (`cycle` 0) or a remediation. `slot` numbers the clone it gets."""

    phase: Phase
    cycle: int
    base: str
    slot: int = 0


@dataclass(frozen=True, slots=True)
class Continue:
    """Go on with the pass that is open."""

    brief: Brief


@dataclass(frozen=True, slots=True)
class Skip:
    phase: str
    reason: str
    blocking: str


@dataclass(frozen=True, slots=True)
class Land:
    phase: str
    commit: str


@dataclass(frozen=True, slots=True)
class Complete:
    """Do what follows the last phase. `brief` is None when it has not begun, `base` the line it begins from."""

    base: str
    brief: Brief | None


@dataclass(frozen=True, slots=True)
class End:
    status: str
    exit_code: int
    reason: str


RunMove = Spawn | Continue | Skip | Land | Complete | End


def next_phase(run: RunRecord) -> RunMove:
    open_pass = run.open_phase
    if open_pass is not None:
        return Continue(open_pass)
    waiting = False
    for target in run.start.targets:
        if run.skipped(target):
            continue
        passes = run.standing(target)
        if not passes:
            return _begin(run, phase_of(run, target))
        waiting = waiting or isinstance(passes[-1].verdict, AskHuman)
        move = _follow(run, target, passes[-1], waiting=waiting)
        if move is not None:
            return move
    return end_of(run)


def _follow(run: RunRecord, target: str, last: PhaseFinished, *, waiting: bool) -> RunMove | None:
    """What a finished pass still asks for; None when the run can go on to the next target."""
    match last.verdict:
        case Retry():
            outcome = best(run, target)
            return Spawn(phase_of(run, target), last.cycle + 1, outcome.commit)
        case Advance() if not waiting and not run.landed(target):
            return Land(target, best(run, target).commit)
        case Stop(because=because):
            blocked = _next_blocked(run, target)
            if blocked and not run.retried(target):
                return End("failed", 10, f"phase {target} failed and others depend on it: {because}")
            return Skip(blocked, f"blocked_by_phase_{target}", target) if blocked else None
        case _:
            return None


def phase_of(run: RunRecord, phase: str) -> Phase:
    return next(p for p in run.start.phases if p.id == phase)


def best(run: RunRecord, phase: str) -> PhaseOutcome:
    """AMB-37: the newest pass that completed; a failed remediation does not take away what stood before it."""
    passes = run.standing(phase)
    return next((p.outcome for p in reversed(passes) if p.outcome.status == "completed"), passes[-1].outcome)


def line(run: RunRecord) -> str:
    """The commit the next phase starts from: passed, force_incomplete and deferred phases are in it, failed are not."""
    if run.start.settings.modes.jobs > 1:
        return merged_line(run)
    for finished in reversed(tuple(run.of(PhaseFinished))):
        # In the order of time: a phase that got a second chance stands on those that passed before it did.
        phase = finished.outcome.phase
        passes = run.standing(phase)
        if passes and isinstance(passes[-1].verdict, Advance | AskHuman):
            landed = run.landed(phase)
            return landed.commit if landed else best(run, phase).commit
    return run.start.base


def merged_line(run: RunRecord) -> str:
    """Where phases are worked on several at a time, only what was merged is in the line."""
    last = next((m for m in reversed(tuple(run.of(PhaseMerged))) if m.phase in run.start.targets), None)
    landed = run.landed(last.phase) if last else None
    return landed.commit if landed else last.commit if last else run.start.base


def _begin(run: RunRecord, phase: Phase) -> RunMove:
    blocking = next((d for d in phase.depends_on if failed(run, d)), None)
    if blocking is not None:
        return Skip(phase.id, f"blocked_by_phase_{blocking}", blocking)
    return Spawn(phase, 0, line(run))


def failed(run: RunRecord, phase: str) -> bool:
    passes = run.standing(phase)
    return bool(run.skipped(phase)) or bool(passes and isinstance(passes[-1].verdict, Stop))


def _next_blocked(run: RunRecord, phase: str) -> str | None:
    """GATE-06: the next target that depends on the failed phase, directly or not, and has not been dealt with."""
    lost = dependents(phase, run.start.phases)
    return next((t for t in run.start.targets if t in lost and not run.standing(t) and not run.skipped(t)), None)


def dependents(phase: str, phases: Iterable[Phase]) -> frozenset[str]:
    """Every phase that needs this one, directly or through others."""
    found: set[str] = set()
    frontier = {phase}
    while frontier:
        frontier = {p.id for p in phases if frontier & set(p.depends_on)} - found
        found |= frontier
    return frozenset(found)


def end_of(run: RunRecord) -> RunMove:
    """What follows when every target has been dealt with."""
    last = {t: passes[-1].verdict for t in run.start.targets if (passes := run.standing(t))}
    lost = [t for t in run.start.targets if run.skipped(t) or isinstance(last[t], Stop)]
    waiting = [t for t in run.start.targets if isinstance(last.get(t), AskHuman)]
    if lost:
        return End("failed", 10, f"failed or blocked: {', '.join(lost)}")
    if waiting:
        return End("completed", 11, f"waiting for a person's verdict: {', '.join(waiting)}")
    return _completion(run)


def _completion(run: RunRecord) -> RunMove:
    """COMP-05: what is due behind the last phase, then the landing of what it brought, then the end."""
    brief, done = run.completing, run.completion
    if done is None:
        return Complete(line(run), brief) if due(run.start) else End("completed", 0, PASSED)
    if brief and done.commit != brief.base and not run.landed(COMPLETION):
        return Land(COMPLETION, done.commit)
    if done.clean:
        return End("completed", 0, PASSED)
    return End("completed", GAPS_REMAIN, f"{PASSED}, but {open_ends(done)}")


def open_ends(done: CompletionFinished) -> str:
    """AMB-24: what keeps a run whose phases passed from ending with 0."""
    audit = done.self_audit
    broken = f"integration: fail ({done.because})" if done.integration == "fail" else ""
    left = ", ".join(gap.requirement_id for gap in audit.remaining_gap_details) if audit else ""
    gaps = f"self-audit gaps remain: {left}" if audit and audit.gaps_remaining else ""
    return "; ".join(part for part in (broken, gaps) if part)


def second_chances(run: RunRecord) -> tuple[str, ...]:
    """RSM-03: a failed run that is resumed retries what failed, and what was blocked by it."""
    end = run.end
    if not isinstance(end, RunFinished) or end.status != "failed":
        return ()
    return tuple(target for target in run.start.targets if failed(run, target))
