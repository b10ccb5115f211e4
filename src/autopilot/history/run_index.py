"""What a run's own entries tell, taken in one after the other, so that an entry more costs the same in a long run."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from autopilot.domain.attempt import Brief
from autopilot.domain.events import (
    Entry,
    Event,
    MergeRefused,
    PhaseFinished,
    PhaseLanded,
    PhaseMerged,
    PhaseSkipped,
    PhaseStarted,
    RunFinished,
    RunResumed,
    VerdictGiven,
    WaitEnded,
    WaitStarted,
)
from autopilot.domain.people import ruling
from autopilot.domain.verdict import takes_a_word
from autopilot.text.times import elapsed

Stretch = tuple[tuple[tuple[str, int], ...], float]
"""Passes by phase and number that were worked on, and the seconds it took."""


@dataclass(frozen=True, slots=True)
class Times:
    """
    The run's time: `over` is what is past, piece by piece, `begun` and `seconds` the piece that goes on.

    A piece with no pass open, or from where one is to where none is. It is measured by the run's own entries; what was
    before a crash and left none there is known to its passes. `at_work` are the phases with an open pass, `waiting`
    those that wait for an agent, by the call; while all that is open waits, no time passes.
    """

    over: tuple[Stretch, ...] = ()
    begun: tuple[tuple[str, int], ...] = ()
    seconds: float = 0.0
    last: str = ""
    at_work: frozenset[str] = frozenset()
    waiting: frozenset[tuple[str, str]] = frozenset()

    @property
    def lies_still(self) -> bool:
        return bool(self.waiting) and self.at_work <= {phase for _, phase in self.waiting}

    def after(self, entries: Iterable[Entry]) -> "Times":
        times = self
        for entry in entries:
            times = times._with(entry)
        return times

    def _with(self, entry: Entry) -> "Times":
        seconds, over, begun, at_work = self.seconds, self.over, self.begun, self.at_work
        if self.last and not isinstance(entry.event, RunResumed) and not self.lies_still:
            seconds += elapsed(self.last, entry.at)
        match entry.event:
            case PhaseStarted(brief=brief):
                at_work |= {brief.phase.id}
            case PhaseFinished(outcome=outcome):
                at_work -= {outcome.phase}
        if bool(self.at_work) != bool(at_work):
            over, begun, seconds = (*over, (begun, seconds)), (), 0.0
        if isinstance(entry.event, PhaseStarted):
            begun = (*begun, (entry.event.brief.phase.id, entry.event.brief.number))
        # What comes after the end, such as a late landing, adds no time to the run.
        last = "" if isinstance(entry.event, RunFinished) else entry.at
        return Times(over, begun, seconds, last, at_work, _waiting(self.waiting, entry.event))


def _waiting(before: frozenset[tuple[str, str]], event: Event) -> frozenset[tuple[str, str]]:
    """A pass that is over, or begun anew, waits for nothing."""
    match event:
        case WaitStarted(call=call, phase=phase):
            return before | {(call, phase)}
        case WaitEnded(call=call):
            return frozenset(wait for wait in before if wait[0] != call)
        case PhaseStarted() | PhaseFinished():
            over = event.brief.phase.id if isinstance(event, PhaseStarted) else event.outcome.phase
            return frozenset(wait for wait in before if wait[1] != over)
    return before


@dataclass(frozen=True, slots=True)
class Chronicle:
    """
    `places` are the numbers of the entries by what kind of event they are, `told` what happened to each phase, `since`
    the same since it got its last chance, and `standing` the passes among that, with what a person said of them.

    `begun` has the passes of each phase, `at_work` those that are open with the time they were started, both in the
    order of their start. `again` are the places of passes that followed an earlier one of their phase unasked.
    """

    length: int = 0
    places: dict[type, tuple[int, ...]] = field(default_factory=dict)
    told: dict[str, tuple[Event, ...]] = field(default_factory=dict)
    since: dict[str, tuple[Event, ...]] = field(default_factory=dict)
    standing: dict[str, tuple[PhaseFinished, ...]] = field(default_factory=dict)
    begun: dict[str, tuple[Brief, ...]] = field(default_factory=dict)
    at_work: dict[str, tuple[Brief, str]] = field(default_factory=dict)
    again: tuple[int, ...] = ()

    def after(self, entries: Iterable[Entry]) -> "Chronicle":
        """With more of the run. What is known already is taken over and stays as it was."""
        places, told, since, standing = dict(self.places), dict(self.told), dict(self.since), dict(self.standing)
        begun, at_work = dict(self.begun), dict(self.at_work)
        again, number = self.again, self.length
        for number, entry in enumerate(entries, start=self.length + 1):
            event = entry.event
            places[type(event)] = (*places.get(type(event), ()), number - 1)
            for phase in concerned(event):
                told[phase] = (*told.get(phase, ()), event)
                since[phase] = () if begins_anew(event, phase) else (*since.get(phase, ()), event)
                standing[phase] = judged(since[phase])
            if isinstance(event, PhaseStarted):
                brief = event.brief
                begun[brief.phase.id] = (*begun.get(brief.phase.id, ()), brief)
                at_work[brief.phase.id] = (brief, entry.at)
                again = (*again, number - 1) if _is_again(brief) else again
            elif isinstance(event, PhaseFinished):
                at_work.pop(event.outcome.phase, None)
        return Chronicle(number, places, told, since, standing, begun, at_work, again)


def concerned(event: Event) -> tuple[str, ...]:
    """The phases an event of the run is about. From a second chance on earlier passes no longer count."""
    match event:
        case RunResumed(retry=retry):
            return retry
        case PhaseFinished(outcome=outcome):
            parts = outcome.split_details.recommended_sub_phases if outcome.split_details else ()
            return (outcome.phase, *(part.sub_phase_id for part in parts if outcome.status == "split_request"))
        case PhaseSkipped() | PhaseLanded() | PhaseMerged() | MergeRefused() | VerdictGiven():
            return (event.phase,)
    return ()


def _is_again(brief: Brief) -> bool:
    """Those a flag asked for have a bound of their own, and are no retries."""
    return brief.number > 0 and brief.mode not in {"quality", "gaps"}


def judged(events: Iterable[Event]) -> tuple[PhaseFinished, ...]:
    """The ends of all passes, each with what a person made of it, if it waited for one."""
    ends: list[PhaseFinished] = []
    for event in events:
        if isinstance(event, PhaseFinished):
            ends.append(event)
        elif isinstance(event, VerdictGiven):
            last = next((n for n, end in reversed(tuple(enumerate(ends))) if end.outcome.phase == event.phase), None)
            if last is not None:
                ends[last] = ruled(ends[last], event)
    return tuple(ends)


def ruled(finished: PhaseFinished, word: VerdictGiven) -> PhaseFinished:
    """The end of a pass with a person's word on it; one that did not wait for any stays as it is."""
    if not takes_a_word(finished.verdict):
        return finished
    return msgspec.structs.replace(finished, verdict=ruling(word.verdict, word.issues))


def begins_anew(event: Event, phase: str) -> bool:
    """Whether from here on earlier passes of the phase no longer count: another chance, or a split it is part of."""
    if isinstance(event, PhaseFinished):
        return event.outcome.phase != phase
    return isinstance(event, RunResumed | MergeRefused)
