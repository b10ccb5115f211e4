"""Which phases `--force`, `--quality` and `--gaps` mean, and what is said of those they leave alone."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from autopilot.domain.errors import UsageInvalid
from autopilot.domain.phase import Phase, Roadmap
from autopilot.domain.request import RunRequest
from autopilot.domain.rework import NEGLIGIBLE, QUALITY, Standing, refines
from autopilot.domain.settings import Modes
from autopilot.domain.value import Value
from autopilot.planning.roadmap.selection import NotAPhase, bounded, outstanding, select

Known = Mapping[str, Standing]


class Chosen(Value, frozen=True, kw_only=True):
    """`phases` in roadmap order; `remarks` is a line each for those asked for and left alone."""

    phases: tuple[Phase, ...] = ()
    remarks: tuple[str, ...] = ()


def chosen(request: RunRequest, roadmap: Roadmap, known: Known) -> Chosen:
    """Phases may be named before the flag, behind it, or both: what is meant is all of them."""
    within = bounded(request.first, request.last, roadmap)
    named = _named(request, roadmap, known)
    meant = named if named is not None else _unnamed(request.modes, roadmap, known)
    if request.only:
        meant &= {phase.id for phase in select(request.only, roadmap, completed(known))}
    phases = [phase for phase in roadmap.phases if phase.id in meant & within]
    refuse_unfinished(request.modes, phases, known)
    remarks = {phase.id: remark(phase, request.modes, known, named=named is not None) for phase in phases}
    return Chosen(
        phases=tuple(phase for phase in phases if not remarks[phase.id]),
        remarks=tuple(line for line in remarks.values() if line),
    )


def completed(known: Known) -> AbstractSet[str]:
    return {phase for phase, standing in known.items() if standing.status == "completed"}


def _named(request: RunRequest, roadmap: Roadmap, known: Known) -> set[str] | None:
    """Those named; None when there are none, or when all are asked for."""
    told = {"": request.phases, **_values(request.modes)}
    given = {flag: text for flag, text in told.items() if text and text.strip().lower() != "all"}
    if not given:
        return None
    return {p.id for flag, text in given.items() for p in _select(flag, text, roadmap, completed(known))}


def _values(modes: Modes) -> dict[str, str | None]:
    return {"--force": modes.force, "--quality": modes.quality, "--gaps": modes.gaps}


def _select(flag: str, text: str, roadmap: Roadmap, done: AbstractSet[str]) -> tuple[Phase, ...]:
    try:
        return select(text, roadmap, done)
    except NotAPhase as error:
        if not flag:
            raise
        available = ", ".join(phase.id for phase in roadmap.phases[:200])
        raise UsageInvalid(
            error.what,
            why=f"Expected: a number (e.g., {flag} 3) or no argument (e.g., {flag} for all phases).",
            do=f"Available phases: {available}",
        ) from error


def _unnamed(modes: Modes, roadmap: Roadmap, known: Known) -> set[str]:
    """FORC-02, QUAL-04, GAPS-02, FLAG-10."""
    done = completed(known)
    left = {phase.id for phase in outstanding(roadmap, done)}
    if modes.complete:
        return left
    if modes.force is not None:
        return set(done)
    below = {phase for phase in done if (known[phase].score or 0.0) < QUALITY}
    return below | (left if modes.quality is not None else set())


def refuse_unfinished(modes: Modes, phases: list[Phase], known: Known) -> None:
    """FORC-01, GAPS-01. With `--quality` a phase is completed first."""
    flag = "--force" if modes.force is not None else "--gaps"
    if flag == "--gaps" and modes.quality is not None:
        return
    for phase in phases:
        status = known[phase.id].status
        if status != "completed":
            raise UsageInvalid(
                f"Phase {phase.id} is not completed (status: {status}). {flag} only applies to completed phases.",
                why="It works on what a phase has become, and of this one there is nothing yet.",
                do=f"Run it first: autopilot {phase.id}",
            )


def remark(phase: Phase, modes: Modes, known: Known, *, named: bool) -> str:
    """QUAL-01, GAPS-03: why a phase that was asked for is left alone; empty when it is not."""
    standing = known[phase.id]
    if not refines(modes) or standing.status != "completed":
        return ""
    score = standing.score
    if score is None:
        hint = "No score of it is known; name it, and it is looked at and scored first"
        return "" if named else f"Phase {phase.id}: completed, but not by Autopilot. {hint}. Skipping."
    if modes.gaps is not None and score >= NEGLIGIBLE:
        return f"Phase {phase.id}: already at {score:.1f}/10 (>= 9.8). Negligible gap remaining. Skipping."
    if modes.gaps is None and score >= QUALITY:
        return f"Phase {phase.id}: already at {score:.1f}/10 (>= 9.5 target). Skipping."
    return ""
