"""A phase that was too big for one pass: its parts, and what may happen with them now; from the record alone."""

from dataclasses import dataclass

import msgspec

from autopilot.domain.attempt import PhaseOutcome, SplitDetails, SubPhase
from autopilot.domain.events import PhaseFinished, PhaseStarted
from autopilot.domain.phase import Phase
from autopilot.domain.verdict import Retry, Stop
from autopilot.engine.decide.next_move import Merge, Spawn, free_slot, phase_of
from autopilot.history.record import RunRecord


@dataclass(frozen=True, slots=True)
class Gather:
    """Every part of the phase has come to its end: say what they are together."""

    phase: str


@dataclass(frozen=True, slots=True)
class Split:
    """A phase that is being worked on in parts; `base` is what the first of them start from."""

    phase: str
    cycle: int
    base: str
    details: SplitDetails

    @property
    def parts(self) -> tuple[SubPhase, ...]:
        return self.details.recommended_sub_phases


def open_split(run: RunRecord, target: str) -> Split | None:
    """The split the phase is in the middle of, if it is."""
    passes = run.standing(target)
    match passes[-1] if passes else None:
        case PhaseFinished(
            cycle=cycle,
            verdict=Retry(step="split"),
            outcome=PhaseOutcome(status="split_request", commit=base, split_details=SplitDetails() as details),
        ):
            return Split(target, cycle, base, details)
    return None


def next_in_split(run: RunRecord, split: Split, room: int) -> Merge | Spawn | Gather | None:
    """
    What is to be done beside the parts at work; None when they have to be waited for.

    Parts are merged in the order of their letters. Once one has failed no other is begun.
    """
    at_work = {brief.phase.id for brief in run.open_passes}
    lost = any(_has_failed(run, part) for part in split.parts)
    for part in split.parts:
        name = part.sub_phase_id
        if name in at_work:
            break
        if run.standing(name) and not run.merged(name) and not _has_failed(run, part):
            return Merge(name, begun_on(run, name), tip(run, split), run.standing(name)[-1].outcome.commit)
        if not run.standing(name):
            break
    ready = [p for p in split.parts if not lost and p.sub_phase_id not in at_work and _is_ready(run, p)]
    if ready and len(run.open_passes) < room:
        part = ready[0]
        phase = part_of(phase_of(run, split.phase), part, mends=bool(split.cycle))
        return Spawn(phase, split.cycle, tip(run, split), free_slot(run), parent=split.phase)
    return None if at_work & {part.sub_phase_id for part in split.parts} or ready else Gather(split.phase)


def tip(run: RunRecord, split: Split) -> str:
    """What the parts merged so far come to."""
    merges = [merged for part in split.parts if (merged := run.merged(part.sub_phase_id))]
    return merges[-1].commit if merges else split.base


def begun_on(run: RunRecord, part: str) -> str:
    return next(s.brief.base for s in reversed(tuple(run.of(PhaseStarted))) if s.brief.phase.id == part)


def _is_ready(run: RunRecord, part: SubPhase) -> bool:
    return not run.standing(part.sub_phase_id) and all(run.merged(need) for need in part.after)


def _has_failed(run: RunRecord, part: SubPhase) -> bool:
    passes = run.standing(part.sub_phase_id)
    return bool(passes) and isinstance(passes[-1].verdict, Stop)


def part_of(whole: Phase, part: SubPhase, *, mends: bool) -> Phase:
    """
    SPLT-03: the phase with another name and goal.

    What the roadmap wants of the whole cannot hold for a part of work that is yet to be done: it is checked when all
    parts are together. Where the work is done and only mended, it goes on holding.
    """
    kept = whole.criteria if mends else ()
    return msgspec.structs.replace(
        whole, id=part.sub_phase_id, name=part.name, goal=part.scope, criteria=kept, requirements=(), depends_on=()
    )


def part_named(run: RunRecord, target: str, name: str) -> SubPhase:
    split = open_split(run, target)
    assert split is not None
    return next(part for part in split.parts if part.sub_phase_id == name)
