"""`autopilot progress`: the phases of the roadmap and the command to type next."""

from typing import Protocol

import msgspec

from autopilot.cli import console
from autopilot.views.lines import overview
from autopilot.views.lines.overview import Overview


class Surveyor(Protocol):
    """The part of the program this verb needs."""

    def survey(self, folder: str) -> Overview: ...


def show(folder: str, app: Surveyor, *, as_json: bool) -> int:
    seen = app.survey(folder)
    console.say(msgspec.json.encode(seen).decode() if as_json else "\n".join(overview.lines(seen)))
    return 0
