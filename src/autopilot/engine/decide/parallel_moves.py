"""What may happen now in a run that works on several phases at a time; from the records alone."""

from collections.abc import Iterable, Mapping

from autopilot.domain.events import MergeRefused, PhaseMerged, PhaseStarted
from autopilot.domain.results import Triaged
from autopilot.domain.verdict import Advance, AskHuman, Retry
from autopilot.engine.decide.line import accepted, has_waited
from autopilot.engine.decide.next_move import (
    Continue,
    Land,
    Merge,
    RunMove,
    Skip,
    Spawn,
    dependents,
    end_of,
    failed,
    first_pass,
    free_slot,
    line,
    mended,
    next_passed_over,
    pause,
    phase_of,
)
from autopilot.engine.decide.split_moves import Gather, Split, next_in_split, open_split
from autopilot.history.best_attempt import best
from autopilot.history.record import PhaseRecord, RunRecord

Named = Mapping[str, frozenset[str] | None]
"""By phase at work: the files its plan names; None while that is not known."""
Work = Continue | Merge | Gather | Land
Moves = tuple[Work | RunMove, ...]


def is_shared(run: RunRecord) -> bool:
    """Whether more than one pass may be open now."""
    return run.start.settings.modes.jobs > 1 or bool(open_splits(run))


def room(run: RunRecord, cores: int) -> int:
    """
    How many passes may be open at a time.

    What the user said; without a word only the parts of a split phase run together, one a core.
    """
    modes = run.start.settings.modes
    return modes.jobs if modes.jobs > 1 or modes.sequential else max(1, cores)


def next_moves(run: RunRecord, named: Named, cores: int) -> Moves:
    """
    All that may be at work now, then at most one move that is done at once.

    What comes behind the last phase is given only when nothing is at work.
    """
    work: tuple[Work, ...] = tuple(Continue(brief) for brief in run.open_passes)
    parts = [move for split in open_splits(run) if (move := next_in_split(run, split, room(run, cores)))]
    work = (*work, *(move for move in parts if not isinstance(move, Spawn)))
    spawns = [move for move in parts if isinstance(move, Spawn)]
    if spawns or run.start.settings.modes.jobs == 1:
        return (*work, *spawns[:1])
    # What is landed may have moved on by a commit of papers, so the line is known only behind it.
    joining = next_landing(run) or next_merge(run, named)
    work = (*work, joining) if joining else work
    begin = next_skip(run) or next_spawn(run)
    if begin is not None:
        return (*work, begin)
    return work or (end_of(run),)


def open_splits(run: RunRecord) -> tuple[Split, ...]:
    return tuple(split for target in run.start.targets if (split := open_split(run, target)))


def next_landing(run: RunRecord) -> Land | None:
    """In the order of the merges, up to the first phase that waits for a person, or that a person has refused."""
    for merged in run.of(PhaseMerged):
        if merged.phase not in run.start.targets:
            continue
        if not accepted(run, merged.phase) and has_waited(run, merged.phase):
            return None
        if merged is run.merged(merged.phase) and run.standing(merged.phase) and not run.landed(merged.phase):
            return Land(merged.phase, merged.commit)
    return None


def next_skip(run: RunRecord) -> Skip | None:
    if (over := next_passed_over(run)) is not None:
        return over
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
    if len(run.open_passes) >= run.start.settings.modes.jobs or (run.open_passes and pause(run)):
        return None  # A pause waits for what is at work.
    at_work = {brief.parent or brief.phase.id for brief in run.open_passes}
    ready = [t for t in run.start.targets if t not in at_work and not run.skipped(t) and _is_ready(run, t)]
    if not ready:
        return None
    target = min(ready, key=lambda t: (t != holder(run), -_chain(run, t)))
    slot = free_slot(run)
    return mended(run, target, slot) if run.standing(target) else first_pass(run, phase_of(run, target), slot)


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
    first = len(run.passes(phase)) - len(run.standing(phase))
    return next(brief.base for brief in reversed(briefs[: first + 1]) if not brief.done)


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
    at_work = {brief.phase.id for brief in run.open_passes}
    return (t for t in run.start.targets if t not in at_work and not run.skipped(t) and not run.standing(t))


def _is_ready(run: RunRecord, target: str) -> bool:
    """A phase that is to be mended, or one whose dependencies of this run are all in the line."""
    passes = run.standing(target)
    if passes:
        return isinstance(passes[-1].verdict, Retry) and not open_split(run, target)
    return all(run.merged(need) for need in phase_of(run, target).depends_on if need in run.start.targets)


def _chain(run: RunRecord, target: str) -> int:
    """How many targets wait for this one in a row, at most."""
    waiting = dependents(target, run.start.phases) & set(run.start.targets)
    direct = (t for t in waiting if target in phase_of(run, t).depends_on)
    return max((1 + _chain(run, t) for t in direct), default=0)
