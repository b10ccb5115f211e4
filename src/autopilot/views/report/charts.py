"""The pictures of the report, drawn as SVG: the roadmap, the timeline, bars. Colours come from the page's style."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from autopilot.text.times import short
from autopilot.views.report.dependency_chart import Graph, Node
from autopilot.views.report.gantt import LIMITED, Bar, Lane, Timeline, scaled, squeezed
from autopilot.views.report.markup import NAME, Attribute, Pen, el, joined, made, words
from autopilot.views.report.phase_rows import of_run

WIDE, HIGH, GAP_X, GAP_Y = 172, 46, 40, 14
LANE, LABEL, CHART, MARGIN, THIN = 20, 160, 832, 28, 1.5
MOST_BARS = 30
_LETTERS = 22
_TICKS = 6


def svg(width: float, height: float, title: str, *children: Markup, **attributes: Attribute) -> Markup:
    box = f"0 0 {width:g} {height:g}"
    return el(
        "svg", el("title", words(title)), *children, viewBox=box, width=f"{width:g}", height=f"{height:g}", role="img",
        aria_label=title, **attributes,
    )  # fmt: skip


def roadmap(graph: Graph, pen: Pen, anchors: Mapping[str, str]) -> Markup:
    """Each phase is a link to what is told of it."""
    width = graph.columns * (WIDE + GAP_X) - GAP_X + 4
    height = graph.rows * (HIGH + GAP_Y) - GAP_Y + 4
    lines = joined(_edge(graph.nodes[a], graph.nodes[b]) for a, b in graph.edges)
    boxes = joined(_box(node, pen, anchors.get(node.phase.id, "")) for node in graph.nodes)
    title = f"Roadmap: {len(graph.nodes)} phases, {len(graph.edges)} dependencies"
    return svg(width, max(height, HIGH), title, el("g", lines, class_="edges"), boxes, class_="roadmap")


def _corner(node: Node) -> tuple[int, int]:
    return node.column * (WIDE + GAP_X) + 2, node.row * (HIGH + GAP_Y) + 2


def _edge(needed: Node, needing: Node) -> Markup:
    (x1, y1), (x2, y2) = _corner(needed), _corner(needing)
    start, end = (x1 + WIDE, y1 + HIGH // 2), (x2, y2 + HIGH // 2)
    bend = max((end[0] - start[0]) // 2, GAP_X // 2)
    way = f"M{start[0]} {start[1]}C{start[0] + bend} {start[1]} {end[0] - bend} {end[1]} {end[0]} {end[1]}"
    return el("path", d=way)


def _box(node: Node, pen: Pen, anchor: str) -> Markup:
    x, y = _corner(node)
    seen = node.phase
    score = "" if seen.score is None else f" {seen.score:.1f}"
    name = pen.line(f"{seen.id} {seen.name}", _LETTERS)
    whole = pen.line(f"Phase {seen.id}: {seen.name}, {seen.word}{score}", NAME)
    shapes = (
        el("title", whole),
        el("rect", x=x, y=y, width=WIDE, height=HIGH, rx=6),
        el("text", name, x=x + 10, y=y + 19, class_="name"),
        el("text", words(f"{seen.word}{score}"), x=x + 10, y=y + 36),
    )
    return el("a", *shapes, href=f"#{anchor}", class_=f"node s-{seen.status}")


def gantt(shown: Timeline, pen: Pen, names: Mapping[str, str]) -> Markup:
    """A lane a phase; what is too short to be seen is drawn together with its neighbours."""
    place = scaled(shown, CHART)
    height = (len(shown.lanes) + 1) * LANE + 6
    breaks = joined(
        _span("pause", p.begin, p.end, place, LANE, height - LANE, pen.line(f"nobody worked: {p.why}", NAME))
        for p in shown.pauses
    )
    lanes = joined(_lane(n + 1, lane, place, pen, names) for n, lane in enumerate(shown.lanes))
    title = f"Timeline of {len(shown.lanes)} phases over {short(shown.seconds)}"
    return svg(LABEL + CHART + MARGIN, height, title, _ticks(shown, place, height), breaks, lanes, class_="gantt")


def _ticks(shown: Timeline, place: Callable[[float], float], height: float) -> Markup:
    """Moments of work: none inside a long pause."""
    long = squeezed(shown, CHART)
    moments = (shown.seconds * n / _TICKS for n in range(_TICKS + 1))
    free = [at for at in moments if not any(p.begin < at < p.end for p in long)]
    return joined(
        joined(
            (
                el("line", x1=LABEL + place(at), x2=LABEL + place(at), y1=LANE - 4, y2=height, class_="tick"),
                el("text", words(short(at)), x=LABEL + place(at), y=LANE - 8, class_="when"),
            )
        )
        for at in free
    )


def _lane(number: int, lane: Lane, place: Callable[[float], float], pen: Pen, names: Mapping[str, str]) -> Markup:
    top = number * LANE
    label = pen.line(f"{lane.phase} {names.get(lane.phase, '')}".strip(), _LETTERS)
    bars = (_step(bar, place, top, pen) for bar in gathered(lane.bars, place))
    people = (_step(bar, place, top, pen) for bar in lane.waits[:MOST_BARS] if bar.how != LIMITED)
    # A step waits in its middle, so this is drawn over it.
    agents = (_step(bar, place, top, pen) for bar in lane.waits[:MOST_BARS] if bar.how == LIMITED)
    text = el(
        "text", el("title", pen.line(f"{of_run(lane.phase)} {names.get(lane.phase, '')}", NAME)), label, x=0, y=top + 14
    )
    return el("g", text, *people, *bars, *agents)


def gathered(bars: Sequence[Bar], place: Callable[[float], float]) -> tuple[Bar, ...]:
    """The bars of a lane with neighbours put together that are thinner than can be seen, and never too many."""
    thin = THIN
    found = list(bars)
    while True:
        found = _merged(found, place, thin)
        if len(found) <= MOST_BARS:
            return tuple(found)
        thin *= 2


def _merged(bars: Sequence[Bar], place: Callable[[float], float], thin: float) -> list[Bar]:
    found: list[Bar] = []
    for bar in bars:
        last = found[-1] if found else None
        if last and place(bar.end) - place(last.begin) < thin:
            how = last.how if last.how == bar.how else "several steps"
            found[-1] = Bar(step="several steps", begin=last.begin, end=max(last.end, bar.end), how=how)
        else:
            found.append(bar)
    return found


def _step(bar: Bar, place: Callable[[float], float], top: float, pen: Pen) -> Markup:
    task = f" {bar.task}" if bar.task else ""
    said = pen.line(f"{bar.step}{task}, {short(bar.end - bar.begin)}: {bar.how}", NAME)
    kind = f"b-{bar.how.replace(' ', '-')}"
    return _span(kind, bar.begin, bar.end, place, top + 3, LANE - 6, said)


def _span(kind: str, begin: float, end: float, place: Callable[[float], float], *rest: float | Markup) -> Markup:
    top, height, said = rest
    assert isinstance(said, Markup)
    left, right = place(begin), place(end)
    wide = max(right - left, THIN)
    box = f'<rect x="{LABEL + left:g}" y="{top:g}" width="{wide:g}" height="{height:g}" class="{kind}">'
    return made(f"{box}<title>{said}</title></rect>")


def meter(value: float, most: float, threshold: float | None = None) -> Markup:
    """A bar that says its number beside it."""
    share = 0.0 if most <= 0 else min(max(value / most, 0.0), 1.0) * 100
    shapes = [
        el("rect", width=100, height=8, class_="empty"),
        el("rect", width=f"{share:.1f}", height=8, class_="full"),
    ]
    if threshold is not None and most > 0:
        at = f"{min(threshold / most, 1.0) * 100:.1f}"
        shapes.append(el("line", x1=at, x2=at, y1=0, y2=8, class_="bound"))
    return el("svg", *shapes, viewBox="0 0 100 8", class_="meter", aria_hidden="true")


def columns(title: str, pen: Pen, values: Sequence[tuple[str, float | None]], top: float) -> Markup:
    """A column a run, oldest first; what is unknown has none and says so."""
    step, height = 26, 90
    shapes = []
    for n, (name, value) in enumerate(values):
        tall = 0.0 if value is None or top <= 0 else min(max(value / top, 0.0), 1.0) * height
        said = pen.line(f"{name}: {'unknown' if value is None else f'{value:g}'}", NAME)
        box = f'<rect x="{n * step + 3}" y="{height - tall:g}" width="{step - 6}" height="{tall:g}" class="full">'
        shapes.append(made(f"{box}<title>{said}</title></rect>"))
    base = el("line", x1=0, x2=len(values) * step, y1=height, y2=height, class_="tick")
    return svg(max(len(values) * step, step), height + 2, title, base, *shapes, class_="columns")


def of_runs(runs: Sequence[Mapping[str, Any]], key: str, factor: float = 1.0) -> list[tuple[str, float | None]]:
    found = []
    for run in runs:
        value = run.get(key)
        known = isinstance(value, int | float) and not isinstance(value, bool)
        found.append((str(run.get("run_id", "")), float(value) * factor if known and value is not None else None))
    return found
