"""What may happen now in a run that works on several phases at a time; from the records alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from autopilot.domain.events import MergeRefused, PhaseMerged, PhaseStarted
from autopilot.domain.record import PhaseRecord, RunRecord
from autopilot.domain.results import Triaged
from autopilot.domain.verdict import Advance, AskHuman, Retry
from autopilot.engine.orchestrate import (
    Complete,
    Continue,
    End,
    Land,
    Skip,
    Spawn,
    best,
    dependents,
    end_of,
    failed,
    line,
    phase_of,
)


@dataclass(frozen=True, slots=True)
class Merge:
    """Join the work of a phase that passed, begun on `base`, to the line, which is at `onto`."""

    phase: str
    base: str
    onto: str
    commit: str


Named = Mapping[str, frozenset[str] | None]
"""By phase at work: the files its plan names; None while that is not known."""
Work = Continue | Merge
Moves = tuple[Continue | Merge | Spawn | Skip | Land | Complete | End, ...]


def next_moves(run: RunRecord, named: Named) -> Moves:
    """
    All that may be at work now, then at most one move that is done at once.

    What comes behind the last phase is given only when nothing is at work.
    """
    work: tuple[Work, ...] = tuple(Continue(brief) for brief in run.open_passes)
    landing = next_landing(run)
    if landing is not None:
        return (*work, landing)
    merge = next_merge(run, named)
    work = (*work, merge) if merge else work
    begin = next_skip(run) or next_spawn(run)
    if begin is not None:
        return (*work, begin)
    return work or (end_of(run),)


def next_landing(run: RunRecord) -> Land | None:
    """In the order of the merges, up to the first phase that waits for a person."""
    for merged in run.of(PhaseMerged):
        passes = run.standing(merged.phase)
        if not passes or merged.phase not in run.start.targets:
            continue
        if isinstance(passes[-1].verdict, AskHuman):
            return None
        if not run.landed(merged.phase):
            return Land(merged.phase, merged.commit)
    return None


def next_skip(run: RunRecord) -> Skip | None:
    for target in _untouched(run):
        blocking = next((d for d in phase_of(run, target).depends_on if failed(run, d)), None)
        if blocking is not None:
            return Skip(target, f"blocked_by_phase_{blocking}", blocking)
    return None


def next_spawn(run: RunRecord) -> Spawn | None:
    """
    The phase that comes first of all that are ready, if there is room for one more.

    A phase that was sent back comes before all others, for they wait for it; then the one most phases depend on.
    """
    if len(run.open_passes) >= run.start.settings.modes.jobs:
        return None
    begun = {brief.phase.id for brief in run.open_passes}
    ready = [t for t in run.start.targets if t not in begun and not run.skipped(t) and _is_ready(run, t)]
    if not ready:
        return None
    target = min(ready, key=lambda t: (t != holder(run), -_chain(run, t)))
    passes, slot = run.standing(target), free_slot(run)
    if passes:
        return Spawn(phase_of(run, target), passes[-1].cycle + 1, best(run, target).commit, slot)
    return Spawn(phase_of(run, target), 0, line(run), slot)


def free_slot(run: RunRecord) -> int:
    """The lowest number no pass works under; 0 is left to the run itself."""
    taken = {brief.slot for brief in run.open_passes}
    return next(number for number in range(1, len(taken) + 2) if number not in taken)


def next_merge(run: RunRecord, named: Named) -> Merge | None:
    """
    The first phase of the roadmap that passed and need not wait.

    It waits for an earlier phase at work that may change the same files, so that the later one of two that do not go
    together is the one done again. And it waits for a phase that was sent back: that one is to find the line as it
    left it, so nothing is sent back twice.
    """
    holding = holder(run)
    for target in run.start.targets:
        if is_passed(run, target) and not run.merged(target) and holding in {None, target}:
            if holding is None and _must_wait(run, target, named):
                continue
            return Merge(target, rooted(run, target), line(run), best(run, target).commit)
    return None


def holder(run: RunRecord) -> str | None:
    """The phase for which the line is held: it was sent back, and is neither merged nor given up."""
    refused = (refusal.phase for refusal in run.of(MergeRefused))
    return next((p for p in refused if p in run.start.targets and not run.merged(p) and not failed(run, p)), None)


def is_passed(run: RunRecord, phase: str) -> bool:
    passes = run.standing(phase)
    at_work = any(phase in {brief.phase.id, brief.parent} for brief in run.open_passes)
    return bool(passes) and not at_work and isinstance(passes[-1].verdict, Advance | AskHuman)


def rooted(run: RunRecord, phase: str) -> str:
    """The line as it was when the phase's work began; later passes stand on that work."""
    briefs = [started.brief for started in run.of(PhaseStarted) if started.brief.phase.id == phase]
    return next(brief.base for brief in reversed(briefs) if not brief.cycle and not brief.done)


def named_files(record: PhaseRecord) -> frozenset[str] | None:
    """What a pass at work is going to change, as far as its plan says; None before there is one."""
    triaged = record.find(Triaged)
    if record.plan is None:
        return frozenset() if triaged and triaged.routing == "verify_only" else None
    return frozenset(file for task in record.plan.tasks for file in task.files)


def changed_files(run: RunRecord, phase: str) -> frozenset[str]:
    return frozenset(path for finished in run.standing(phase) for path in finished.outcome.evidence.files_checked)


def _must_wait(run: RunRecord, target: str, named: Named) -> bool:
    earlier = run.start.targets[: run.start.targets.index(target)]
    mine = changed_files(run, target)
    for brief in run.open_passes:
        phase = brief.parent or brief.phase.id
        theirs = named.get(brief.phase.id)
        if phase in earlier and (theirs is None or mine & (theirs | changed_files(run, phase))):
            return True
    return False


def _untouched(run: RunRecord) -> Iterable[str]:
    begun = {brief.phase.id for brief in run.open_passes}
    return (t for t in run.start.targets if t not in begun and not run.skipped(t) and not run.standing(t))


def _is_ready(run: RunRecord, target: str) -> bool:
    """A phase that is to be mended, or one whose dependencies of this run are all in the line."""
    passes = run.standing(target)
    if passes:
        return isinstance(passes[-1].verdict, Retry)
    return all(run.merged(need) for need in phase_of(run, target).depends_on if need in run.start.targets)


def _chain(run: RunRecord, target: str) -> int:
    """How many targets wait for this one in a row, at most."""
    waiting = dependents(target, run.start.phases) & set(run.start.targets)
    direct = (t for t in waiting if target in phase_of(run, t).depends_on)
    return max((1 + _chain(run, t) for t in direct), default=0)
