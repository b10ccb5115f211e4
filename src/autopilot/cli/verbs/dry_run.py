"""`autopilot run --dry-run`: what would happen and what it may cost, without doing any of it."""

from typing import Protocol

import msgspec

from autopilot.cli import console
from autopilot.domain.forecast import Forecast
from autopilot.domain.request import RunRequest
from autopilot.views.lines import forecast_lines as view


class Seer(Protocol):
    """The part of the program a dry run needs."""

    def foresee(self, request: RunRequest) -> Forecast: ...


def show(request: RunRequest, app: Seer, *, as_json: bool) -> int:
    """Prints the forecast; a run that would not start is told so, and is no error of the forecast."""
    seen = app.foresee(request)
    console.say(msgspec.json.encode(seen).decode() if as_json else "\n".join(view.lines(seen)))
    return 0
