"""What a frame is drawn for: the size of the screen, the time, and what the agents' processes do."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from autopilot.views.terminal.agent_activity import Glance
from autopilot.views.terminal.cells import UNICODE, Marks


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """`glances` are by call; a call without one is shown without what it does."""

    width: int
    height: int
    now: str
    marks: Marks = UNICODE
    glances: Mapping[str, Glance] = field(default_factory=dict)
