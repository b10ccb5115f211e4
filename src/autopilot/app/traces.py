"""Traces of runs: exported whole from the journal afterwards, or pass by pass while a run goes on."""

import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from autopilot.domain.attempt import Brief
from autopilot.domain.errors import AutopilotError, UsageInvalid
from autopilot.domain.events import Entry, PhaseFinished, RunFinished, RunStopped, stream_of
from autopilot.history.record import RunRecord
from autopilot.journal.sqlite import SqliteJournal
from autopilot.ports.agents import Journal, Listener
from autopilot.views.export import otlp as otel_export
from autopilot.views.export.spans import Span, pass_spans, run_span
from autopilot.workspace.user_files import find_root

PATIENCE_S = 20.0
Warn = Callable[[str], None]


def spans(folder: str, run: str) -> tuple[Span, ...]:
    """Every span of the run, of the newest if `run` is empty."""
    home = find_root(Path(folder)) / ".autopilot"
    journal = SqliteJournal.look(home / "journal.db")
    runs = [stream for stream in journal.streams() if "/" not in stream]
    if run and run not in runs:
        raise UsageInvalid(
            f"There is no run {run!r} here.",
            why="The journal of this repository does not know it.",
            do=f"Known runs: {', '.join(runs[-5:])}; without a name it is the newest.",
        )
    record = RunRecord(entries=journal.load(run or runs[-1]))
    passes = (span for brief in record.briefs for span in _pass(journal, record, brief))
    ends = (span for brief in record.completions for span in _pass(journal, record, brief))
    return (run_span(record), *passes, *ends)


def export(folder: str, run: str) -> int:
    """Send every span of the run to the collector; how many there were. Sending them again changes nothing there."""
    return otel_export.send(spans(folder, run), os.environ)


def _whole(journal: Journal, record: RunRecord) -> Iterator[Span]:
    """The run itself, and the steps behind its last phase."""
    yield run_span(record)
    for brief in record.completions:
        yield from _pass(journal, record, brief)


def _pass(journal: Journal, record: RunRecord, brief: Brief) -> Iterator[Span]:
    stream = stream_of(record.start.run, brief.phase.id, brief.number)
    return pass_spans(record, brief, journal.load(stream))


@dataclass(slots=True)
class LiveTraces:
    """A listener: sends a pass when it is over and the run at its end, in a thread of its own."""

    home: Path
    warn: Warn
    send: Callable[[tuple[Span, ...]], object]
    _waiting: "queue.SimpleQueue[tuple[str, str] | None]" = field(default_factory=queue.SimpleQueue)
    _thread: threading.Thread | None = None
    _failed: bool = False

    def __call__(self, stream: str, entry: Entry) -> None:
        match entry.event:
            case PhaseFinished(outcome=outcome):
                self._put(stream, outcome.phase)
            case RunFinished() | RunStopped():
                self._put(stream, "")

    def close(self) -> None:
        """What is over is sent, within bounds."""
        self._waiting.put(None)
        if self._thread is not None:
            self._thread.join(timeout=PATIENCE_S)

    def _put(self, run: str, phase: str) -> None:
        self._waiting.put((run, phase))
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="traces", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while (due := self._waiting.get()) is not None:
            try:
                self.send(self._spans(*due))
            except AutopilotError as error:
                self._note(error)

    def _note(self, error: AutopilotError) -> None:
        """Once a run: what was not sent is still in the journal."""
        if not self._failed:
            self.warn(f"Traces were not sent: {error.what} Send them later with: autopilot export --otel")
        self._failed = True

    def _spans(self, run: str, phase: str) -> tuple[Span, ...]:
        journal = SqliteJournal.look(self.home / "journal.db")
        record = RunRecord(entries=journal.load(run))
        if not phase:
            return tuple(_whole(journal, record))
        newest = [brief for brief in record.briefs if brief.phase.id == phase][-1]
        return tuple(_pass(journal, record, newest))


@contextmanager
def followed(listener: Listener, home: Path, warn: Warn, *, wanted: bool) -> Iterator[Listener]:
    """The listener, and beside it, where the user wants that, a sender of traces."""
    if not wanted:
        yield listener
        return
    traces = LiveTraces(home, warn, lambda found: otel_export.send(found, os.environ))

    def both(stream: str, entry: Entry) -> None:
        listener(stream, entry)
        traces(stream, entry)

    try:
        yield both
    finally:
        traces.close()
