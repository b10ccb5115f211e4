"""Which phases an expression means: `3`, `3-7`, `3,5,8`, `7 8 9.1`, `all`, `next` (INV-02..07)."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from autopilot.domain.errors import RoadmapInvalid, UsageInvalid
from autopilot.domain.phase import NEVER_RUN, Phase, Roadmap
from autopilot.domain.request import RunRequest
from autopilot.planning.roadmap import ids
from autopilot.planning.roadmap.order import order

_RANGE = re.compile(rf"({ids.PATTERN})(?:-|\u2013|\.\.)({ids.PATTERN})", re.ASCII)
_SPACED_RANGE = re.compile(r"(?<=\w)\s*(-|\u2013|\.\.)\s+(?=\w)|(?<=\w)\s+(-|\u2013|\.\.)\s*(?=\w)")
_LIST_MARK = re.compile(r"[,;\s]+")
_MAX_LENGTH = 2000
_WORDS = frozenset({"all", "next"})


def wanted(request: RunRequest, roadmap: Roadmap, completed: AbstractSet[str]) -> tuple[Phase, ...]:
    """
    The phases a request names, in roadmap order; none when it names none.

    `--only` names phases like an expression does. `--from` and `--to` bound what is named, and without a name what is
    outstanding. Several of them together mean what is in all.
    """
    if not request.wish:
        return ()
    named = [text for text in (request.phases, request.only) if text] or ["all"]
    sets = [{p.id for p in select(text, roadmap, completed)} for text in named]
    sets.append(bounded(request.first, request.last, roadmap))
    chosen = set.intersection(*sets)
    if request.modes.complete:
        # Only what is outstanding: a phase that is completed is told as skipped and never done again.
        return tuple(phase for phase in outstanding(roadmap, completed) if phase.id in chosen)
    if not chosen and all(sets) and named != ["all"]:
        raise UsageInvalid(
            f"No phase fits all of {request.wish!r}.",
            why="Nothing would run.",
            do="Widen --from, --to or --only, or name other phases.",
        )
    return tuple(phase for phase in roadmap.phases if phase.id in chosen)


def passed_over(request: RunRequest, roadmap: Roadmap, completed: AbstractSet[str]) -> tuple[str, ...]:
    """CMPL-02: the completed phases that `--complete` was asked for as well, by name or as part of the roadmap."""
    if not request.modes.complete:
        return ()
    named = [text for text in (request.phases, request.only) if text and text.strip().lower() not in _WORDS]
    sets = [{p.id for p in select(text, roadmap, completed)} for text in named]
    within = set.intersection(bounded(request.first, request.last, roadmap), *sets)
    return tuple(phase.id for phase in roadmap.phases if phase.id in within and phase.id in completed)


def spelled_out(request: RunRequest) -> frozenset[str]:
    """The phases that the request names one by one, not as part of a range, `all` or `next`."""
    words = " ".join(text for text in (request.phases, request.only) if text)
    return frozenset(ids.normalise(piece) for piece in _LIST_MARK.split(words) if ids.valid(piece))


def bounded(first: str | None, last: str | None, roadmap: Roadmap) -> set[str]:
    """AMB-02: segment-wise, both ends included, and only phases of the same prefix."""
    known = {phase.id for phase in roadmap.phases}
    ends = [ids.normalise(end) for end in (first, last) if end is not None]
    for end in ends:
        if end not in known:
            raise unknown(end, roadmap)
    if first is not None and last is not None and not ids.between(first, first, last):
        raise UsageInvalid(
            f"--from {first} --to {last} runs backwards.",
            why="It selects no phase, so nothing would run.",
            do=f"Write --from {last} --to {first}.",
        )
    return {p.id for p in roadmap.phases if _within(first, p.id, last)}


def _within(first: str | None, phase_id: str, last: str | None) -> bool:
    above = first is None or ids.between(first, phase_id, phase_id)
    return above and (last is None or ids.between(phase_id, phase_id, last))


def select(expression: str, roadmap: Roadmap, completed: AbstractSet[str]) -> tuple[Phase, ...]:
    """Phases in roadmap order, each once. Only `all` and `next` leave out what is completed or deferred."""
    words = expression.strip()
    if len(words) > _MAX_LENGTH:
        raise _nonsense(words[:40] + "...")
    match words.lower():
        case "all":
            return outstanding(roadmap, completed)
        case "next":
            return _next(roadmap, completed)
        case _:
            return _named(words, roadmap)


def outstanding(roadmap: Roadmap, completed: AbstractSet[str]) -> tuple[Phase, ...]:
    """What is still to be done: not completed by record or roadmap, and not deferred, superseded or cancelled."""
    done = {ids.normalise(phase_id) for phase_id in completed}
    return tuple(p for p in roadmap.phases if p.id not in done and p.status not in {"completed", *NEVER_RUN})


def _next(roadmap: Roadmap, completed: AbstractSet[str]) -> tuple[Phase, ...]:
    """The first outstanding phase that waits for no other outstanding one."""
    open_phases = outstanding(roadmap, completed)
    return order(open_phases, roadmap)[:1]


def _named(words: str, roadmap: Roadmap) -> tuple[Phase, ...]:
    bare = re.sub(r"\bphases?\b[\s:#]*", "", words, flags=re.IGNORECASE)
    pieces = [piece for piece in _LIST_MARK.split(_SPACED_RANGE.sub(lambda m: m[1] or m[2], bare)) if piece]
    if not pieces:
        raise _nonsense(words)
    chosen = {phase_id for piece in pieces for phase_id in _expand(piece, roadmap)}
    return tuple(phase for phase in roadmap.phases if phase.id in chosen)


def _expand(piece: str, roadmap: Roadmap) -> Iterator[str]:
    known = {phase.id for phase in roadmap.phases}
    if ids.normalise(piece) in known:
        yield ids.normalise(piece)
        return
    span = _RANGE.fullmatch(piece)
    if span is None:
        if not ids.valid(piece):
            raise _nonsense(piece)
        raise unknown(piece, roadmap)
    low, high = ids.normalise(span[1]), ids.normalise(span[2])
    for end in (low, high):
        if end not in known:
            raise unknown(end, roadmap)
    held = [phase.id for phase in roadmap.phases if ids.between(low, phase.id, high)]
    if not held:
        raise UsageInvalid(
            f"The range {piece} runs backwards.",
            why="It selects no phase, so nothing would run.",
            do=f"Write the smaller phase first: {span[2]}-{span[1]}.",
        )
    yield from held


def unknown(phase_id: str, roadmap: Roadmap) -> RoadmapInvalid:
    available = ", ".join(phase.id for phase in roadmap.phases[:200])
    return RoadmapInvalid(
        f"Phase {ids.normalise(phase_id)} not found in roadmap.",
        why=f"{roadmap.path} does not name it, so there is no goal to work towards.",
        do=f"Available phases: {available}",
    )


class NotAPhase(UsageInvalid):
    """What was typed names no phase in any roadmap."""


def _nonsense(words: str) -> NotAPhase:
    return NotAPhase(
        f"'{words}' is not a valid phase number.",
        why="Autopilot only runs phases it was clearly asked to run.",
        do="Write phases as 3, 3-7, 3,5,8, '7 8 9.1', all or next.",
    )
