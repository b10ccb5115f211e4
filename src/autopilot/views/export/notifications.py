"""Tells a person who is away what became of a run. A listener: what it cannot tell is noted, and the run goes on."""

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from autopilot.domain.errors import AutopilotError
from autopilot.domain.events import Entry
from autopilot.domain.process import Job, Processes
from autopilot.policy.notification_rules import Notice, Occasion, is_quiet, notice_of
from autopilot.text.clean import clean, harmless
from autopilot.text.distribution import how_to_install

PATIENCE_S, PROGRAM_S = 60.0, 5.0
MOST_TITLE, MOST_TEXT = 120, 600
_OSASCRIPT = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
_SESSION = ("PATH", "HOME", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "LANG")


class Untold(Exception):
    """A notice did not get through, and why; never with an address, which may hold a secret."""


class Way(Protocol):
    """One way to tell a person something. Raises `Untold`."""

    @property
    def name(self) -> str: ...

    def tell(self, notice: Notice) -> None: ...


@dataclass(frozen=True, slots=True)
class Bell:
    """The terminal's bell; `terminal` is the one the program was started from."""

    terminal: Path = Path("/dev/tty")
    name: str = "bell"

    def tell(self, notice: Notice) -> None:  # noqa: ARG002 - a bell has one word
        try:
            with self.terminal.open("w", encoding="ascii") as out:
                out.write("\a")
        except OSError as error:
            raise Untold(f"there is no terminal to ring at ({error.strerror})") from error


@dataclass(frozen=True, slots=True)
class Desktop:
    """The desktop's own notification, by the program the system has for it."""

    processes: Processes
    environment: Mapping[str, str]
    program: str
    name: str = "desktop"

    def tell(self, notice: Notice) -> None:
        env = {name: self.environment[name] for name in _SESSION if name in self.environment}
        job = Job(argv=self.command(notice), cwd="/", env=env, timeout_s=PROGRAM_S)
        try:
            ran = self.processes.run(job)
        except AutopilotError as error:
            raise Untold(error.what) from error
        if ran.exit_code != 0:
            raise Untold(f"{Path(self.program).name} ended with {ran.exit_code}")

    def command(self, notice: Notice) -> tuple[str, ...]:
        """Texts are arguments of their own, so that none of their letters is acted upon."""
        if Path(self.program).name == "osascript":
            return (self.program, "-e", _OSASCRIPT, notice.title, notice.text)
        plain = notice.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return (self.program, "--app-name=Autopilot", "--", notice.title, plain)


@dataclass(frozen=True, slots=True)
class Account:
    """An address of the user's, reached through Apprise."""

    url: str

    @property
    def name(self) -> str:
        return clean(self.url.partition(":")[0], 20)

    def tell(self, notice: Notice) -> None:
        try:
            import apprise
        except ModuleNotFoundError as error:
            raise Untold(f"the extra `notify` is not installed: {how_to_install('notify')}") from error
        kinds = {"finished": "success", "failed": "failure", "person": "warning", "limit": "info", "cap": "warning"}
        sender = apprise.Apprise()
        if not sender.add(self.url):
            raise Untold("its address is not understood")
        kind = apprise.NotifyType(kinds[notice.occasion])
        if not sender.notify(body=notice.text, title=notice.title, notify_type=kind, body_format="text"):
            raise Untold("it was not accepted")


@dataclass(slots=True)
class Notifier:
    """Hears the run, and tells in a thread of its own: no way of telling can hold the run up."""

    ways: Sequence[Way]
    project: str
    note: Callable[[str], None]
    occasions: frozenset[Occasion]
    quiet: str = ""
    redact: Callable[[str], str] = lambda text: text
    now: Callable[[], str] = lambda: time.strftime("%H:%M")
    _told: set[tuple[Occasion, str]] = field(default_factory=set)
    _waiting: "queue.SimpleQueue[Notice | None]" = field(default_factory=queue.SimpleQueue)
    _thread: threading.Thread | None = None

    def __call__(self, stream: str, entry: Entry) -> None:
        found = notice_of(stream, entry, self.project)
        if found is None or found.occasion not in self.occasions or is_quiet(self.quiet, self.now()):
            return
        # A phase that waits for a person also ends the run, and several calls may meet the same limit.
        key = (found.occasion, "" if found.occasion == "person" else found.text)
        if key in self._told:
            return
        self._told.add(key)
        self._waiting.put(self._fit(found))
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="notifier", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """What is still to be told is told, within bounds."""
        self._waiting.put(None)
        if self._thread is not None:
            self._thread.join(timeout=PATIENCE_S)
            if self._thread.is_alive():
                self.note(f"You may not have been told of everything: no answer came within {PATIENCE_S:.0f} s.")

    def _work(self) -> None:
        while (notice := self._waiting.get()) is not None:
            for way in self.ways:
                self._try(way, notice)

    def _try(self, way: Way, notice: Notice) -> None:
        try:
            way.tell(notice)
        except Untold as why:
            self.note(f"You were not told by {way.name} that {clean(notice.title, 80)!r}: {why}.")

    def _fit(self, notice: Notice) -> Notice:
        text = "\n".join(clean(line, MOST_TEXT) for line in self.redact(notice.text).splitlines())
        title = clean(self.redact(notice.title), MOST_TITLE)
        return Notice(occasion=notice.occasion, title=title, text=harmless(text)[:MOST_TEXT])
