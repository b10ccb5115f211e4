"""A connection that is given a bounded time to ask, and a bounded room until it has shown a token."""

import asyncio
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from autopilot.views.dashboard.guard import Asked, Door, access

MOST_STRANGERS = 32


@dataclass(frozen=True, slots=True)
class Patience:
    """
    How long, in seconds, a request's first lines may take, its body, and a viewer to take what it asked for.

    A stranger is a connection on which no token was shown yet.
    """

    head_s: float = 10.0
    body_s: float = 5.0
    send_s: float = 20.0
    stranger_s: float = 2.0


class PatientProtocol(H11Protocol):
    """
    Closes a connection on which nothing is being answered and no request came in time, however slowly it drips.

    Strangers have a room of their own. One more puts out the one that has been there longest: whoever has the token
    shows it with the first lines, long before as many others have come in.
    """

    patience: Patience
    door: Door
    strangers: "dict[PatientProtocol, None]"

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._deadline: asyncio.TimerHandle | None = None
        self._known = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the parent has it
        super().connection_made(transport)
        self._wait()
        # What has arrived already is read before this: of many that come at once, those with a token never come in.
        self.loop.call_later(0, self._enter)

    def _enter(self) -> None:
        if self._known or self.transport.is_closing():
            return
        self.strangers[self] = None
        if len(self.strangers) > MOST_STRANGERS:
            longest = next(iter(self.strangers))
            del self.strangers[longest]
            longest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.strangers.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        if not self._known and self.scope is not None:
            asked = Asked(self.scope["method"], self.scope["path"], list(self.scope["headers"]))
            if access(asked, self.door) != "none":
                self._known = True
                self.strangers.pop(self, None)
                self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def _wait(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        limit = self.patience.head_s if self._known else self.patience.stranger_s
        self._deadline = self.loop.call_later(limit, self._look)

    def _look(self) -> None:
        answering = bool(self.cycle) and not self.cycle.response_complete
        if not answering and not self.transport.is_closing():
            self.transport.close()


def patient(patience: Patience, door: Door) -> type[PatientProtocol]:
    """For one server: its strangers share one room."""
    return type("Patient", (PatientProtocol,), {"patience": patience, "door": door, "strangers": {}})
