"""The frames that are kept as text: which moments of the recorded run, and how large. Run it to write them anew."""

import io
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from autopilot.domain.events import AgentStarted
from autopilot.state.picture_run import picture_of
from autopilot.views.terminal.agent_activity import Glance
from autopilot.views.terminal.frame import frame
from autopilot.views.terminal.painter import Drawn
from autopilot.views.terminal.screen import Screen
from support.recordings import feast

DATA = Path(__file__).parent / "data"
SIZES = ((80, 24), (200, 60))


@dataclass(frozen=True, slots=True)
class Moment:
    """`entries` is how many have been told, `later` how many seconds ago the last of them was."""

    name: str
    entries: int
    later: int = 0


MOMENTS = (Moment("start", 2), Moment("mending", 63, 21), Moment("second-half", 157, 12), Moment("end", 207))
FRAMES = tuple((moment, *size) for moment in MOMENTS for size in SIZES)


def name_of(moment: Moment, width: int, height: int) -> str:
    return f"{moment.name}-{width}x{height}.txt"


def drawn(moment: Moment, width: int, height: int) -> str:
    """What rich makes of the frame on a screen of that size, without colours."""
    told = feast()[: moment.entries]
    picture = picture_of(told)
    calls = [entry.event.call for _, entry in told if isinstance(entry.event, AgentStarted)]
    glances = {call: Glance(doing="pytest -q tests/test_menu.py", idle=4.0) for call in calls}
    screen = Screen(width=width, height=height - 1, now=later(picture.last, moment.later), glances=glances)
    console = Console(file=io.StringIO(), width=width, height=height, color_system=None, record=True)
    console.print(Drawn(frame(picture, screen)))
    return "".join(f"{line.rstrip()}\n" for line in console.export_text().splitlines())


def later(at: str, seconds: int) -> str:
    minute, second = int(at[14:16]), int(at[17:19]) + seconds
    return f"{at[:14]}{minute + second // 60:02}:{second % 60:02}{at[19:]}"


def main() -> None:
    for moment, width, height in FRAMES:
        (DATA / name_of(moment, width, height)).write_text(drawn(moment, width, height), encoding="utf-8")


if __name__ == "__main__":
    main()
