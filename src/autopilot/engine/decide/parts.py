"""Which passes the work of a phase stands on: its own, or those of the parts it was split into."""

from autopilot.engine.close.confidence import feedback
from autopilot.engine.close.receipt_files import standing_of
from autopilot.engine.decide.split_moves import open_split
from autopilot.engine.perform.run_log import Streams
from autopilot.engine.run.briefs import Told
from autopilot.engine.run.combine import combined_plan
from autopilot.history.best_attempt import best
from autopilot.history.record import PhaseRecord, RunRecord


def stood_on(run: RunRecord, streams: Streams, phase: str) -> tuple[PhaseRecord, ...]:
    """
    What must hold once the work is merged.

    For a whole phase: itself and, if it was split, its parts. For a part: itself and the parts merged before it.
    """
    passes = streams.passes(phase)
    parent = passes[-1].brief.parent
    if parent:
        before = tuple(record for record in part_records(run, streams, parent) if run.merged(record.phase.id))
        return (passes[-1], *before)
    stands = standing_of(run, passes)
    return (stands.record,) if stands else (passes[-1], *part_records(run, streams, phase))


def part_records(run: RunRecord, streams: Streams, phase: str) -> tuple[PhaseRecord, ...]:
    """The newest pass of every part of the split the phase is in, or came out of last."""
    split = open_split(run, phase)
    if split is not None:
        names: tuple[str, ...] = tuple(part.sub_phase_id for part in split.parts)
    else:
        names = tuple(end.sub_phase_id for end in best(run, phase).sub_phases) if run.standing(phase) else ()
    return tuple(streams.passes(name)[-1] for name in names if run.standing(name))


def left_to_mend(run: RunRecord, streams: Streams, phase: str) -> Told | None:
    """For the remediation of a phase that came together from parts; None for any other."""
    if not run.standing(phase) or not best(run, phase).sub_phases:
        return None
    records = part_records(run, streams, phase)
    return Told(
        tuple(item for record in records for item in feedback(record, record.brief.pass_threshold)),
        combined_plan(records),
    )
