"""A wait for an agent in words: what is waited for, until when, and how it ended. Pure."""

from collections.abc import Iterator

from autopilot.domain.completion import COMPLETION
from autopilot.domain.events import Entry, WaitEnded, WaitStarted
from autopilot.policy.failover import in_form
from autopilot.text.duration import short
from autopilot.text.text import clean
from autopilot.text.times import elapsed

# A call is named by run, phase, step and number.
_SLASHES = 3
_ENDS = {
    "due": "{} is asked again",
    "retried": "asked to go on at once: {} is asked again",
    "failed_over": "{} is asked in its place",
}


def wait_lines(entry: Entry) -> Iterator[str]:
    """Nothing for an entry that is about something else."""
    match entry.event:
        case WaitStarted() as event:
            until = in_form(event.until)
            left = (
                f" at {until[:19].replace('T', ' ')} UTC, in {short(elapsed(entry.at, until))}" if until else " later"
            )
            yield f"{_place(event.call)} Waiting: {told(event)}. The step {clean(event.step, 40)} goes on{left}."
            if event.outcome == "usage_limited":
                yield f"{_place(event.call)} To ask at once: autopilot retry"
        case WaitEnded(call=call, how=how, backend=backend):
            yield f"{_place(call)} Going on: {_ENDS[how].format(name_of(backend))}."


def told(event: WaitStarted) -> str:
    """What is waited for."""
    name = name_of(event.backend)
    if event.outcome != "usage_limited":
        return f"trouble at the service of {name} ({event.outcome.replace('_', ' ')}, {event.attempt} in a row)"
    return f"usage limit of {name}" if event.told else f"usage limit of {name}, which did not say until when"


def name_of(backend: str) -> str:
    """Without the folders of the files it names."""
    kind, colon, rest = clean(backend, 400).partition(":")
    return clean(f"{kind}{colon}{' '.join(word.rpartition('/')[2] or word for word in rest.split())}", 40)


def _place(call: str) -> str:
    phase = call.split("/")[-3] if call.count("/") >= _SLASHES else "?"
    return "[End of the run]" if phase == COMPLETION else f"[Phase {clean(phase, 40)}]"
