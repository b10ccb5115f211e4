"""A connection that is given a bounded time to ask; uvicorn by itself waits for ever for the first lines."""

import asyncio
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


@dataclass(frozen=True, slots=True)
class Patience:
    """How long, in seconds, a request's first lines may take, its body, and a viewer to take what it asked for."""

    head_s: float = 10.0
    body_s: float = 5.0
    send_s: float = 20.0


class PatientProtocol(H11Protocol):
    """Closes a connection on which nothing is being answered and no request came in time, however slowly it drips."""

    head_s = Patience().head_s

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the parent has it
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def _wait(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(self.head_s, self._look)

    def _look(self) -> None:
        answering = bool(self.cycle) and not self.cycle.response_complete
        if not answering and not self.transport.is_closing():
            self.transport.close()


def patient(head_s: float) -> type[PatientProtocol]:
    return type("Patient", (PatientProtocol,), {"head_s": head_s})
