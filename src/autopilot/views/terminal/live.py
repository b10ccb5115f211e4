"""A run as a live picture on the terminal of the process that drives it."""

import queue
import threading
import time
from collections.abc import Callable, Iterable
from typing import TextIO

from autopilot.domain.events import Entry, RunFinished, RunStopped
from autopilot.domain.request import RunEnd
from autopilot.state.picture import Picture
from autopilot.state.picture_run import after
from autopilot.text.clean import harmless
from autopilot.views.lines.announcement import announcement
from autopilot.views.lines.run_lines import Narrator
from autopilot.views.terminal.follow import Told
from autopilot.views.terminal.painter import Painter, terminal
from autopilot.views.terminal.watch import Looking

FRAME_S = 0.25
TICK_S = 1.0
History = Callable[[str], Iterable[Told]]


class LiveView:
    """
    A listener. It only takes entries down; a thread of its own draws, so that no picture can hold up a run.

    `history` is asked for what was written before, when a run is joined in its middle. Once the terminal cannot be
    written it draws nothing more, and the run goes on without it.
    """

    def __init__(self, out: TextIO, history: History = lambda _: ()) -> None:
        self.out, self.narrator, self.broken = out, Narrator(), False
        self._history = history
        self._entries: queue.SimpleQueue[Told | None] = queue.SimpleQueue()
        self._picture, self._seen = Picture(), dict[str, int]()
        self._painter = Painter(terminal(out))
        self._looking = Looking(self._painter)
        self._thread: threading.Thread | None = None

    def __call__(self, stream: str, entry: Entry) -> None:
        """A run that stops or ends gives the terminal back: a person may be asked something next."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._paint, name="live view", daemon=True)
            self._thread.start()
        self._entries.put((stream, entry))
        if isinstance(entry.event, RunStopped | RunFinished):
            self.close()

    def say(self, text: str) -> None:
        """What is told beside the picture."""
        self.close()
        self._write(f"{text}\n")

    def announce(self, end: RunEnd) -> None:
        """How the run ended, below the last frame."""
        self.close()
        self._write("".join(f"{line}\n" for line in announcement(end, self.narrator)))

    def _write(self, text: str) -> None:
        if self.broken:
            return
        try:
            self.out.write(harmless(text))
            self.out.flush()
        except (OSError, ValueError):  # ValueError: the stream was closed, or cannot hold these letters
            self.broken = True

    def close(self) -> None:
        """The last frame is on the screen when this returns; nothing is drawn until there is another entry."""
        if self._thread is not None:
            self._entries.put(None)
            self._thread.join()
            self._thread = None

    def _paint(self) -> None:
        """At most four frames a second: when something happened, and once a second because clocks tick."""
        try:
            while self._take_in():
                began = time.monotonic()
                self._draw()
                time.sleep(max(0.0, FRAME_S - (time.monotonic() - began)))
            self._draw()
        finally:
            self._end()

    def _take_in(self) -> bool:
        """Wait for an entry or the next tick, then take in all there is. False: there will be no more."""
        try:
            told = self._entries.get(timeout=TICK_S - FRAME_S)
            while told is not None:
                self._hear(*told)
                told = self._entries.get_nowait()
        except queue.Empty:
            return True
        return False

    def _hear(self, stream: str, entry: Entry) -> None:
        for _ in self.narrator.tell(stream, entry):
            pass
        if not self._picture.run and entry.number:
            for before in self._history(stream.partition("/")[0]):
                self._add(*before)
        self._add(stream, entry)

    def _add(self, stream: str, entry: Entry) -> None:
        """What the history told already is not told again."""
        if entry.number > self._seen.get(stream, -1):
            self._seen[stream] = entry.number
            self._picture = after(self._picture, stream, entry)

    def _draw(self) -> None:
        if self.broken:
            return
        try:
            self._looking(self._picture)
        except (OSError, ValueError):  # as above
            self.broken = True

    def _end(self) -> None:
        try:
            self._painter.close()
        except (OSError, ValueError):
            self.broken = True
