"""Keep the machine from going to sleep while a run goes on; where that cannot be had, say so and go on."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

NOTE = "The machine may go to sleep while the run goes on: {why}. Nothing is lost by it; `autopilot resume` goes on."
_DESKTOPS = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_CURRENT_DESKTOP")


@contextmanager
def kept_awake(environment: Mapping[str, str], note: Callable[[str], None], *, wanted: bool) -> Iterator[None]:
    """The screen may go dark. A machine without a desktop does not doze off by itself, and nothing is said there."""
    if not wanted:
        yield
        return
    tell = note if sys.platform != "linux" or any(environment.get(name) for name in _DESKTOPS) else _keep_quiet
    try:
        from wakepy import keep
    except ImportError:
        tell(NOTE.format(why="the package wakepy is not installed"))
        yield
        return
    with keep.running(on_fail="pass") as mode:
        if not mode.active:
            tell(NOTE.format(why="this system offers no way to prevent it"))
        yield


def _keep_quiet(text: str) -> None:
    """Where a note would be noise."""
