"""The parts a frame is put together from: roadmap, open passes, agents, waits and what is used. Pure."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from autopilot.domain.phase import NEVER_RUN
from autopilot.domain.results import COMPLETION, EXECUTE, HEADINGS, heading_of
from autopilot.state.picture import OpenPass, PhaseRow, Picture, StepRow, TaskRow
from autopilot.text.times import elapsed, seconds_of, short
from autopilot.views.terminal.cells import Line, Marks, Span, fit, flow, rule
from autopilot.views.terminal.screen import Screen
from autopilot.views.terminal.time_left import pass_left, pass_seconds, run_seconds, step_seconds

MINUTE, THOUSAND, MILLION = 60, 1000, 1_000_000
LEAST_NAME, MOST_NAME, REST_CELLS = 8, 42, 26
_STYLES = {
    "completed": "green", "verified": "green", "done": "green", "failed": "red", "stopped": "red",
    "in_progress": "cyan", "working": "cyan", "reviewing": "cyan", "fixing": "cyan", "": "cyan",
    "blocked": "yellow", "skipped": "yellow", "needs_human_verification": "yellow", "person": "yellow",
    "back": "yellow", "already_satisfied": "yellow", "below_bar": "yellow",
}  # fmt: skip
_WORDS = {"needs_human_verification": "needs a person", "below_bar": "below the bar"}


def mark_of(state: str, marks: Marks) -> Span:
    if state in {"completed", "verified", "done"}:
        letter = marks.completed
    elif state in {"failed", "stopped"}:
        letter = marks.failed
    elif state in {"in_progress", "working", "reviewing", "fixing", ""}:
        letter = marks.running
    else:
        letter = marks.waiting if state in {"waiting", "not_started", *NEVER_RUN} else marks.held
    return Span(letter, _STYLES.get(state, "dim"))


def roadmap_lines(picture: Picture, marks: Marks, width: int, room: int) -> list[Line]:
    """The phases around those that are open; how many there are beyond is told."""
    rows = list(picture.phases.values())
    columns = _columns(rows, width)
    if len(rows) <= room:
        return [_row(row, marks, columns) for row in rows]
    open_now = next((n for n, row in enumerate(rows) if row.state == "in_progress"), None)
    first_left = next((n for n, row in enumerate(rows) if row.state == "not_started"), len(rows))
    centre = first_left if open_now is None else open_now
    shown = max(1, room - 1)
    first = max(0, min(centre - shown // 2, len(rows) - shown))
    told = f"  {marks.more} {first} more above, {len(rows) - first - shown} below"
    return [*(_row(row, marks, columns) for row in rows[first : first + shown]), [Span(told, "dim")]][:room]


def _columns(rows: Sequence[PhaseRow], width: int) -> tuple[int, int]:
    """The cells for number and name: as many as the longest take, but something is left for the rest."""
    numbers = max((len(row.id) for row in rows), default=1)
    longest = max((cell_len(row.name) for row in rows), default=0)
    return numbers, max(LEAST_NAME, min(longest, MOST_NAME, width - numbers - REST_CELLS))


def _row(row: PhaseRow, marks: Marks, columns: tuple[int, int]) -> Line:
    score = "" if row.score is None else f"{row.score:.1f}"
    took = short(row.seconds) if row.seconds else ""
    state = _WORDS.get(row.state, row.state.replace("_", " "))
    told = f"{state}: {row.remark}" if row.remark else "" if row.state in {"completed", "not_started"} else state
    branch = " (not on your branch)" if row.landed is False else ""
    dim = "" if row.target else "dim"
    name = f" {row.id:<{columns[0]}} {fit(row.name, columns[1])} "
    line = [Span(" "), mark_of(row.state, marks), Span(name, dim), Span(f"{score:>4} {took:>7} ", dim or "bold")]
    return [*line, Span(f"{told}{branch}", _STYLES.get(row.state, "dim"))]


def pass_lines(known: OpenPass, picture: Picture, screen: Screen, detail: int, width: int) -> Iterator[Line]:
    """One open pass: a line of its own, with more detail its steps and the task at hand, then every task."""
    left = pass_left(known, picture, screen.now)
    title = "END OF THE RUN" if known.phase == COMPLETION else f"PHASE {known.phase} {known.name}".strip()
    cycle = f", cycle {known.cycle}" if known.cycle else ""
    reckoned = f", about {short(left)} left" if left is not None and not picture.over else ""
    took = f"{short(pass_seconds(known, screen.now))}{cycle}{reckoned}"
    if not detail:
        step = _now(known, picture, screen)
        yield [mark_of("in_progress", screen.marks), Span(f" {title}", "bold"), Span(f"  {step}  {took}")]
        return
    head = rule(f"{title}  ", max(0, width - len(took) - 1), screen.marks)
    yield [*head, Span(f" {took}")]
    yield from flow(_steps(known, picture, screen), width)
    yield from _tasks(known.tasks, screen.marks, width, every=detail > 1)


def _now(known: OpenPass, picture: Picture, screen: Screen) -> str:
    row = known.step
    if row is None:
        return "starting"
    seconds = short(step_seconds(row, picture, screen.now))
    return f"{_heading(row.step)} {row.task} {seconds}".replace("  ", " ")


def _heading(step: str) -> str:
    return heading_of(step) or step.upper().replace("_", " ")


def _steps(known: OpenPass, picture: Picture, screen: Screen) -> Iterator[Line]:
    """Each heading once with all the time it took, in the order of the pipeline; steps without one stand behind."""
    took: dict[str, float] = {}
    newest: dict[str, StepRow] = {}
    for step, seconds in known.took.items():
        took[_heading(step)] = took.get(_heading(step), 0.0) + seconds
    for row in known.steps:
        newest[name := _heading(row.step)] = row
        if row.seconds is None:
            took[name] = took.get(name, 0.0) + step_seconds(row, picture, screen.now)
    ahead = () if known.phase == COMPLETION else tuple(name for name in HEADINGS if name not in took)
    ordered = [name for name in HEADINGS if name in took or name in ahead] + [n for n in took if n not in HEADINGS]
    last = max((n for n, name in enumerate(ordered) if name in took), default=-1)
    for number, name in enumerate(ordered):
        if name in took:
            between = name == EXECUTE and number == last and any(task.state == "waiting" for task in known.tasks)
            mark = mark_of("" if between else newest[name].ended, screen.marks)
            yield [mark, Span(f" {name} "), Span(short(took[name]), "dim")]
        else:
            skipped = number < last and ordered[last] in HEADINGS
            yield [Span(f"{screen.marks.waiting} {name}{' skipped' if skipped else ''}", "dim")]


def _tasks(tasks: Sequence[TaskRow], marks: Marks, width: int, *, every: bool) -> Iterator[Line]:
    if not tasks:
        return
    over = sum(task.state == "verified" for task in tasks)
    at_hand = [task for task in tasks if task.state not in {"waiting", "verified", "failed"}]
    yield [Span(f"  Tasks {over}/{len(tasks)} verified", "bold"), *([] if every else _at_hand(at_hand, marks))]
    for task in tasks if every else ():
        yield _task_line(task, marks, width)


def _at_hand(tasks: Sequence[TaskRow], marks: Marks) -> Line:
    if not tasks:
        return []
    first = tasks[0]
    return [Span("  "), mark_of(first.state, marks), Span(f" {first.id} {first.title}"), Span(f" {first.state}", "dim")]


def _task_line(task: TaskRow, marks: Marks, width: int) -> Line:
    state = "" if task.state in {"waiting", "verified"} else task.state
    return [Span("   "), mark_of(task.state, marks), Span(f" {task.id} {task.title[:width]}"), Span(f" {state}", "dim")]


def agent_lines(picture: Picture, screen: Screen) -> Iterator[Line]:
    """Who is at work, for how long, what its processes do, and for how long they have done nothing."""
    for call in picture.calls.values():
        glance = screen.glances.get(call.call)
        place = call.task or ("the run's end" if call.phase == COMPLETION else f"phase {call.phase}")
        took = short(elapsed(call.began, screen.now))
        idle = "" if glance is None or glance.idle is None else f", idle {short(glance.idle)}"
        line = [
            mark_of("working", screen.marks),
            Span(f" {call.role.replace('_', ' ')}", "bold"),
            Span(f" {place} {took}{idle}"),
        ]
        yield [*line, Span(f"  {glance.doing}", "dim")] if glance and glance.doing else line


def wait_lines(picture: Picture, screen: Screen) -> Iterator[Line]:
    """What is waited for, with a countdown where its end is known."""
    for wait in picture.waits:
        left = seconds_of(wait.until) - seconds_of(screen.now) if wait.until else None
        told = "" if left is None else f", {short(left)} left" if left > 0 else ", due"
        # What is at the end is cut where there is little room: that is what can best be done without.
        key = [Span(" (r: ask now)", "dim")] if wait.call and not picture.over else []
        yield [Span(f"{screen.marks.held} waiting{told}", "yellow"), *key, Span(f": {wait.what}", "yellow")]


def used_words(picture: Picture, now: str, width: int) -> str:
    """What is used of each cap, in few words where there is little room; what no agent told is unknown, not nothing."""
    used, limits = picture.used, picture.limits
    usd = "unknown dollars" if used.usd is None else f"${used.usd:.2f}"
    untold = f" ({used.untold} of {used.calls} calls told no price)" if used.usd is not None and used.untold else ""
    tokens = "unknown" if used.tokens is None else amount(used.tokens)
    minutes, most = f"{run_seconds(picture, now) / MINUTE:.0f}", f"{limits.minutes_per_run:g}"
    cap, bounded = f"${limits.usd_per_run:g}", limits.tokens_per_run
    of, per = (f" of {amount(bounded)}", f"/{amount(bounded)}") if bounded is not None else ("", "")
    long = f"Used: {usd} of {cap}, {tokens}{of} tokens, {minutes} of {most} min"
    if len(long) > width:
        told = ("$?" if used.usd is None else usd), ("?" if used.tokens is None else tokens)
        return f"Used: {told[0]}/{cap}, {told[1]}{per} tok, {minutes}/{most} min"
    return f"{long}{untold}" if len(long) + len(untold) <= width else long


def amount(number: float) -> str:
    """1.2M, 340k, 900."""
    if number >= MILLION:
        return f"{number / MILLION:.1f}".removesuffix(".0") + "M"
    return f"{number / THOUSAND:.0f}k" if number >= THOUSAND else f"{number:.0f}"
