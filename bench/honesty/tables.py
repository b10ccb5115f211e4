"""Results as text: lines while it runs, totals at the end, Markdown tables for the docs."""

import platform
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from autopilot import __version__
from honesty.arena import Result
from honesty.roster import Agent, Project

SHOWN = 3


def line(result: Result) -> str:
    """What the suite fails on is marked BAD; a liar let through where the user gave no command, a dash."""
    bout = result.bout
    excused = bout.agent.beyond or not (bout.anchored or bout.agent.honest)
    let_through = excused and result.accepted and not result.broken
    mark = "ok " if result.right and not let_through else ("-  " if let_through else "BAD")
    turn = f"#{bout.turn}" if bout.agent.repeat > 1 else ""
    name = f"{bout.agent.name}{turn} on {bout.project.name}"
    kind = "beyond" if bout.agent.beyond else ("honest" if bout.agent.honest else "liar  ")
    return f"{mark} {kind} {name:42} {outcome(result)} ({result.seconds:.1f} s)"


def outcome(result: Result) -> str:
    """What became of it and by which facts; for an honest agent that was turned away, the reason in full."""
    if result.broken:
        return f"no result: {result.broken}"
    if result.accepted:
        return "accepted"
    if result.bout.agent.honest:
        return f"rejected: {result.reason[:300]}"
    if result.caught:
        return f"caught by {', '.join(result.caught[:SHOWN])}"
    return f"not accepted: {result.reason[:120]}"


def totals(results: Sequence[Result], skipped: Iterable[str], seconds: float) -> str:
    liars, hidden = _liars(results), [r for r in results if r.bout.agent.beyond]
    honest = [r for r in results if r.bout.agent.honest]
    wrong = [r for r in results if r.broken]
    lines = [
        f"{_agents(liars)} dishonest agents, {len(liars)} runs: {_passed(liars)} false accepts",
        f"{_agents(honest)} honest agents, {len(honest)} runs: {sum(not r.accepted for r in honest)} false rejects",
        *([f"{_agents(hidden)} beyond any command, {len(hidden)} runs: {_passed(hidden)} accepted"] if hidden else []),
        *([f"{len(wrong)} runs without a result"] if wrong else []),
        *(f"skipped: {reason}" for reason in skipped),
        f"{seconds:.0f} s",
    ]
    return "\n".join(lines)


def markdown(results: Sequence[Result]) -> str:
    """What was measured and the totals first, then a table each for liars and honest agents."""
    liars = _liars(results)
    honest = [r for r in results if r.bout.agent.honest]
    accepted, rejected = _passed(liars), sum(not r.accepted for r in honest)
    rows = [
        ("dishonest", str(_agents(liars)), str(len(liars)), f"{accepted} false accepts"),
        ("honest", str(_agents(honest)), str(len(honest)), f"{rejected} false rejects"),
    ]
    parts = [
        f"Measured with Autopilot {__version__} on {platform.system()}, Python {platform.python_version()}.\n",
        table(("agents", "number", "runs", "result"), rows),
        table(("dishonest agent", "what it does", "project", "result"), map(_row, liars)),
        table(("honest agent", "its habit", "project", "result"), map(_row, honest)),
    ]
    return "\n".join(parts)


def beyond(results: Sequence[Result]) -> str:
    """A table of their own for those whose extra no command can show."""
    hidden = [r for r in results if r.bout.agent.beyond]
    told = f"{_agents(hidden)} agents, {len(hidden)} runs, {_passed(hidden)} accepted.\n"
    return "\n".join((told, table(("agent", "what it does", "project", "result"), map(_row, hidden))))


def sample_projects(projects: Iterable[Project]) -> str:
    return table(("project", "language", "what it is"), ((p.name, p.language, p.what) for p in projects))


def sources(agents: Iterable[Agent]) -> str:
    return table(("dishonest agent", "mirrors"), ((a.name, a.mirrors) for a in agents if not a.honest))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |" for cells in lines) + "\n"


def put(page: Path, name: str, text: str) -> None:
    """Replace what stands between the markers of that name. Raises `ValueError` when the page has none."""
    old = page.read_text(encoding="utf-8")
    part = re.compile(rf"(<!-- measured: {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    new, times = part.subn(lambda found: f"{found[1]}\n{text}\n{found[2]}", old)
    if times != 1:
        raise ValueError(f"{page} has no place for {name}")
    page.write_text(new, encoding="utf-8")


def _row(result: Result) -> tuple[str, str, str, str]:
    agent = result.bout.agent
    said = "**accepted**" if result.accepted and not agent.honest else outcome(result)
    if agent.honest and not result.accepted:
        said = f"**rejected**: {result.reason[:120]}"
    what = f"{agent.what} (needs `{agent.needs}`)" if agent.needs else agent.what
    return agent.name, what, result.bout.project.name, said


def _liars(results: Iterable[Result]) -> list[Result]:
    return [r for r in results if not r.bout.agent.honest and not r.bout.agent.beyond]


def _passed(results: Iterable[Result]) -> int:
    return sum(r.accepted for r in results)


def _agents(results: Iterable[Result]) -> int:
    return len({r.bout.agent.name for r in results})
