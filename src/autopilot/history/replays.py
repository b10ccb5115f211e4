"""What the journal of an earlier run says its calls left behind, for a replay of it."""

from collections.abc import Sequence

from autopilot.domain.events import AgentAnswered, Event, StepFinished, StepStarted
from autopilot.domain.value import Value


class LeftBehind(Value, frozen=True, kw_only=True):
    """By a step's id the commits before and after it, by a call's the planning files it wrote."""

    steps: dict[str, tuple[str, str]] = {}
    wrote: dict[str, dict[str, str]] = {}


def left_behind(events: Sequence[Event], phase: str) -> LeftBehind:
    """`phase` is `<run>/<phase>`. A step that was begun twice is taken from where it began last."""
    begun = {(event.step, event.n): event.base for event in events if isinstance(event, StepStarted)}
    ended = [event for event in events if isinstance(event, StepFinished) and (event.step, event.n) in begun]
    return LeftBehind(
        steps={f"{phase}/{event.step}/{event.n}": (begun[event.step, event.n], event.commit) for event in ended},
        wrote={event.call: event.wrote for event in events if isinstance(event, AgentAnswered) and event.wrote},
    )
