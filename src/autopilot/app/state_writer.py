"""Keep state.json up with a run: after what it writes down, and every minute while a step takes long (STATE-11)."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from autopilot.app.finish import write_batch_report
from autopilot.domain.errors import StorageFailed
from autopilot.domain.events import AgentAnswered, AgentStarted, CompletionStarted, Entry, RunFinished
from autopilot.domain.settings import Settings
from autopilot.engine.perform.run_log import Streams
from autopilot.journal.state_file import StateFile
from autopilot.ports.agents import Clock, Journal, Listener
from autopilot.state.build_state import Projection

BEAT_S = 60.0


class ProjectedStreams(Streams):
    """The streams of a run, whose state.json and report of a batch are written as they grow."""

    def __init__(
        self, home: Path, journal: Journal, run: str, listener: Listener, settings: Settings | None = None
    ) -> None:
        super().__init__(journal, run, (listener, self._project), settings)
        self._home, self._file, self._projection = home, StateFile(home), Projection()

    def beat(self, now: str) -> None:
        """The same state with a fresh time: whoever looks sees that the run lives."""
        with self.turn:
            self._file.write(self._projection.state(self.run(), self, now=now))

    def _project(self, _stream: str, entry: Entry) -> None:
        if not isinstance(entry.event, AgentStarted | AgentAnswered):
            self.beat(entry.at)
        if isinstance(entry.event, CompletionStarted | RunFinished):
            write_batch_report(self._home, self)


@contextmanager
def beating(streams: ProjectedStreams, clock: Clock, every_s: float = BEAT_S) -> Iterator[None]:
    """A disk that cannot be written to is told by the next entry, which is not to be lost; a beat may be."""
    over = threading.Event()

    def beats() -> None:
        while not over.wait(every_s):
            with suppress(StorageFailed):
                streams.beat(clock.now())

    heart = threading.Thread(target=beats, name="heartbeat", daemon=True)
    heart.start()
    try:
        yield
    finally:
        over.set()
        heart.join()
