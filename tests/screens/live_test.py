"""The live view as it is seen: frames of a recorded run at two sizes, and what is written to draw them."""

import io
import re
from collections.abc import Callable

import pytest
from rich.console import Console
from rich.segment import Segment

from autopilot.domain.events import Entry, RunResumed, RunStopped
from autopilot.domain.request import PhaseEnd, RunEnd
from autopilot.state.picture_run import picture_of
from autopilot.views.terminal.cells import Span
from autopilot.views.terminal.live import LiveView
from autopilot.views.terminal.painter import Drawn, Painter
from screens.frames import DATA, FRAMES, Moment, drawn, name_of
from support.recordings import Told, feast
from support.screens import Screen
from unit.views.samples import SPEC

RUN = feast()[0][0]
END = RunEnd(run=RUN, exit=10, reason="a phase failed", phases={"1": PhaseEnd(status="completed", score=9.4)})


def console(out: io.StringIO, width: int = 80, height: int = 24, *, no_color: bool = False) -> Console:
    return Console(
        file=out, width=width, height=height, force_terminal=True, color_system="standard", no_color=no_color
    )


def seen(out: io.StringIO, width: int = 80, height: int = 24) -> str:
    screen = Screen(width, height)
    screen.write(out.getvalue().replace("\n", "\r\n"))
    return screen.text


@pytest.mark.parametrize(("moment", "width", "height"), FRAMES, ids=[name_of(*frame) for frame in FRAMES])
def test_a_moment_of_the_run_looks_as_it_did(moment: Moment, width: int, height: int) -> None:
    """Looked at by eye once; `python tests/screens/frames.py` writes them anew."""
    shown = drawn(moment, width, height)

    assert shown == (DATA / name_of(moment, width, height)).read_text(encoding="utf-8")
    assert len(shown.splitlines()) < height
    assert max(map(len, shown.splitlines())) <= width


def test_a_frame_is_drawn_over_the_one_before() -> None:
    out = io.StringIO()
    painter = Painter(console(out))
    for entries in (2, 63, 157, 207):
        picture = picture_of(feast()[:entries])
        painter.show(picture, picture.last)
    painter.close()

    assert seen(out) == drawn(Moment("end", 207), 80, 24)


def test_nothing_is_written_when_nothing_changed() -> None:
    out, picture = io.StringIO(), picture_of(feast()[:63])
    painter = Painter(console(out))
    painter.show(picture, picture.last)
    before = len(out.getvalue())
    painter.show(picture, picture.last)

    assert len(out.getvalue()) == before


@pytest.mark.parametrize(("width", "height"), [(60, 20), (200, 60), (40, 10), (20, 4)])
def test_a_window_of_another_size_is_filled_anew(width: int, height: int) -> None:
    out, picture = io.StringIO(), picture_of(feast()[:157])
    screen = console(out, 120, 40)
    painter = Painter(screen)
    painter.show(picture, picture.last)
    screen.width, screen.height = width, height
    painter.show(picture, picture.last)

    shown = seen(out, width, height).splitlines()
    assert shown[0].startswith("Autopilot run-2026-")
    assert len(shown) < height


@pytest.mark.parametrize("no_color", [False, True], ids=["a terminal", "NO_COLOR"])
def test_colours_are_left_out_where_they_are_not_wanted(no_color: bool) -> None:
    out, picture = io.StringIO(), picture_of(feast()[:157])
    Painter(console(out, no_color=no_color)).show(picture, picture.last)

    assert bool(re.search(r"\x1b\[[\d;]*3\dm", out.getvalue())) is not no_color


def test_a_terminal_without_the_letters_gets_plain_ones() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii", errors="strict", write_through=True)
    picture = picture_of(feast()[:157])
    Painter(Console(file=out, width=80, height=24, force_terminal=True)).show(picture, picture.last)

    assert b"> 3 Write the menu" in re.sub(rb"\x1b\[[\d;]*m", b"", raw.getvalue())


def told(view: LiveView, entries: tuple[Told, ...]) -> None:
    for stream, entry in entries:
        view(stream, entry)


def test_the_view_ends_with_the_last_frame_and_the_announcement() -> None:
    out = io.StringIO()
    view = LiveView(out)
    told(view, feast())
    view.announce(END)

    text = out.getvalue()
    assert (view.broken, view.narrator.run) == (False, RUN)
    assert text.index("3/4 phases completed, 1 failed") < text.index("Autopilot Failed")


def test_a_run_that_stops_gives_the_terminal_back_and_goes_on_below() -> None:
    """A person may be asked whether it goes on."""
    out = io.StringIO()
    view = LiveView(out)
    told(view, feast()[:63])
    view(RUN, Entry(number=90, at=feast()[62][1].at, event=RunStopped(exit_code=11, reason="a look", checkpoint=1)))
    stopped = view._thread is None
    view.say("Continue?")
    view(RUN, Entry(number=91, at=feast()[62][1].at, event=RunResumed(pid=1, spec=SPEC)))
    view.close()

    parts = out.getvalue().partition("Continue?\n")
    assert stopped
    assert "paused 4m" in parts[0]
    assert " running " in parts[2]


def test_a_resumed_run_is_shown_with_what_happened_before() -> None:
    out, asked = io.StringIO(), list[str]()

    def history(run: str) -> tuple[Told, ...]:
        asked.append(run)
        return feast()[:120]

    view = LiveView(out, history)
    told(view, feast()[118:140])
    view.close()

    assert asked == [RUN]
    assert view._picture == picture_of(feast()[:140])


class Torn(io.StringIO):
    def write(self, _: str) -> int:
        raise OSError("the terminal is gone")


def closed() -> io.StringIO:
    out = io.StringIO()
    out.close()
    return out


@pytest.mark.parametrize("out", [Torn, closed], ids=["gone", "closed"])
def test_a_terminal_that_goes_away_does_not_stop_the_run(out: Callable[[], io.StringIO]) -> None:
    view = LiveView(out())
    view._painter = Painter(Console(file=view.out, force_terminal=True, width=80, height=24))
    view._looking._painter = view._painter
    told(view, feast())
    view.announce(END)

    assert view.broken


def test_a_frame_is_made_of_text_alone() -> None:
    """What looks like markup of rich's is shown as it is."""
    shown = list(console(io.StringIO()).render(Drawn([[Span("[red]a[/red] :smile:", "bold")]])))

    assert Segment.get_line_length(shown) == len("[red]a[/red] :smile:")
