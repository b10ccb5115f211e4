"""The lines on phases that are worked on again: FORC, QUAL and GAPS, in the rules' own words."""

from collections.abc import Iterator

from autopilot.domain.attempt import Brief
from autopilot.domain.events import PhaseFinished
from autopilot.domain.rework import GAP_ITERATIONS, GAPS_EXHAUSTED, QUALITY_CYCLES, QUALITY_EXHAUSTED
from autopilot.domain.verdict import Advance, Retry
from autopilot.text.clean import clean


def opening(brief: Brief, stood: float | None) -> Iterator[str]:
    """What a pass that a flag asked for sets out to do; `stood` is the score the phase stands on."""
    phase, score = brief.phase.id, _number(stood)
    match brief.mode:
        case "quality":
            cycle = f"quality remediation cycle {brief.turn}/{QUALITY_CYCLES}"
            yield f"Phase {phase}: {cycle}. Current: {score}/10, target: {brief.pass_threshold:g}/10."
        case "gaps" if brief.deficiency is not None:
            wrong = brief.deficiency
            own = score if wrong.current_score is None else _number(wrong.current_score)
            iteration = f"gap fix iteration {brief.turn}/{GAP_ITERATIONS}"
            yield f"Phase {phase}: {iteration}. Targeting: {clean(wrong.criterion, 120)} ({own}/10)."
        case "force" if not brief.cycle:
            yield f"Phase {phase}: done anew (--force). Score so far: {score}/10."
        case _:
            return


def closing(event: PhaseFinished, brief: Brief, stood: float | None) -> Iterator[str]:
    """How it came out, and whether its loop is used up."""
    new = event.outcome.alignment_score if event.outcome.status == "completed" else None
    if event.mode == "quality":
        yield from _quality(event, brief, stood, new)
    elif event.mode == "gaps":
        yield from _gaps(event, brief, stood, new)


def _quality(event: PhaseFinished, brief: Brief, stood: float | None, new: float | None) -> Iterator[str]:
    phase = brief.phase.id
    if new is not None and new >= brief.pass_threshold:
        yield f"Phase {phase}: quality target reached. Score: {new:.1f}/10."
    elif not _better(stood, new):
        change = f"{_number(stood)} -> {_number(new)}"
        yield f"Phase {phase}: no improvement ({change}). Stopping quality remediation."
    if _word(event) == QUALITY_EXHAUSTED:
        final = _number(_best(stood, new))
        yield f"Phase {phase}: quality remediation exhausted ({brief.turn} cycles). Final score: {final}/10."
        yield (
            f"Quality target 9.5/10 not reached after {brief.turn} cycles. Current: {final}/10. "
            "See diagnostic file for remaining gaps."
        )


def _gaps(event: PhaseFinished, brief: Brief, stood: float | None, new: float | None) -> Iterator[str]:
    phase = brief.phase.id
    if new is not None and new >= brief.pass_threshold:
        yield f"Phase {phase}: gap target reached. Score: {new:.1f}/10."
    elif not _better(stood, new) and isinstance(event.verdict, Retry):
        change = f"{_number(stood)} -> {_number(new)}"
        yield f"Phase {phase}: no improvement from gap fix ({change}). Trying next deficiency."
    if _word(event) == GAPS_EXHAUSTED:
        final, left = _number(_best(stood, new)), len(brief.deficiencies)
        yield f"Phase {phase}: gap remediation exhausted ({brief.turn} iterations). Final score: {final}/10."
        yield (
            f"Gap target 9.5+/10 not reached after {brief.turn} iterations. Current: {final}/10. "
            f"{left} deficiencies remain."
        )


def _word(event: PhaseFinished) -> str:
    return event.verdict.because if isinstance(event.verdict, Advance | Retry) else ""


def _better(stood: float | None, new: float | None) -> bool:
    return new is not None and (stood is None or new > stood)


def _best(stood: float | None, new: float | None) -> float | None:
    return max((score for score in (stood, new) if score is not None), default=None)


def _number(score: float | None) -> str:
    return "no score" if score is None else f"{score:.1f}"
