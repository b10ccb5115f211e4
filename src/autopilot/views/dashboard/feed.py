"""The one reader behind all viewers: follows the journals in a thread and hands every change to the server's loop."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from autopilot.text.clean import harmless
from autopilot.views.dashboard.followed_project import Project
from autopilot.views.dashboard.run_view import LOG_LINES

POLL_S, CHANGES_KEPT = 0.2, 64
LISTING = ("", "")
Key = tuple[str, str]
Redact = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is new in a channel; None for a part that is gone. A `fresh` one replaces all that was there."""

    key: Key
    parts: Mapping[str, msgspec.Raw | None]
    log: list[msgspec.Raw] = field(default_factory=list)
    fresh: bool = False


class Channel:
    """What viewers of one run are shown: all of it, and the last changes for those who have the rest."""

    def __init__(self) -> None:
        self.revision = 0
        self._parts: dict[str, msgspec.Raw] = {}
        self._log: deque[msgspec.Raw] = deque(maxlen=LOG_LINES)
        self._changes: deque[tuple[int, bytes]] = deque(maxlen=CHANGES_KEPT)
        self._whole: tuple[int, bytes] = (0, b"")

    def publish(self, change: Change) -> None:
        self.revision += 1
        if change.fresh:
            self._parts.clear()
            self._log.clear()
            self._changes.clear()
        for name, part in change.parts.items():
            if part is None:
                self._parts.pop(name, None)
            else:
                self._parts[name] = part
        self._log.extend(change.log)
        if not change.fresh:
            self._changes.append((self.revision, _message(self.revision, change.parts, change.log, whole=False)))

    def since(self, revision: int) -> tuple[int, bytes]:
        """What brings a viewer from that revision to the newest, and the newest; empty when there is nothing."""
        if revision == self.revision:
            return revision, b""
        missing = [text for number, text in self._changes if number > revision]
        if revision and len(missing) == self.revision - revision:
            return self.revision, b"".join(missing)
        if self._whole[0] != self.revision:
            self._whole = self.revision, _message(self.revision, self._parts, self._log, whole=True)
        return self._whole


def _message(
    revision: int, parts: Mapping[str, msgspec.Raw | None], log: Iterable[msgspec.Raw], *, whole: bool
) -> bytes:
    """One event of the stream. JSON has no line ends of its own, so one line holds it."""
    told = {"revision": revision, "whole": whole, "parts": parts, "log": list(log)}
    return b"data: " + msgspec.json.encode(told) + b"\n\n"


class Feed:
    """
    Started once, in its own thread. All that viewers touch is changed in the server's loop only.

    A viewer of run `latest` is shown whatever run is the newest.
    """

    def __init__(self, projects: Iterable[Project], redact: Redact) -> None:
        self.projects = {project.id: project for project in projects}
        self.channels: dict[Key, Channel] = {LISTING: Channel()}
        self.newest: dict[str, str] = {}
        # Rings at the next change. Take it before a look at the channels: a change during the look then rings it too.
        self.bell = asyncio.Event()
        self._redact, self._ended = redact, threading.Event()
        self._listing: tuple[Any, ...] = ()
        self._thread = threading.Thread(target=self._follow, name="dashboard-feed", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None

    def catch_up(self) -> None:
        """Read what is there already; before the server answers anybody."""
        for change in self._changes():
            self._publish(change)

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join(timeout=5)

    def key_of(self, project: str, run: str) -> Key | None:
        """The channel of a run; None for a project or run that is not there."""
        if project not in self.projects:
            return None
        key = project, self.newest.get(project, "") if run == "latest" else run
        return key if key in self.channels or run == "latest" else None

    def _follow(self) -> None:
        while not self._ended.wait(POLL_S):
            changes = list(self._changes())
            if changes and self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._publish_all, changes)

    def _changes(self) -> Iterator[Change]:
        for project in self.projects.values():
            for run in project.advance() & project.runs.keys():
                shown = project.runs[run]
                fresh, shown.sent = not shown.sent, True
                parts, log = shown.take()
                told = {name: None if part is None else self._raw(part) for name, part in parts.items()}
                yield Change(key=(project.id, run), parts=told, log=[self._raw(line) for line in log], fresh=fresh)
        listing = tuple(project.line() for project in self.projects.values())
        if listing != self._listing:
            self._listing = listing
            newest = {project.id: project.newest for project in self.projects.values()}
            yield Change(key=LISTING, parts={"projects": self._raw(listing), "newest": self._raw(newest)})

    def _raw(self, value: Any) -> msgspec.Raw:
        text = harmless(self._redact(msgspec.json.encode(value).decode()))
        return msgspec.Raw(text.encode())

    def _publish_all(self, changes: Iterable[Change]) -> None:
        for change in changes:
            self._publish(change)
        self.bell.set()
        self.bell = asyncio.Event()

    def _publish(self, change: Change) -> None:
        if change.key == LISTING:
            self.newest = msgspec.json.decode(change.parts["newest"] or b"{}", type=dict[str, str])
        self.channels.setdefault(change.key, Channel()).publish(change)
