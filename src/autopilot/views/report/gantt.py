"""When what was worked on: phases, their steps, and the times in which nobody worked. Pure."""

from collections.abc import Callable, Iterable, Iterator

from autopilot.domain.events import Entry, PhaseFinished, RunResumed, RunStopped, StepFinished, StepStarted
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.history.record import PhaseRecord
from autopilot.state.wait_words import told as words
from autopilot.text.times import seconds_of
from autopilot.views.report.source import Told

INTERRUPTED, WAITING, LIMITED = "interrupted", "waits for a person", "waits for an agent"
_ENDS: dict[type[Verdict], str] = {
    Advance: "went on", Retry: "sent back", AskHuman: "asked a person", Stop: "gave up",
}  # fmt: skip


KEY = (*_ENDS.values(), INTERRUPTED, WAITING, LIMITED)
"""How a bar can have come out, in the order in which they are explained."""


class Bar(Value, frozen=True, kw_only=True):
    """A step from `begin` to `end`, in seconds from the run's first entry; `how` it came out."""

    step: str
    begin: float
    end: float
    how: str
    task: str = ""
    because: str = ""
    number: int = 0


class Lane(Value, frozen=True, kw_only=True):
    """One phase: its steps and the times it waited for a person or an agent."""

    phase: str
    bars: tuple[Bar, ...] = ()
    waits: tuple[Bar, ...] = ()


class Pause(Value, frozen=True, kw_only=True):
    """Nobody worked on the run."""

    begin: float
    end: float
    why: str


class Timeline(Value, frozen=True, kw_only=True):
    seconds: float
    lanes: tuple[Lane, ...] = ()
    pauses: tuple[Pause, ...] = ()


def timeline(told: Told) -> Timeline:
    zero = seconds_of(told.run.entries[0].at)
    last = max((record.entries[-1].at for record in told.records if record.entries), default="")
    end = max(seconds_of(max(told.run.entries[-1].at, last)) - zero, 1.0)
    groups = {**told.passes, **({told.ending.phase.id: (told.ending,)} if told.ending else {})}
    lanes = (
        Lane(
            phase=phase,
            bars=tuple(_all_bars(records, zero, told.run.resumes)),
            waits=(*_waits(told, phase, zero, end), *_limits(told, phase, zero, end)),
        )
        for phase, records in groups.items()
    )
    begun = (lane for lane in lanes if lane.bars or lane.waits)
    ordered = sorted(begun, key=lambda lane: min(bar.begin for bar in (*lane.bars, *lane.waits)))
    return Timeline(seconds=end, lanes=tuple(ordered), pauses=tuple(_pauses(told, zero)))


def _all_bars(records: Iterable[PhaseRecord], zero: float, resumes: tuple[str, ...]) -> Iterator[Bar]:
    for record in records:
        yield from bars_of(record, zero, resumes)


def bars_of(record: PhaseRecord, zero: float, resumes: tuple[str, ...] = ()) -> Iterator[Bar]:
    """A step that was cut off ends with the last thing known of it."""
    opened: tuple[float, StepStarted] | None = None
    last = ""
    for entry in record.entries:
        at, event = entry.at, entry.event
        if opened and (isinstance(event, StepStarted) or any(last < back <= at for back in resumes)):
            yield _cut(opened, seconds_of(last) - zero, record.brief.number)
            opened = None
        if isinstance(event, StepStarted):
            opened = max(seconds_of(at) - zero, 0.0), event
        elif isinstance(event, StepFinished):
            end = max(seconds_of(at) - zero, 0.0)
            yield _bar(opened[0] if opened else max(end - event.seconds, 0.0), end, opened, event, record)
            opened = None
        last = at
    if opened:
        yield _cut(opened, seconds_of(last) - zero, record.brief.number)


def _bar(
    begin: float, end: float, opened: tuple[float, StepStarted] | None, done: StepFinished, record: PhaseRecord
) -> Bar:
    return Bar(
        step=done.step,
        begin=begin,
        end=end,
        how=_ENDS[type(done.verdict)],
        task=(opened[1].task if opened else None) or "",
        because=why(done.verdict),
        number=record.brief.number,
    )


def _cut(opened: tuple[float, StepStarted], last: float, number: int) -> Bar:
    begin, step = opened
    return Bar(step=step.step, begin=begin, end=max(last, begin), how=INTERRUPTED, task=step.task or "", number=number)


def why(verdict: Verdict) -> str:
    return verdict.question if isinstance(verdict, AskHuman) else verdict.because


def how(verdict: Verdict) -> str:
    return _ENDS[type(verdict)]


def _waits(told: Told, phase: str, zero: float, end: float) -> Iterator[Bar]:
    """From the question to the next turn of the phase, or to the end of what is known."""
    history = told.histories.get(phase)
    turns = history.turns if history else ()
    for place, (at, turn) in enumerate(turns):
        if isinstance(turn, PhaseFinished) and isinstance(turn.verdict, AskHuman):
            until = seconds_of(turns[place + 1][0]) - zero if place + 1 < len(turns) else end
            begin = seconds_of(at) - zero
            yield Bar(step=WAITING, begin=begin, end=max(until, begin), how=WAITING, because=turn.verdict.question)


def _limits(told: Told, phase: str, zero: float, end: float) -> Iterator[Bar]:
    """While nobody could be asked; one that goes on ends with what is known."""
    for wait in told.run.waits:
        if wait.phase == phase:
            begin = seconds_of(wait.begin) - zero
            until = seconds_of(wait.end) - zero if wait.end else end
            yield Bar(step=LIMITED, begin=begin, end=max(until, begin), how=LIMITED, because=words(wait.event))


def _pauses(told: Told, zero: float) -> Iterator[Pause]:
    """From the last that happened to the moment the run was taken up again, and while its only pass waited."""
    ends = sorted(entry.at for record in told.records for entry in record.entries[-1:])
    for place, entry in enumerate(told.run.entries):
        if not isinstance(entry.event, RunResumed) or place == 0:
            continue
        before = told.run.entries[place - 1]
        reason = before.event.reason if isinstance(before.event, RunStopped) else INTERRUPTED
        begin = max(before.at, _last_before(told, entry, ends))
        yield Pause(begin=seconds_of(begin) - zero, end=seconds_of(entry.at) - zero, why=reason)
    for wait in told.run.waits if told.run.start.settings.modes.jobs == 1 else ():
        back = max((at for at in told.run.resumes if wait.begin < at <= wait.end), default=wait.begin)
        if wait.end > back:
            yield Pause(begin=seconds_of(back) - zero, end=seconds_of(wait.end) - zero, why=words(wait.event))


def _last_before(told: Told, resumed: Entry, ends: list[str]) -> str:
    """The newest entry of any pass from before; a pass that went on afterwards has to be looked into."""
    whole = max((at for at in ends if at < resumed.at), default="")
    open_ones = (record for record in told.records if record.entries and record.entries[0].at < resumed.at)
    parts = (_newest(record, resumed.at) for record in open_ones if record.entries[-1].at >= resumed.at)
    return max((whole, *parts))


def _newest(record: PhaseRecord, before: str) -> str:
    return next((entry.at for entry in reversed(record.entries) if entry.at < before), "")


def scaled(shown: Timeline, width: float, narrow: float = 18.0) -> Callable[[float], float]:
    """From seconds to a width: a long pause takes no more room than `narrow`, so that work stays to be seen."""
    long = squeezed(shown, width, narrow)
    lost = sum(pause.end - pause.begin for pause in long)
    room = max(width - narrow * len(long), width / 4)
    each = (width - room) / len(long) if long else 0.0
    worked = max(shown.seconds - lost, 1e-9)

    def place(second: float) -> float:
        past = sum(min(max(second - p.begin, 0.0), p.end - p.begin) for p in long)
        within = sum(min(max((second - p.begin) / (p.end - p.begin), 0.0), 1.0) for p in long)
        return round((second - past) / worked * room + within * each, 2)

    return place


def squeezed(shown: Timeline, width: float, narrow: float = 18.0) -> tuple[Pause, ...]:
    """The pauses that would take more room than that."""
    return tuple(p for p in shown.pauses if (p.end - p.begin) / shown.seconds * width > narrow)
