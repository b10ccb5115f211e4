"""The times in which a run waited for an agent, as its entries tell them. Pure."""

from collections.abc import Iterable

from autopilot.domain.events import Entry, PhaseFinished, PhaseStarted, WaitEnded, WaitStarted
from autopilot.domain.value import Value
from autopilot.text.times import elapsed


class Waited(Value, frozen=True, kw_only=True):
    """From `begin` to `end`, which is empty while it goes on; `how` it ended."""

    event: WaitStarted
    begin: str
    end: str = ""
    how: str = ""

    @property
    def phase(self) -> str:
        return self.event.phase

    @property
    def id(self) -> str:
        """Tells this wait from all others, earlier ones of the same call included."""
        return f"{self.event.call}@{self.begin}"


def waits_of(entries: Iterable[Entry]) -> tuple[Waited, ...]:
    """In the order of their beginning. A pass that is over, or begun anew, waits for nothing."""
    found: list[Waited] = []
    for entry in entries:
        match entry.event:
            case WaitStarted() as event:
                found.append(Waited(event=event, begin=entry.at))
            case WaitEnded(call=call, how=how):
                found = [_over(w, entry.at, how) if w.event.call == call else w for w in found]
            case PhaseStarted(brief=brief):
                found = [_over(w, entry.at, "") if w.phase == brief.phase.id else w for w in found]
            case PhaseFinished(outcome=outcome):
                found = [_over(w, entry.at, "") if w.phase == outcome.phase else w for w in found]
    return tuple(found)


def _over(wait: Waited, at: str, how: str) -> Waited:
    return wait if wait.end else Waited(event=wait.event, begin=wait.begin, end=at, how=how)


def overlap(waits: Iterable[Waited], begin: str, end: str) -> float:
    """Seconds between the two moments in which one of the waits, which do not overlap each other, went on."""
    return sum(elapsed(max(wait.begin, begin), min(wait.end or end, end)) for wait in waits)
