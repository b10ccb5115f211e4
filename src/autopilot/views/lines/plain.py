"""Progress as plain lines on a stream, for logs, pipes and people who like to scroll."""

from collections.abc import Iterable
from typing import TextIO

from autopilot.domain.events import Entry
from autopilot.domain.request import RunEnd
from autopilot.text.clean import harmless
from autopilot.views.lines.announcement import announcement
from autopilot.views.lines.run_lines import Narrator


class PlainView:
    """A listener. Once its stream cannot be written it says nothing more, and the run goes on without it."""

    def __init__(self, out: TextIO) -> None:
        self.out, self.narrator, self.broken = out, Narrator(), False

    def __call__(self, stream: str, entry: Entry) -> None:
        self._write(self.narrator.tell(stream, entry))

    def say(self, text: str) -> None:
        """What is told before the run's first entry."""
        self._write(text.splitlines())

    def announce(self, end: RunEnd) -> None:
        """How the run ended. Called once, with what the program handed back."""
        self._write(announcement(end, self.narrator))

    def close(self) -> None:
        """Every line is out already."""

    def _write(self, lines: Iterable[str]) -> None:
        text = harmless("".join(f"{line}\n" for line in lines))
        if self.broken or not text:
            return
        try:
            self.out.write(text)
            self.out.flush()
        except (OSError, ValueError):  # ValueError: the stream was closed, or cannot hold these letters
            self.broken = True
