"""The journal's streams of one run as they are being written: append, tell the listeners, keep the records at hand."""

import threading
from collections.abc import Sequence

import msgspec

from autopilot.domain.completion import COMPLETION
from autopilot.domain.events import Brief, Entry, Event, PhaseStarted, stream_of
from autopilot.domain.protocols import Journal, Listener
from autopilot.domain.record import PhaseRecord, RunRecord


class Streams:
    """Threads may share one: entries are written, and listeners told of them, one after the other."""

    def __init__(self, journal: Journal, run: str, listeners: Sequence[Listener]) -> None:
        self._journal, self._run, self._listeners = journal, run, listeners
        self._entries: dict[str, tuple[Entry, ...]] = {}
        self.turn = threading.RLock()

    def append(self, stream: str, event: Event) -> None:
        """On disk, and every listener told, when this returns."""
        with self.turn:
            before = self._load(stream)
            entry = self._journal.append(stream, len(before), event)
            self._entries[stream] = (*before, entry)
            for listener in self._listeners:
                listener(stream, entry)

    def append_run(self, event: Event) -> None:
        self.append(self._run, event)

    def forget(self) -> None:
        """Read everything anew next time: after an interruption the copies here may lag behind the disk."""
        with self.turn:
            self._entries.clear()

    def run(self) -> RunRecord:
        return RunRecord(entries=self._load(self._run))

    def phase(self, brief: Brief) -> PhaseRecord:
        stream = stream_of(self._run, brief.phase.id, brief.number)
        run = self.run()
        settings = msgspec.structs.replace(run.start.settings, limits=run.limits)
        start = msgspec.structs.replace(run.start, spec=run.spec, settings=settings)
        shown = self._plans() if brief.phase.id == COMPLETION else {}
        return PhaseRecord(start=start, brief=brief, entries=self._load(stream), shown=shown)

    def completion(self) -> PhaseRecord | None:
        """The steps behind the last phase, once they have begun."""
        brief = self.run().completing
        return self.phase(brief) if brief else None

    def _plans(self) -> dict[str, str]:
        """The accepted plan of every target with its test files, by path."""
        found = (self.passes(target) for target in self.run().start.targets)
        return {path: text for passes in found for path, text in plan_files(passes).items()}

    def passes(self, phase: str) -> tuple[PhaseRecord, ...]:
        """Every pass of the phase so far, in order."""
        briefs = (started.brief for started in self.run().of(PhaseStarted))
        return tuple(self.phase(brief) for brief in briefs if brief.phase.id == phase)

    def all_passes(self) -> tuple[PhaseRecord, ...]:
        """Every pass of every phase so far, in the order in which they were started."""
        return tuple(self.phase(started.brief) for started in self.run().of(PhaseStarted))

    def _load(self, stream: str) -> tuple[Entry, ...]:
        with self.turn:
            if stream not in self._entries:
                self._entries[stream] = self._journal.load(stream)
            return self._entries[stream]


def plan_files(passes: Sequence[PhaseRecord]) -> dict[str, str]:
    """The plan a phase was last carried out by."""
    for record in reversed(passes):
        if record.plan:
            tests = {f"{record.brief.dir}/{test.path}": test.text for test in record.plan.tests}
            return {f"{record.brief.dir}/PLAN.md": record.plan.text, **tests}
    return {}
