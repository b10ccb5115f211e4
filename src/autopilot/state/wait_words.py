"""Puts waits, notes and interruptions into words: what is waited for, until when, and how it ended. Pure."""

from collections.abc import Iterator

from autopilot.domain.events import AgentAnswered, Entry, Noted, WaitEnded, WaitStarted
from autopilot.domain.results import COMPLETION
from autopilot.policy.deferral import ADJUSTED, RESOLVED, TOO_MANY
from autopilot.policy.failover import in_form
from autopilot.text.clean import clean
from autopilot.text.times import elapsed, short

_SPOKEN = frozenset({ADJUSTED, RESOLVED, TOO_MANY})
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


def interrupted_line(event: AgentAnswered) -> str:
    """A call that was cut off from outside is no failed try of the agent's."""
    said = event.text.strip().splitlines()
    return f"The {event.role} agent was interrupted{f' ({clean(said[-1])})' if said else ''}. Asking it again."


def note_line(event: Noted) -> str:
    """What a run noted besides its steps, in one line."""
    if event.event == "cross_contamination_warning":
        file, pattern = (clean(str(event.details.get(key, "?")), 80) for key in ("file", "pattern"))
        return (
            f"Cross-contamination detected in {file}: pattern '{pattern}' found. Agent independence may be compromised."
        )
    if event.event in _SPOKEN and event.details.get("message"):
        return clean(str(event.details["message"]), 300)
    place = f"[Phase {event.phase}] " if event.phase else ""
    told = event.details.get("message") or event.details.get("reason")
    name = clean(event.event, 60).replace("_", " ").capitalize()
    return f"{place}{name}: {clean(str(told))}" if told else f"{place}{name}."
