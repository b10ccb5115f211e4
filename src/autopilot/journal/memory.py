"""The journal in memory: the twin of the one on disk, for dry runs and tests."""

import threading

from autopilot.domain.events import Entry, Event
from autopilot.journal import storage_errors as failures
from autopilot.journal.chain import Chain, Tip
from autopilot.journal.codec import UPGRADES, decode, encode
from autopilot.ports.agents import Clock

_CHAIN = Chain(b"in memory")


class MemoryJournal:
    """Keeps each entry as its text, so that what cannot be stored fails here as it would on disk."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._turn = threading.Lock()
        self._rows: dict[str, list[tuple[str, str, str]]] = {}
        self._tip = Tip()

    def load(self, stream: str) -> tuple[Entry, ...]:
        with self._turn:
            rows = tuple(self._rows.get(stream, ()))
        return tuple(_entry(stream, number, *row) for number, row in enumerate(rows))

    def append(self, stream: str, number: int, event: Event) -> Entry:
        body = encode(event)
        with self._turn:
            length = len(self._rows.get(stream, ()))
            if number != length:
                raise failures.number_taken(stream, number, length)
            seq, at = self._tip.seq + 1, self._clock.now()
            digest = _CHAIN.link(self._tip.hash, (seq, stream, number, at, len(UPGRADES), body))
            entry = _entry(stream, number, at, body, digest)
            self._rows.setdefault(stream, []).append((at, body, digest))
            self._tip = Tip(seq=seq, hash=digest)
        return entry

    def streams(self) -> tuple[str, ...]:
        with self._turn:
            return tuple(self._rows)


def _entry(stream: str, number: int, at: str, body: str, digest: str) -> Entry:
    event = decode(body, len(UPGRADES), f"entry {number} of {stream!r}")
    return Entry(number=number, at=at, event=event, hash=digest)
