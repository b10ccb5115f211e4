"""Which view a run gets: the live picture on a terminal, plain lines anywhere else."""

import os
from pathlib import Path
from typing import Protocol, TextIO

from autopilot.cli.verbs.status import home_of
from autopilot.domain.events import Entry
from autopilot.domain.request import RunEnd
from autopilot.views.lines.plain import PlainView
from autopilot.views.lines.run_lines import Narrator

_NO_PICTURE = frozenset({"", "dumb", "unknown"})


class View(Protocol):
    """A listener that can be told the end, and closed when there is none."""

    narrator: Narrator
    broken: bool

    def __call__(self, stream: str, entry: Entry) -> None: ...

    def say(self, text: str) -> None: ...

    def announce(self, end: RunEnd) -> None: ...

    def close(self) -> None: ...


def has_picture(out: TextIO) -> bool:
    """Whether lines written there can be drawn over."""
    return out.isatty() and os.environ.get("TERM", "") not in _NO_PICTURE


def view_of(out: TextIO, folder: str, *, plain: bool) -> View:
    """Of a run in the folder. A run that is resumed is shown with all that happened before."""
    if plain or not has_picture(out):
        return PlainView(out)
    from autopilot.views.terminal.follow import history
    from autopilot.views.terminal.live import LiveView

    home = Path(home_of(folder))
    return LiveView(out, lambda run: history(home, run))
