"""Keeps the account of one call from what its program tells, event by event."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from autopilot.agents.stream_events import (
    Began,
    Failed,
    Finished,
    Noticed,
    Reopened,
    Returned,
    Said,
    Spent,
    StreamEvent,
    Used,
    Windowed,
)
from autopilot.domain.evidence import Usage

LONGEST_LINE = 64_000_000
MOST_ISSUES = 20
SHOWN = 120
Parse = Callable[[dict[str, Any]], Iterable[StreamEvent]]


class Account:
    """What is known of a call so far. Nothing in it is ever more than the program itself reported."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.model: str | None = None
        self.failure: Failed | None = None
        self.window: Windowed | None = None
        self.notice = self.action = ""
        self.structured: dict[str, Any] | None = None
        self.over = False
        self._text, self._of = "", ""
        self._sum: Spent | None = None
        self._parts: dict[str, Spent] = {}
        self._used: dict[str, Used] = {}
        self._returned: dict[str, str] = {}

    @property
    def text(self) -> str:
        """The last message: what was said before it was said on the way."""
        return self._text

    @property
    def commands(self) -> tuple[str, ...]:
        """Commands that ran and came back, in the order they were called; one refused or cut off is none."""
        return tuple(
            used.command for call, used in self._used.items() if call in self._returned and used.command is not None
        )

    @property
    def spent(self) -> Usage:
        """The sum the program itself gave, otherwise that of its parts."""
        entries = [self._sum] if self._sum is not None else list(self._parts.values())
        return Usage(
            input_tokens=_added(entry.input_tokens for entry in entries),
            output_tokens=_added(entry.output_tokens for entry in entries),
            cost_usd=_added(entry.cost_usd for entry in entries),
            cached_tokens=_added(entry.cached_tokens for entry in entries),
        )

    def take(self, event: StreamEvent) -> None:
        match event:
            case Said() | Used() | Returned() | Noticed():
                self._work(event)
            case Spent():
                self._spend(event)
            case Began():
                self.session, self.model = event.session or self.session, event.model or self.model
            case Windowed():
                self.window = event
            case Failed():
                self.failure, self.notice = event, ""
            case Finished() | Reopened():
                self._turn(event)

    def _work(self, event: Said | Used | Returned | Noticed) -> None:
        match event:
            case Said():
                self._text = self._text + event.text if event.of and event.of == self._of else event.text
                self._of, self.notice = event.of, ""
            case Used():
                self._used.setdefault(event.call, event)
                self.action, self._of, self.notice = event.what[:SHOWN], "", ""
            case Returned():
                if event.ran:
                    self._returned[event.call] = event.call
                else:
                    self._used.pop(event.call, None)
            case Noticed():
                self.notice = self.action = event.text[:SHOWN]

    def _spend(self, event: Spent) -> None:
        if event.part:
            self._parts[event.part] = event
        else:
            self._sum = event

    def _turn(self, event: Finished | Reopened) -> None:
        self.over = isinstance(event, Finished)
        if isinstance(event, Reopened):
            self.failure, self._text, self._of = None, "", ""
            return
        self._text = self._text if event.text is None else event.text
        self.structured = event.structured or self.structured


class StreamReader:
    """
    Takes a program's standard output in pieces of any size.

    Kinds of events it does not know are skipped: the program is newer. A line that is no event is an issue, unless it
    has the look of prose: some programs print a banner.
    """

    def __init__(self, parse: Parse) -> None:
        self.account, self.issues = Account(), list[str]()
        self.seen = 0
        self._parse, self._number, self._skipping = parse, 0, False
        self._pieces: list[bytes] = []
        self._held = 0

    def feed(self, piece: bytes) -> list[dict[str, Any]]:
        """The events that are complete with this piece; the account has them already."""
        self.seen += len(piece)
        *lines, rest = piece.split(b"\n")
        found = []
        for line in lines:
            self._pieces.append(line)
            found += self._line(b"".join(self._pieces))
            self._pieces, self._held, self._skipping = [], 0, False
        self._held += len(rest)
        if self._held > LONGEST_LINE:
            self._pieces, self._skipping = [], True
        elif rest:
            self._pieces.append(rest)
        return found

    def close(self) -> None:
        """The last line may lack its end."""
        if self._held:
            self.feed(b"\n")

    def _line(self, line: bytes) -> list[dict[str, Any]]:
        self._number += 1
        if self._skipping:
            self._complain(f"line {self._number} is longer than {LONGEST_LINE} bytes and was skipped")
            return []
        line = line.strip()
        if not line:
            return []
        try:
            event = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            if line.startswith((b"{", b"[")) or b'{"' in line:
                self._complain(f"line {self._number} is broken: {line[:SHOWN].decode(errors='replace')}")
            return []
        if not isinstance(event, dict):
            return []
        for told in self._parse(event):
            self.account.take(told)
        return [event]

    def _complain(self, issue: str) -> None:
        if len(self.issues) < MOST_ISSUES:
            self.issues.append(issue)


def _added(values: Iterable[Any]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
