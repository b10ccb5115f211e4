"""In which order phases run, and which of them wait for a given one (CMPL-01d)."""

from collections.abc import Sequence
from graphlib import TopologicalSorter

from autopilot.domain.errors import RoadmapInvalid
from autopilot.domain.phase import Phase, Roadmap
from autopilot.planning.roadmap import graph, ids


def order(phases: Sequence[Phase], roadmap: Roadmap) -> tuple[Phase, ...]:
    """
    Dependencies first, ties in the order of their numbers, in which a roadmap has its phases (CMPL-01d).

    A dependency outside the selection does not hold one up.
    """
    place = {phase.id: at for at, phase in enumerate(roadmap.phases)}
    chosen = {phase.id: phase for phase in phases}
    edges = graph.edges(tuple(chosen.values()))
    if found := graph.cycle(edges):
        raise cycle_error(found, roadmap)
    sorter = TopologicalSorter(edges)
    sorter.prepare()
    ordered: list[Phase] = []
    ready: list[str] = []
    while sorter.is_active():
        ready = sorted({*ready, *sorter.get_ready()}, key=lambda phase_id: place.get(phase_id, len(place)))
        first, *ready = ready
        ordered.append(chosen[first])
        sorter.done(first)
    return tuple(ordered)


def dependents(phase_id: str, roadmap: Roadmap) -> frozenset[str]:
    """Every phase that waits for this one, directly or through others."""
    waiting: dict[str, list[str]] = {}
    for phase in roadmap.phases:
        for need in phase.depends_on:
            waiting.setdefault(need, []).append(phase.id)
    own = ids.normalise(phase_id)
    reached: set[str] = set()
    ahead = [own]
    while ahead:
        new = [phase for phase in waiting.get(ahead.pop(), ()) if phase not in reached]
        reached.update(new)
        ahead += new
    return frozenset(reached - {own})


def cycle_error(cycle: Sequence[str], roadmap: Roadmap) -> RoadmapInvalid:
    lines = {phase.id: phase.line for phase in roadmap.phases}
    return RoadmapInvalid(
        f"Phases wait for each other: {' -> '.join(cycle)}.",
        why="None of them could ever start.",
        do=f"Remove one of these `Depends on` entries in {roadmap.path} (line {lines.get(cycle[0], 1)}).",
    )
