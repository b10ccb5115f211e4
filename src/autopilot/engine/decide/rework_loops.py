"""The loops that mend a phase beyond its first pass: where a pass stands in them, and what the next one is about."""

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from autopilot.domain.attempt import Brief, PhaseOutcome
from autopilot.domain.events import Entry, PhaseFinished
from autopilot.domain.rework import (
    GAP_ITERATIONS,
    QUALITY,
    QUALITY_CYCLES,
    Deficiency,
    Mode,
    first_mode,
    gap_target,
    refines,
    sorted_by_shortfall,
)
from autopilot.domain.settings import Modes
from autopilot.domain.value import Value
from autopilot.domain.verdict import Retry
from autopilot.engine.close.confidence import deficiencies, feedback
from autopilot.history.best_attempt import best, counted, kept, pass_behind
from autopilot.history.record import PassEnd, PhaseRecord, RunRecord

MENDING: frozenset[Mode] = frozenset({"quality", "gaps"})


class Turn(Value, frozen=True, kw_only=True):
    """In which mode a pass runs, and its number in that mode's own loop, from 1; 0 outside of one."""

    mode: Mode = "initial"
    turn: int = 0


def first_turn(run: RunRecord, phase: str) -> Turn:
    """Of a target's first pass: as usual, anew, or at once in the loop that mends what an earlier run left."""
    mode = first_mode(run.start.settings.modes, run.start.before.get(phase))
    return Turn(mode=mode, turn=1 if mode in MENDING else 0)


def next_turn(last: PhaseFinished) -> Turn:
    """Of the pass that mends the last one. The standard loop has no count of its own: its cycles are all there are."""
    match last.verdict:
        case Retry(step="quality" | "gaps" as mode):
            return Turn(mode=mode, turn=last.turn + 1 if last.mode == mode else 1)
        case _:
            return Turn(mode=last.mode)


def told_what_to_mend(brief: Brief, run: RunRecord, passes: Sequence[PhaseRecord]) -> Brief:
    """The brief of a pass that mends something: what it is told of it, and in a flag's loop the bar."""
    phase, before = brief.phase.id, run.start.before.get(brief.phase.id)
    record = standing_record(run, phase, passes)
    if brief.mode == "gaps":
        first, *rest = open_gaps(run, phase, passes)
        bar = gap_target(stood(run, phase, "gaps"))
        return replace(
            brief, feedback=(first.feedback,), deficiency=first, deficiencies=tuple(rest), pass_threshold=bar
        )
    if brief.mode == "quality":
        items = feedback(record, QUALITY) if record else before.feedback if before else ()
        return replace(brief, feedback=items, pass_threshold=QUALITY)
    return replace(brief, feedback=feedback(record or passes[-1], brief.pass_threshold))


def open_gaps(run: RunRecord, phase: str, passes: Sequence[PhaseRecord]) -> tuple[Deficiency, ...]:
    """GAPS-08, GAPS-09: what is left for passes to come. The list is made once, when the first of them begins."""
    finished = run.standing(phase)
    if finished and finished[-1].mode == "gaps":
        return next(p.brief.deficiencies for p in reversed(passes) if p.brief.mode == "gaps")
    before, record = run.start.before.get(phase), standing_record(run, phase, passes)
    if record is None:
        return before.deficiencies if before else ()
    return sorted_by_shortfall(deficiencies(record, gap_target(stood(run, phase, "gaps"))))


def standing_record(run: RunRecord, phase: str, passes: Sequence[PhaseRecord]) -> PhaseRecord | None:
    """The pass the phase stands on; None when that is the work of an earlier run, or nothing."""
    ended, standing = run.passes(phase), run.standing(phase)
    if kept(standing, run.start.before.get(phase)):
        return None
    chosen = counted(standing)
    return pass_behind(chosen, ended, passes) if chosen else None


def stood(run: RunRecord, phase: str, mode: Mode) -> float | None:
    """The score that a pass in that mode adds to; None when nothing that counts is there yet."""
    finished, before = run.standing(phase), run.start.before.get(phase)
    if not finished:
        return before.score if before and mode in MENDING else None
    is_whole = counted(finished) is not None or kept(finished, before)
    return best(run, phase).alignment_score if is_whole else None


def pass_end(brief: Brief, outcome: PhaseOutcome, run: RunRecord, passes: Sequence[PhaseRecord]) -> PassEnd:
    """What the gate has to know of a pass that has just ended."""
    settings, phase = run.start.settings, brief.phase.id
    score = stood(run, phase, brief.mode)
    loop = "standard" if brief.parent else loop_of(brief.mode, settings.modes)
    gaps = len(open_gaps(_with(outcome, brief, run), phase, passes)) if settings.modes.gaps is not None else 0
    left = {
        # A part of a phase is not mended by itself: that is for the whole to ask for.
        "standard": 0 if settings.lenient or brief.parent else settings.limits.remediation_cycles - brief.cycle,
        "quality": QUALITY_CYCLES - brief.turn,
        "gaps": min(GAP_ITERATIONS - brief.turn, gaps),
    }
    return PassEnd(
        outcome=outcome,
        cycles_left=left[loop],
        threshold=brief.pass_threshold,
        completed_before=score is not None,
        loop=loop,
        turn=brief.turn,
        stood=score,
        gaps_open=gaps if loop == "quality" else 0,
        marked_done=brief.phase.status == "completed",
    )


def loop_of(mode: Mode, modes: Modes) -> Literal["standard", "quality", "gaps"]:
    """The loop a pass is in, or the one it leads to."""
    if mode in {"quality", "gaps"}:
        return "quality" if mode == "quality" else "gaps"
    if not refines(modes):
        return "standard"
    return "quality" if modes.quality is not None else "gaps"


def _with(outcome: PhaseOutcome, brief: Brief, run: RunRecord) -> RunRecord:
    """The run as it will be when the pass is written down; what the gate makes of it is not known yet."""
    event = PhaseFinished(
        cycle=brief.cycle, outcome=outcome, verdict=Retry(step="", because=""), mode=brief.mode, turn=brief.turn
    )
    return run.grown((*run.entries, Entry(number=len(run.entries), at=run.entries[-1].at, event=event)))
