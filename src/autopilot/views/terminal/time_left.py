"""How long what is open will take, reckoned from how long earlier steps of the run took. Pure; None is unknown."""

from collections.abc import Iterator

from autopilot.domain.results import COMPLETION, EXECUTE, heading_of, number_of
from autopilot.state.picture import OVER, OpenPass, Picture, StepRow
from autopilot.text.times import elapsed

# What lies before and behind the tasks of a phase, in the order of the pipeline.
BEFORE = ("preflight", "triage", "research", "plan", "plan_check")
BEHIND = ("verify", "judge", "judge_divergence", "rate")
# Left out of the reckoning where none has been seen: they take no time, or are not always there.
OPTIONAL = frozenset({"preflight", "triage", "judge_divergence"})
_TASKS_OVER = frozenset({"verified", "failed"})


def step_seconds(row: StepRow, picture: Picture, now: str) -> float:
    """How long a step took, or has taken by now; time in which the run lay still or waited is left out."""
    if row.seconds is not None:
        return row.seconds
    return max(0.0, elapsed(max(row.began, picture.resumed), row.waits_since or now) - row.waited)


def pass_seconds(known: OpenPass, now: str) -> float:
    return max(0.0, elapsed(known.began, known.waits_since or now) - known.paused)


def run_seconds(picture: Picture, now: str) -> float:
    going_on = bool(picture.last) and not picture.over and not picture.lies_still
    return picture.worked + elapsed(picture.last, now) if going_on else picture.worked


def pass_left(known: OpenPass, picture: Picture, now: str) -> float | None:
    """Seconds until the pass is over; unknown while a step ahead of it was never seen."""
    if known.phase == COMPLETION:
        return None
    parts = list(_ahead(known, picture))
    if any(part is None for part in parts):
        return None
    row = known.step
    if row is None or row.seconds is not None:
        here = 0.0
    elif row.step not in picture.tallies:
        return None
    else:
        here = max(0.0, picture.tallies[row.step].mean - step_seconds(row, picture, now))
    return here + sum(part for part in parts if part is not None)


def _ahead(known: OpenPass, picture: Picture) -> Iterator[float | None]:
    """A debugging step stands where the tasks do: all that is behind them is ahead of it."""
    row = known.step
    at = 0 if row is None else number_of(heading_of(row.step) or EXECUTE)
    for step in (step for step in BEFORE if _number(step) > at):
        yield _mean(picture, step)
    if at <= number_of(EXECUTE):
        yield _tasks(known, picture)
    judging = row is not None and row.step == "judge"
    for step in (step for step in BEHIND if _number(step) > at or (judging and step == "judge_divergence")):
        yield _mean(picture, step)


def _number(step: str) -> int:
    return number_of(heading_of(step) or EXECUTE)


def _mean(picture: Picture, step: str) -> float | None:
    tally = picture.tallies.get(step)
    return tally.mean if tally else 0.0 if step in OPTIONAL else None


def _tasks(known: OpenPass, picture: Picture) -> float | None:
    """Of tasks not begun; of a phase whose plan is not there yet, what the tasks of a phase take on average."""
    if not known.tasks:
        whole = picture.tallies.get(EXECUTE)
        return whole.mean if whole and whole.count else None
    waiting = sum(task.state == "waiting" for task in known.tasks)
    under_way = sum(task.state not in _TASKS_OVER for task in known.tasks) - waiting
    work, review = _mean(picture, "execute"), _mean(picture, "mini_verify")
    reviews = waiting + (under_way if known.step is not None and known.step.step != "mini_verify" else 0)
    if (waiting and work is None) or (reviews and review is None):
        return None
    return waiting * (work or 0.0) + reviews * (review or 0.0)


def run_left(picture: Picture, now: str) -> float | None:
    """Seconds until the last target is over; unknown before the first one is."""
    known = [row.seconds for row in picture.targets if row.state in OVER and row.seconds]
    if picture.over or not known:
        return None
    mean = sum(known) / len(known)
    open_now = {p.phase for p in picture.passes.values()}
    waiting = sum(row.state not in OVER and row.id not in open_now for row in picture.targets)
    longest = max((_left(p, picture, now, mean) for p in picture.passes.values()), default=0.0)
    return longest + waiting * mean / picture.jobs


def _left(known: OpenPass, picture: Picture, now: str, mean: float) -> float:
    reckoned = pass_left(known, picture, now)
    return max(0.0, mean - pass_seconds(known, now)) if reckoned is None else reckoned
