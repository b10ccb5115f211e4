"""One run as the page is told of it: its picture cut into named parts, of which only those that changed are sent."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from autopilot.domain.events import Entry, PhaseStarted, RunResumed, RunStarted
from autopilot.domain.phase import Phase, RoadmapTaken
from autopilot.domain.results import COMPLETION
from autopilot.domain.value import Value
from autopilot.state.picture import OVER, OpenPass, Picture
from autopilot.state.picture_run import after
from autopilot.views.lines.run_lines import Narrator
from autopilot.views.terminal.time_left import pass_left, run_left, run_seconds

LOG_LINES, STEPS_SHOWN = 300, 20
# When a step has taken longer than such steps do, this much is still ahead.
FAR = "9999-01-01T00:00:00.000Z"
_MINUTE = 60


class LogLine(Value, frozen=True, kw_only=True):
    at: str
    phase: str
    text: str


class Spend(Value, frozen=True, kw_only=True):
    """`used` is None where no agent told, `cap` where nothing bounds it."""

    unit: str
    used: float | None
    cap: float | None


class Ahead(Value, frozen=True, kw_only=True):
    """Seconds left as of `at`; they run down, but not below `least`. None: unknown."""

    at: str
    left: float | None
    least: float | None


class RunHead(Value, frozen=True, kw_only=True):
    """The run in a few words. `state` is what the journal says; whether somebody works on it the lock knows."""

    run: str
    state: str
    began: str
    last: str
    resumed: str
    branch: str
    agent: str
    model: str
    threshold: float
    counts: dict[str, int]
    total: int
    spend: tuple[Spend, ...]
    untold: int
    ahead: Ahead
    reason: str
    do: str


class OpenView(Value, frozen=True, kw_only=True):
    """The pass at work with the newest of its steps; `usual` is how long such a step as the one under way takes."""

    work: OpenPass
    usual: float | None
    ahead: Ahead


class Doing(Value, frozen=True, kw_only=True):
    """What the processes of a call do, and since when they have done nothing; empty: unknown, or they work."""

    doing: str = ""
    idle_since: str = ""


class ShownRun:
    """`take` gives the parts that changed since it was last called; `log` lines are handed out once."""

    def __init__(self) -> None:
        self.picture, self.phases, self.sent = Picture(), dict[str, Phase](), False
        self.doing: Mapping[str, Doing] = {}
        self._told: tuple[Picture, Mapping[str, Doing]] = (self.picture, self.doing)
        self._narrator, self._log = Narrator(), list[LogLine]()

    def hear(self, stream: str, entry: Entry) -> None:
        self.picture = after(self.picture, stream, entry)
        match entry.event:
            case RunStarted(phases=phases) | RunResumed(roadmap=RoadmapTaken(phases=phases)):
                self.phases = {phase.id: phase for phase in phases}
            case PhaseStarted(brief=brief):
                self.phases.setdefault(brief.phase.id, brief.phase)
        phase = stream.partition("/")[2].partition("~")[0]
        told = self._narrator.tell(stream, entry)
        self._log += [LogLine(at=entry.at, phase=phase, text=line) for line in told if line.strip()]
        del self._log[:-LOG_LINES]

    def take(self) -> tuple[dict[str, Any], list[LogLine]]:
        """The changed parts by name, None for one that is gone, and the lines that are new."""
        (before, doing), self._told = self._told, (self.picture, self.doing)
        log, self._log = self._log, []
        parts = dict(changes(before, self.picture))
        return (parts if doing == self.doing else parts | {"doing": self.doing}), log


def changes(before: Picture, now: Picture) -> Iterator[tuple[str, Any]]:
    """What is another value than before; a picture shares with the one before it all that stayed."""
    if before is now:
        return
    yield "run", head_of(now)
    yield from _rows(before, now)
    for stream in dict.fromkeys((*before.passes, *now.passes)):
        work = now.passes.get(stream)
        if before.passes.get(stream) is not work:
            yield f"open/{stream.partition('/')[2]}", _view(work, now) if work else None
    for name in ("waits", "cautions", "scorecard"):
        if getattr(before, name) is not getattr(now, name):
            yield name, getattr(now, name)


def _rows(before: Picture, now: Picture) -> Iterator[tuple[str, Any]]:
    """`order` is sent when there is another phase than before: parts of a phase stand behind it."""
    if before.phases.keys() != now.phases.keys():
        yield "order", tuple(now.phases)
    for name, row in now.phases.items():
        if before.phases.get(name) is not row:
            yield f"phase/{name}", row
    if now.end is not None and before.end is not now.end:
        yield f"phase/{COMPLETION}", now.end


def head_of(picture: Picture) -> RunHead:
    states = [row.state for row in picture.targets]
    return RunHead(
        run=picture.run,
        state=picture.state,
        began=picture.began,
        last=picture.last,
        resumed=picture.resumed,
        branch=picture.branch,
        agent=picture.agent,
        model=picture.model,
        threshold=picture.threshold,
        counts={state: states.count(state) for state in dict.fromkeys(states)},
        total=len(states),
        spend=_spend(picture),
        untold=picture.used.untold if picture.used.usd is not None else 0,
        ahead=Ahead(at=picture.last, left=run_left(picture, picture.last), least=run_left(picture, FAR)),
        reason=picture.reason,
        do=picture.do,
    )


def over(picture: Picture) -> int:
    """How many of the targets are over."""
    return sum(row.state in OVER for row in picture.targets)


def _spend(picture: Picture) -> tuple[Spend, ...]:
    used, limits = picture.used, picture.limits
    minutes = run_seconds(picture, picture.last) / _MINUTE if picture.last else 0.0
    return (
        Spend(unit="usd", used=None if used.usd is None else round(used.usd, 4), cap=limits.usd_per_run),
        Spend(unit="tokens", used=used.tokens, cap=limits.tokens_per_run),
        Spend(unit="minutes", used=round(minutes, 2), cap=limits.minutes_per_run),
    )


def _view(work: OpenPass, picture: Picture) -> OpenView:
    step = work.step
    tally = picture.tallies.get(step.step) if step and step.seconds is None else None
    left, least = pass_left(work, picture, picture.last), pass_left(work, picture, FAR)
    return OpenView(
        work=msgspec.structs.replace(work, steps=work.steps[-STEPS_SHOWN:]),
        usual=tally.mean if tally else None,
        ahead=Ahead(at=picture.last, left=left, least=least),
    )
