"""Pictures on a terminal: one region that is drawn over, at most as large as the screen."""

from collections.abc import Mapping, Sequence
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.control import Control
from rich.live import Live
from rich.segment import Segment

from autopilot.domain.plain_text import harmless
from autopilot.views.frame import frame
from autopilot.views.glance import Glance
from autopilot.views.picture import Picture
from autopilot.views.screen import Screen
from autopilot.views.spans import ASCII, UNICODE, Line

NOTHING_SEEN: Mapping[str, Glance] = {}


class Terminal(Console):
    """rich's console, but a reader that went away ends the drawing and not the program."""

    def on_broken_pipe(self) -> None:
        raise OSError("nobody looks any more")


class Drawn:
    """A frame for rich: nothing in it is taken for markup, and no letter that a terminal acts upon is left."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for number, line in enumerate(self.lines):
            if number:
                yield Segment.line()
            yield from (Segment(harmless(span.text), console.get_style(span.style)) for span in line)


class Painter:
    """Draws where the cursor is and leaves the last frame there. Raises `OSError` when nobody looks any more."""

    def __init__(self, console: Console) -> None:
        self._console, self._live = console, Live(console=console, auto_refresh=False, vertical_overflow="crop")
        self._marks = UNICODE if console.encoding.lower().startswith("utf") else ASCII
        self._size = console.size
        self._shown: Sequence[Line] | None = None

    def show(self, picture: Picture, now: str, glances: Mapping[str, Glance] = NOTHING_SEEN) -> None:
        """Nothing is written when the screen shows it already."""
        size = self._console.size
        screen = Screen(width=size.width, height=size.height - 1, now=now, marks=self._marks, glances=glances)
        lines = frame(picture, screen)
        if size == self._size and lines == self._shown:
            return
        if self._shown is not None and (size.width < self._size.width or size.height < self._size.height):
            self._begin_anew()
        self._size, self._shown = size, lines
        self._live.update(Drawn(lines))
        if not self._live.is_started:
            self._live.start()
            # Should the program be killed, nobody else would bring it back.
            self._console.show_cursor(show=True)
        self._live.refresh()

    def _begin_anew(self) -> None:
        """A smaller screen has folded the old lines, so that where they began is not known: the screen is cleared."""
        self._live.transient = True
        self._live.stop()
        self._console.control(Control.home(), Control.clear())
        self._live = Live(console=self._console, auto_refresh=False, vertical_overflow="crop")

    def close(self) -> None:
        self._live.stop()


def terminal(out: TextIO) -> Terminal:
    """Colours as the terminal and NO_COLOR have them."""
    return Terminal(file=out, highlight=False, markup=False, emoji=False)
