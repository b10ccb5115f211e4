"""The dependency graph of a roadmap: cycles, unknown phases, order, who waits for whom."""

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from autopilot.domain.phase import NEVER_RUN, Note, Phase


def edges(phases: Sequence[Phase]) -> dict[str, tuple[str, ...]]:
    """What each phase waits for, among these phases. Dependencies elsewhere are taken as met."""
    known = {phase.id for phase in phases}
    return {phase.id: tuple(need for need in phase.depends_on if need in known) for phase in phases}


def cycle(graph: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """One cycle, first phase repeated at the end, each waiting for the next; empty when there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # graphlib lists each node after one it needs; we tell it the other way round.
        return tuple(reversed(error.args[1]))
    return ()


def dependency_notes(phases: Sequence[Phase], path: str) -> Iterator[Note]:
    """Unknown dependencies are kept and taken as met, so they are told; a cycle is an error."""
    known = {phase.id for phase in phases}
    for phase in phases:
        for need in phase.depends_on:
            if need not in known:
                what = f"phase {phase.id} depends on phase {need}, which is not in this roadmap: taken as met"
                yield Note(file=path, line=phase.line, what=what)
    found = cycle(edges(phases))
    if found:
        line = next(phase.line for phase in phases if phase.id == found[0])
        chain = " -> ".join(found)
        yield Note(file=path, line=line, what=f"these phases wait for each other: {chain}", severity="error")


def aside_notes(phases: Sequence[Phase], path: str) -> Iterator[Note]:
    """Open phases that wait for one that never runs; what waits for a superseded phase waits for its successor."""
    states = {phase.id: phase.status for phase in phases}
    for phase in phases:
        if phase.status in {"completed", *NEVER_RUN}:
            continue
        for need in phase.depends_on:
            if states.get(need) in NEVER_RUN:
                what = f"phase {phase.id} depends on phase {need}, which is {states[need]}: it cannot start"
                yield Note(file=path, line=phase.line, what=what, severity="error")
