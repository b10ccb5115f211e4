"""Pictures on a terminal: one region that is drawn over, at most as large as the screen."""

from collections.abc import Mapping, Sequence
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.control import Control
from rich.live import Live
from rich.segment import Segment

from autopilot.state.picture import Picture
from autopilot.text.clean import harmless
from autopilot.views.terminal.agent_activity import Glance
from autopilot.views.terminal.cells import ASCII, UNICODE, Line
from autopilot.views.terminal.frame import frame
from autopilot.views.terminal.screen import Screen

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
        self._console = console
        self._live: Live | None = None
        self._marks = UNICODE if console.encoding.lower().startswith("utf") else ASCII
        self._size = console.size
        self._shown: Sequence[Line] = ()

    def show(self, picture: Picture, now: str, glances: Mapping[str, Glance] = NOTHING_SEEN) -> None:
        """Nothing is written when the screen shows it already. After a `close` it is drawn anew below."""
        size = self._console.size
        screen = Screen(width=size.width, height=size.height - 1, now=now, marks=self._marks, glances=glances)
        lines = frame(picture, screen)
        if self._live is not None and size == self._size and lines == self._shown:
            return
        if size.width < self._size.width or size.height < self._size.height:
            self._clear()
        self._size, self._shown = size, lines
        if self._live is None:
            self._live = self._begun()
        self._live.update(Drawn(lines), refresh=True)

    def _begun(self) -> Live:
        live = Live(console=self._console, auto_refresh=False, vertical_overflow="crop")
        live.start()
        # Should the program be killed, nobody else would bring it back.
        self._console.show_cursor(show=True)
        return live

    def _clear(self) -> None:
        """A smaller screen has folded the old lines, so that where they began is not known: the screen is cleared."""
        if self._live is not None:
            self._live.transient = True
            self.close()
            self._console.control(Control.home(), Control.clear())

    def close(self) -> None:
        """The last frame stays, and the terminal is everybody's again."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()


def terminal(out: TextIO) -> Terminal:
    """Colours as the terminal and NO_COLOR have them."""
    return Terminal(file=out, highlight=False, markup=False, emoji=False)
