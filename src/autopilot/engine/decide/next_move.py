"""Decides what a run does next: start, skip, land, rework or finish a phase."""

from collections.abc import Iterable
from dataclasses import dataclass

from autopilot.domain.attempt import Brief, DoneBefore
from autopilot.domain.events import (
    CompletionFinished,
    PhaseFinished,
    PhaseLanded,
    PhaseMerged,
    RunFinished,
    RunResumed,
    RunStopped,
)
from autopilot.domain.phase import Phase
from autopilot.domain.results import COMPLETION
from autopilot.domain.rework import Mode
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop
from autopilot.engine.decide.audit_scope import steps_due
from autopilot.engine.decide.line import accepted, refusal, stands_on_refused, to_mend
from autopilot.engine.decide.rework_loops import first_turn, next_turn
from autopilot.history.best_attempt import best
from autopilot.history.record import RunRecord
from autopilot.policy.audit_gaps import remaining_gaps
from autopilot.policy.deferral import settled_ends
from autopilot.policy.outcomes import shortfalls

PASSED = "every target phase passed"
ALREADY = "already_completed"
OPEN_ENDS = 12


@dataclass(frozen=True, slots=True)
class Spawn:
    """
    Start a pass: the first (`cycle` 0) or a remediation. `slot` numbers the clone; a part has a `parent`.

    `turn` counts the passes that `mode` asked for.
    """

    phase: Phase
    cycle: int
    base: str
    slot: int = 0
    mode: Mode = "initial"
    turn: int = 0
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Continue:
    """Go on with the pass that is open."""

    brief: Brief


@dataclass(frozen=True, slots=True)
class Merge:
    """Join work that passed, begun on `base`, to the line it belongs to, which is at `onto` now."""

    phase: str
    base: str
    onto: str
    commit: str


@dataclass(frozen=True, slots=True)
class Skip:
    """`done` is set for a phase that need not run, `blocking` for one that cannot."""

    phase: str
    reason: str
    blocking: str | None
    done: DoneBefore | None = None


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
    if (over := next_passed_over(run)) is not None:
        return over
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
            return mended(run, target)
        case Advance() if not waiting and not run.landed(target):
            commit = best(run, target).commit
            return None if stands_on_refused(run, commit) else Land(target, commit)
        case Stop(because=because, rollback=True) if not run.retried(target) and not run.start.settings.modes.complete:
            return closing(run, End("failed", 10, f"phase {target} was rolled back: {because}"))
        case Stop(because=because):
            blocked = _next_blocked(run, target)
            if blocked and not run.retried(target) and not run.start.settings.modes.complete:
                return closing(run, End("failed", 10, f"phase {target} failed and others depend on it: {because}"))
            return Skip(blocked, f"blocked_by_phase_{target}", target) if blocked else None
        case _:
            return None


def phase_of(run: RunRecord, phase: str) -> Phase:
    return next(p for p in run.start.phases if p.id == phase)


def line(run: RunRecord) -> str:
    """The commit the next phase starts from: passed, force_incomplete and deferred phases are in it, failed are not."""
    if run.start.settings.modes.jobs > 1:
        return merged_line(run)
    for event in (entry.event for entry in reversed(run.entries)):
        # In the order of time: a phase that got a second chance stands on those that passed before it did.
        if isinstance(event, CompletionFinished):
            return event.commit
        if not isinstance(event, PhaseFinished):
            continue
        phase = event.outcome.phase
        passes = run.standing(phase)
        if passes and isinstance(passes[-1].verdict, Advance | AskHuman):
            landed = run.landed(phase)
            return landed.commit if landed else best(run, phase).commit
    return run.start.base


def merged_line(run: RunRecord) -> str:
    """Where phases are worked on several at a time, only what was merged is in the line, and what its end brought."""
    events = (e.event for e in reversed(run.entries) if isinstance(e.event, PhaseMerged | CompletionFinished))
    last = next((m for m in events if isinstance(m, CompletionFinished) or m.phase in run.start.targets), None)
    if isinstance(last, CompletionFinished):
        return last.commit
    landed = run.landed(last.phase) if last else None
    return landed.commit if landed else last.commit if last else run.start.base


def free_slot(run: RunRecord) -> int:
    """The lowest number no pass works under; 0 is left to the run itself."""
    taken = {brief.slot for brief in run.open_passes}
    return next(number for number in range(1, len(taken) + 2) if number not in taken)


def _begin(run: RunRecord, phase: Phase) -> RunMove:
    blocking = next((d for d in phase.depends_on if failed(run, d)), None)
    if blocking is not None:
        return Skip(phase.id, f"blocked_by_phase_{blocking}", blocking)
    return first_pass(run, phase)


def first_pass(run: RunRecord, phase: Phase, slot: int = 0) -> Spawn:
    """
    The first pass of a target in this run, from the line on.

    One that mends what an earlier run left is a remediation at once; so is one that mends what a person found, where
    the work they looked at is at hand.
    """
    base = to_mend(run, phase.id, line(run)) if refusal(run, phase.id) else None
    if base is not None:
        return Spawn(phase, run.passes(phase.id)[-1].cycle + 1, base, slot)
    first = first_turn(run, phase.id)
    return Spawn(phase, first.turn, line(run), slot, first.mode, first.turn)


def mended(run: RunRecord, target: str, slot: int = 0) -> Spawn:
    """The pass that mends the last one, on top of what the phase stands on."""
    last = run.standing(target)[-1]
    then = next_turn(last)
    return Spawn(phase_of(run, target), last.cycle + 1, best(run, target).commit, slot, then.mode, then.turn)


def next_passed_over(run: RunRecord) -> Skip | None:
    """CMPL-02: the next completed phase that is to be told as skipped."""
    done = next((d for d in run.start.passed_over if not run.skipped(d.phase)), None)
    return Skip(done.phase, ALREADY, None, done) if done else None


def failed(run: RunRecord, phase: str) -> bool:
    passes, skipped = run.standing(phase), run.skipped(phase)
    blocked = skipped is not None and skipped.reason != ALREADY
    return blocked or bool(passes and isinstance(passes[-1].verdict, Stop))


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
        held = [t for t in run.start.targets if accepted(run, t) and not run.landed(t)]
        behind = f"; built upon it, and landed when it is mended: {', '.join(held)}" if held and not waiting else ""
        return closing(run, End("failed", 10, f"failed or blocked: {', '.join(lost)}{behind}"))
    if waiting:
        return End("completed", 11, f"waiting for a person's verdict: {', '.join(waiting)}")
    return closing(run, End("completed", 0, PASSED))


def closing(run: RunRecord, end: End) -> RunMove:
    """COMP-05: before the end what is due behind the last phase, then the landing of what that brought."""
    brief, done, now = run.completing, run.completion, line(run)
    if brief and not done and brief.base == now:
        return Complete(now, brief)
    if done and brief and done.commit != brief.base and not _is_landed(run, done):
        return Land(COMPLETION, done.commit)
    if steps_due(run):
        return Complete(now, None)
    return end if end.exit_code else last_word(run)


def last_word(run: RunRecord) -> End:
    """How a run ends that lost no phase: with 0 only where nothing is left that a person should look at."""
    short, left = short_of_a_pass(run), "; ".join(part for part in (not_landed(run), open_ends(run)) if part)
    if short:
        return End("completed", OPEN_ENDS, "; ".join(part for part in (short, left) if part))
    return End("completed", OPEN_ENDS, f"{PASSED}, but {left}") if left else End("completed", 0, PASSED)


def short_of_a_pass(run: RunRecord) -> str:
    """The phases that count as done without having passed at their bar, each with its outcome."""
    return "; ".join(f"phase {found.phase}: {found.text}" for found in shortfalls(run))


def not_landed(run: RunRecord) -> str:
    """What passed and is not on the user's branch, with what stands in its way: work that is not there is not done."""
    missing = run.unlanded
    phases = [landing.phase for landing in missing if landing.phase != COMPLETION]
    if not missing:
        return ""
    who = f"phase {', '.join(phases)}" if phases else "what followed the last phase"
    return f"{who} {'are' if len(phases) > 1 else 'is'} not on your branch yet: {missing[-1].note}"


def _is_landed(run: RunRecord, done: CompletionFinished) -> bool:
    return any(landing.phase == COMPLETION and landing.commit == done.commit for landing in run.of(PhaseLanded))


def open_ends(run: RunRecord) -> str:
    """AMB-24: what keeps a run whose phases passed from ending with 0. The newest integration check counts."""
    ends = tuple(run.of(CompletionFinished))
    checked = next((done for done in reversed(ends) if done.integration != "not_run"), None)
    broken = f"integration: fail ({checked.because})" if checked and checked.integration == "fail" else ""
    left = remaining_gaps(ends)
    gaps = f"self-audit gaps remain: {', '.join(left)}" if left else ""
    return "; ".join(part for part in (broken, gaps) if part)


def one_chance(run: RunRecord, phase: str) -> tuple[str, ...]:
    """A failed phase that a person wants retried, and what it had blocked."""
    blocked = dependents(phase, run.start.phases)
    return tuple(t for t in run.start.targets if t == phase or (t in blocked and run.skipped(t)))


def second_chances(run: RunRecord) -> tuple[str, ...]:
    """
    RSM-03: a run that failed, or with a phase a person refused, retries what failed and what was blocked by it.

    A verdict that a person gave on another phase since then leaves it a run that failed.
    """
    end = next((e.event for e in reversed(run.entries) if isinstance(e.event, RunFinished | RunResumed)), None)
    refused = any(failed(run, target) and refusal(run, target) for target in run.start.targets)
    if not refused and (not isinstance(end, RunFinished) or end.status != "failed"):
        return ()
    return tuple(target for target in run.start.targets if failed(run, target))


WAITS = 11


def pause(run: RunRecord) -> RunStopped | None:
    """Due before the next phase begins, N ends after the last pause; counted from the journal, so no crash moves it."""
    every = run.start.settings.modes.checkpoint_every
    ended = tuple(end.outcome.phase for end in settled_ends(run))
    before = max((stop.checkpoint for stop in run.of(RunStopped)), default=0)
    if every is None or len(ended) - before < every:
        return None
    count = f"{len(ended)} finished phase{'s' * (len(ended) != 1)}"
    return RunStopped(
        exit_code=WAITS,
        reason=f"checkpoint after {count}: look at phase {', '.join(dict.fromkeys(ended[before:]))}",
        do="autopilot resume",
        checkpoint=len(ended),
    )
