"""Where each phase stands in a picture of what waits for what. Pure."""

from collections.abc import Mapping, Sequence

from autopilot.domain.value import Value
from autopilot.views.report.phase_rows import PhaseSeen

COLUMNS = 5


class Node(Value, frozen=True, kw_only=True):
    """`column` and `row` from 0; what it waits for stands in a column before, or in a band above."""

    phase: PhaseSeen
    column: int
    row: int


class Graph(Value, frozen=True, kw_only=True):
    """`edges` lead from what is needed to what needs it, as places in `nodes`."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]
    columns: int
    rows: int


def graph_of(phases: Sequence[PhaseSeen], columns: int = COLUMNS) -> Graph:
    """Column by column as deep as dependencies go; after `columns` of them the picture goes on below."""
    depths = _depths({phase.id: phase.depends_on for phase in phases})
    taken: dict[int, int] = {}
    places: list[tuple[int, int, int]] = []
    for phase in phases:
        depth = depths[phase.id]
        places.append((depth // columns, depth % columns, taken.get(depth, 0)))
        taken[depth] = taken.get(depth, 0) + 1
    heights = {band: max(row for b, _, row in places if b == band) + 1 for band in {band for band, _, _ in places}}
    tops = {band: sum(heights[b] for b in heights if b < band) for band in heights}
    nodes = tuple(
        Node(phase=phase, column=column, row=tops[band] + row)
        for phase, (band, column, row) in zip(phases, places, strict=True)
    )
    index = {phase.id: n for n, phase in enumerate(phases)}
    edges = tuple((index[need], n) for n, p in enumerate(phases) for need in p.depends_on if need in index)
    return Graph(
        nodes=nodes,
        edges=edges,
        columns=max((node.column for node in nodes), default=0) + 1,
        rows=sum(heights.values()),
    )


def _depths(needs: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The longest way to each. What waits for itself in a circle is taken as if it did not."""
    depths: dict[str, int] = {}
    for name in needs:
        stack, under_way = [name], set[str]()
        while stack:
            top = stack[-1]
            under_way.add(top)
            open_needs = [n for n in needs[top] if n in needs and n not in depths and n not in under_way]
            if open_needs:
                stack.append(open_needs[0])
                continue
            depths.setdefault(top, max((depths[n] + 1 for n in needs[top] if n in depths), default=0))
            under_way.discard(stack.pop())
    return depths
