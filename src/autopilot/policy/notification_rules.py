"""What a person who is away is told of a run, and when they do not want to be told. Pure."""

from typing import Literal

from autopilot.domain.events import Entry, Event, PhaseFinished, RunFinished, RunStopped, WaitStarted
from autopilot.domain.value import Value
from autopilot.domain.verdict import AskHuman

Occasion = Literal["finished", "failed", "person", "limit", "cap"]
QUIET_HOURS = r"^(([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9])?$"
WAITS, CAP, LIMIT, INTERRUPTED = 11, 20, 22, 130
_PASSED = frozenset({0, 12})


class Notice(Value, frozen=True, kw_only=True):
    occasion: Occasion
    title: str
    text: str


def notice_of(stream: str, entry: Entry, project: str) -> Notice | None:
    """What an entry is worth telling; None for almost all of them."""
    event, run = entry.event, stream.partition("/")[0]
    match event:
        case PhaseFinished(verdict=AskHuman(question=question), outcome=outcome):
            title = f"{project}: phase {outcome.phase} waits for you"
            do = f"Give your verdict: autopilot verdict {outcome.phase} pass, fail or issues"
            return Notice(
                occasion="person", title=title, text=f"{question}\nGive your verdict: autopilot status ({run})"
            )
        case WaitStarted(outcome="usage_limited", backend=backend, until=until, phase=phase):
            told = f"The usage window of {backend} is used up: phase {phase} goes on at {until}."
            text = f"{told}\nTo ask at once: autopilot retry ({run})"
            return Notice(occasion="limit", title=f"{project}: waiting for a limit", text=text)
        case RunFinished(exit_code=code, reason=reason, do=do) | RunStopped(exit_code=code, reason=reason, do=do):
            return _ended(event, code, project, f"{reason}\n{do or _next(code)} ({run})")
    return None


def _ended(event: Event, code: int, project: str, text: str) -> Notice | None:
    if code == INTERRUPTED:
        return None  # Whoever stopped it knows.
    occasions: dict[int, tuple[Occasion, str]] = {
        WAITS: ("person", "a phase waits for you"),
        CAP: ("cap", "a cap stopped the run"),
        LIMIT: ("limit", "stopped at a usage limit"),
    }
    passed = isinstance(event, RunFinished) and code in _PASSED
    finished = "the run is finished" if code == 0 else "the run is finished; look at its end"
    occasion, words = occasions.get(code, ("finished", finished) if passed else ("failed", "the run failed"))
    return Notice(occasion=occasion, title=f"{project}: {words}", text=text)


def _next(code: int) -> str:
    return "See it: autopilot status" if code in _PASSED else "Go on with: autopilot resume"


def is_quiet(hours: str, now: str) -> bool:
    """Whether the local time `now` (HH:MM) lies in the hours; they may go over midnight. Empty hours are never."""
    begin, _, end = hours.partition("-")
    if not hours or begin == end:
        return False
    return begin <= now < end if begin < end else now >= begin or now < end
