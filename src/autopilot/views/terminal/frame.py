"""A picture as the lines of one screen, whatever its size: what matters most is shown first. Pure."""

from collections.abc import Sequence

from autopilot.state.picture import OVER, Picture
from autopilot.text.times import short
from autopilot.views.terminal.cells import Line, Span, beside, cut, plain, rule, spread, width_of
from autopilot.views.terminal.frame_parts import agent_lines, pass_lines, roadmap_lines, used_words, wait_lines
from autopilot.views.terminal.screen import Screen
from autopilot.views.terminal.time_left import run_left, run_seconds

WIDE = 120
LEAST_ROADMAP, LEAST_CAUTIONS = 3, 1
LEAST_RECENT = 3
MOST_CAUTIONS, SOME_CAUTIONS = 12, 5
_STATES = {"running": "cyan", "completed": "green", "failed": "red", "paused": "yellow", "interrupted": "yellow"}
_COUNTED = (
    ("below_bar", "below the bar"), ("already_satisfied", "already satisfied"),
    ("failed", "failed"), ("blocked", "blocked"), ("skipped", "skipped"),
    ("needs_human_verification", "need a person"), ("in_progress", "in progress"),
)  # fmt: skip


def frame(picture: Picture, screen: Screen) -> list[Line]:
    """At most `height` lines of at most `width` cells."""
    top = _head(picture, screen)
    room = screen.height - len(top)
    body = _wide(picture, screen, room) if screen.width >= WIDE else _narrow(picture, screen, room)
    return [cut(line, screen.width, screen.marks.more) for line in (*top, *body)][: max(0, screen.height)]


def text_of(lines: Sequence[Line]) -> str:
    """The frame as plain text, a line each."""
    return "".join("".join(span.text for span in line).rstrip() + "\n" for line in lines)


def _who(picture: Picture, room: int) -> str:
    """As much of agent, model and branch as there is room for, each whole: half a word says less than none."""
    program = picture.agent.partition(" ")[0]
    on = f"on {picture.branch}" if picture.branch else ""
    wordings = ((picture.agent, picture.model, on), (program, picture.model, on), (program, picture.model), (program,))
    told = (" ".join(filter(None, parts)) for parts in wordings)
    return next((text for text in told if len(text) <= room), "")


def _head(picture: Picture, screen: Screen) -> list[Line]:
    style = _STATES.get(picture.state, "")
    worked = short(run_seconds(picture, screen.now))
    name, state = (
        [Span("Autopilot ", "bold"), Span(picture.run or "-", "bold")],
        [Span(picture.state, style), Span(f" {worked}")],
    )
    who = _who(picture, screen.width - width_of(name) - width_of(state) - len("  ") - 1)
    lines = [
        spread([*name, Span(f"  {who}", "dim")], state, screen.width),
        spread(plain(_counts(picture)), plain(_left(picture, screen.now), "dim"), screen.width),
        plain(used_words(picture, screen.now, screen.width)),
    ]
    if picture.over and picture.reason:
        lines.append(plain(picture.reason, style))
    return [*lines, rule("", screen.width, screen.marks)]


def _counts(picture: Picture) -> str:
    rows = picture.targets
    done = sum(row.state == "completed" for row in rows)
    told = [f"{count} {word}" for state, word in _COUNTED if (count := sum(row.state == state for row in rows))]
    return ", ".join([f"{done}/{len(rows)} phases completed", *told])


def _left(picture: Picture, now: str) -> str:
    if picture.over or all(row.state in OVER for row in picture.targets):
        return ""
    left = run_left(picture, now)
    return "" if left is None else f"about {short(left)} left"


def _narrow(picture: Picture, screen: Screen, room: int) -> list[Line]:
    """One column: what is open as it needs it, the roadmap and the warnings in what is left."""
    cautions, side = _cautions(picture), _side(picture, screen)
    least = LEAST_ROADMAP + (LEAST_CAUTIONS + 1 if cautions else 0)
    middle = [*_passes(picture, screen, screen.width, room - least - len(side)), *side]
    rest = max(0, room - len(middle))
    shown = min(len(cautions), max(LEAST_CAUTIONS, rest // 4), SOME_CAUTIONS)
    roadmap = roadmap_lines(picture, screen.marks, screen.width, max(1, rest - (shown + 1 if shown else 0)))
    if middle and len(roadmap) + len(middle) + shown + 2 <= room:
        roadmap = [*roadmap, []]
    return [*roadmap, *middle, *_warnings(cautions, shown, screen)]


def _wide(picture: Picture, screen: Screen, room: int) -> list[Line]:
    """The roadmap to the left of what is open; the warnings below both, over the whole width."""
    cautions = _cautions(picture)
    shown = min(len(cautions), MOST_CAUTIONS, max(1, room // 4))
    tall = max(1, room - (shown + 1 if shown else 0))
    left = screen.width * 2 // 5
    right = screen.width - left - 3
    side = _side(picture, screen)
    column = [*_passes(picture, screen, right, tall - len(side)), *side]
    scores = _scores(picture)
    if scores and len(column) + len(scores) + 1 <= tall:
        column += [[], *scores]
    column += _recent(picture, tall - len(column), right, screen)
    roadmap = roadmap_lines(picture, screen.marks, left, tall)
    both = beside(roadmap, column[:tall], left, screen.marks)
    return [*both, *_warnings(cautions, shown, screen)]


def _passes(picture: Picture, screen: Screen, width: int, room: int) -> list[Line]:
    """Every open pass in the same detail: the most for which there is room."""
    lines: list[Line] = []
    for detail in (2, 1, 0):
        known = picture.passes.values()
        lines = [line for one in known for line in pass_lines(one, picture, screen, detail, width)]
        if len(lines) <= room:
            return lines
    return lines[: max(0, room)]


def _side(picture: Picture, screen: Screen) -> list[Line]:
    return [*agent_lines(picture, screen), *wait_lines(picture, screen)]


def _cautions(picture: Picture) -> list[Line]:
    """Oldest first, each with its time of day."""
    return [[Span(f"{one.at[11:16]} ", "dim"), Span(one.text, "yellow")] for one in picture.cautions]


def _warnings(lines: Sequence[Line], shown: int, screen: Screen) -> list[Line]:
    return [rule("WARNINGS", screen.width, screen.marks), *lines[len(lines) - shown :]] if shown else []


def _recent(picture: Picture, room: int, width: int, screen: Screen) -> list[Line]:
    """What came to its end last, newest below, where there is room for a few lines of it."""
    shown = min(len(picture.recent), room - 2)
    if shown < LEAST_RECENT:
        return []
    lines = [[Span(f"{one.at[11:19]} ", "dim"), Span(one.text)] for one in picture.recent[-shown:]]
    return [[], rule("LATELY", width, screen.marks), *lines]


def _scores(picture: Picture) -> list[Line]:
    card = picture.scorecard
    if card is None:
        return []
    rows = [[Span(f"  {score:>4.1f}  "), Span(text, "dim")] for text, score in card.rows]
    return [plain(f"Scores of phase {card.phase}: {card.score:.1f}", "bold"), *rows]
