"""The ways to tell the user of things, as their own config.toml names them, and a run that is told of by them."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from autopilot.app import traces as tracing
from autopilot.domain.events import Entry
from autopilot.domain.request import Check
from autopilot.planning.config.user_config import NotifyChoices, UserChoices
from autopilot.policy.notification_rules import Notice
from autopilot.ports.agents import Listener
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.text.redact import Redactor
from autopilot.views.export.notifications import Account, Bell, Desktop, Notifier, Untold, Way

DESKTOP_PROGRAMS = ("notify-send", "osascript")
TRIAL = Notice(
    occasion="finished", title="Autopilot: a test", text="You asked `autopilot doctor` to tell you something."
)
Warn = Callable[[str], None]


def ways_of(choices: NotifyChoices) -> tuple[Way, ...]:
    desktop = next((found for name in DESKTOP_PROGRAMS if (found := shutil.which(name))), DESKTOP_PROGRAMS[0])
    return (
        *((Bell(),) if choices.bell else ()),
        *((Desktop(ChildProcesses(), os.environ, desktop),) if choices.desktop else ()),
        *(Account(url) for url in choices.urls),
    )


@contextmanager
def heard_by(listener: Listener, choices: UserChoices, root: Path, warn: Warn) -> Iterator[Listener]:
    """The listener, and all that the user wants to hear of their runs besides."""
    home, wanted = root / ".autopilot", choices.traces.otel
    with (
        told(listener, choices.notify, root, warn) as first,
        tracing.followed(first, home, warn, wanted=wanted) as heard,
    ):
        yield heard


@contextmanager
def told(listener: Listener, choices: NotifyChoices, root: Path, warn: Warn) -> Iterator[Listener]:
    """The listener, and beside it whoever the user wants to be told; without any, the listener itself."""
    ways = ways_of(choices)
    if not ways:
        yield listener
        return
    notifier = Notifier(
        ways=ways,
        project=root.name,
        note=warn,
        occasions=frozenset(choices.on),
        quiet=choices.quiet,
        redact=Redactor.of(os.environ),
    )

    def both(stream: str, entry: Entry) -> None:
        listener(stream, entry)
        notifier(stream, entry)

    try:
        yield both
    finally:
        notifier.close()


def trial(choices: NotifyChoices) -> tuple[Check, ...]:
    """Tell a test by every way there is, also in quiet hours: it was asked for."""
    ways = ways_of(choices)
    if not ways:
        fix = "name a way in your config.toml: [notify] desktop = true, bell = true or urls (docs/configuration.md)"
        return (Check(level="warn", what="notify", found="nobody would be told of anything", fix=fix),)
    return tuple(_tried(way) for way in ways)


def _tried(way: Way) -> Check:
    try:
        way.tell(TRIAL)
    except Untold as why:
        return Check(level="warn", what="notify", found=f"{way.name}: {why}", fix="see docs/configuration.md")
    return Check(level="ok", what="notify", found=f"{way.name}: a test was sent")
