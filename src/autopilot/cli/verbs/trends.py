"""`autopilot trends`: how the runs so far compare with each other."""

from typing import Any, Protocol

import msgspec

from autopilot.cli import console
from autopilot.views.lines import trend_lines as trends

NONE_YET = "No run has ended here yet. Trend analysis available after 2+ runs."


class Counter(Protocol):
    """The part of the program this verb needs."""

    def trends(self, folder: str) -> tuple[dict[str, Any], ...]: ...


def show(folder: str, app: Counter, *, as_json: bool) -> int:
    runs = app.trends(folder)
    if as_json:
        console.say(msgspec.json.encode({"runs": runs, "trend": trends.trend(runs)}).decode())
        return 0
    console.say("\n".join(trends.screen(runs)) if runs else NONE_YET)
    return 0
