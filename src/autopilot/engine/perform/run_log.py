"""The journal's streams of one run as they are being written: append, tell the listeners, keep the records at hand."""

import threading
from collections.abc import Sequence

import msgspec

from autopilot.domain.attempt import Brief
from autopilot.domain.events import Entry, Event, RunStarted, stream_of
from autopilot.domain.results import COMPLETION
from autopilot.domain.settings import Settings
from autopilot.history.digest import PassDigest, digest_of
from autopilot.history.record import PhaseRecord, RunRecord, kept_entries
from autopilot.history.totals import Tally, tallied
from autopilot.ports.agents import Journal, Listener

SPARE = 8


class Streams:
    """
    Threads may share one: entries are written, and listeners told of them, one after the other.

    What is over is not kept in memory but for its digest; asked for again, it is read again.

    `settings` are those the user granted the run. They go before what its journal says they are.
    """

    def __init__(
        self, journal: Journal, run: str, listeners: Sequence[Listener], settings: Settings | None = None
    ) -> None:
        self._journal, self._run, self._listeners, self._settings = journal, run, listeners, settings
        self._entries: dict[str, tuple[Entry, ...]] = {}
        self._records: dict[str, PhaseRecord] = {}
        self._digests: dict[str, PassDigest] = {}
        self._tally = Tally()
        self._known: tuple[RunRecord, RunStarted] | None = None
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
            self._records.clear()
            self._digests.clear()
            self._tally = Tally()
            self._known = None

    def run(self) -> RunRecord:
        return self._current()[0]

    def _current(self) -> tuple[RunRecord, RunStarted]:
        """The run's record, and its start as it is in force by now."""
        with self.turn:
            entries = self._load(self._run)
            if self._known is None or self._known[0].entries is not entries:
                before = self._known[1] if self._known else None
                run = self._known[0].grown(entries) if self._known else RunRecord(entries=entries)
                self._known = run, _in_force(run, before)
            return self._known

    def phase(self, brief: Brief) -> PhaseRecord:
        stream = stream_of(self._run, brief.phase.id, brief.number)
        with self.turn:
            entries, start = self._load(stream), self._current()[1]
            known = self._records.get(stream)
            if known is not None and known.entries is entries and known.start is start:
                return known
            shown = self._plans() if brief.phase.id == COMPLETION else inherited(brief)
            kept = kept_entries(brief, self._continued(brief)) if brief.continues else ()
            record = PhaseRecord(start=start, brief=brief, entries=entries, shown=shown, kept=kept)
            self._records[stream] = record
            return record

    def _continued(self, brief: Brief) -> PhaseRecord:
        """The pass that this one continues."""
        assert brief.continues is not None
        return self.phase(self.run().begun(brief.phase.id)[brief.continues.number])

    def completions(self) -> tuple[PhaseRecord, ...]:
        """The steps behind the last phase, each time they were begun."""
        return tuple(self.phase(brief) for brief in self.run().completions)

    def spending(self) -> Tally:
        """What counts for the caps: the passes, and the steps behind the last phase."""
        ends = [digest_of(record, self.run().resumes, self.run().waits) for record in self.completions()]
        return tallied((*self.digests(), *ends)) if ends else self.digests()

    def _plans(self) -> dict[str, str]:
        """The accepted plan of every target with its test files, by path."""
        targets = self.run().start.targets
        found = (self.passes(phase) for target in targets for phase in (target, *self.parts(target)))
        return {path: text for passes in found for path, text in plan_files(passes).items()}

    def passes(self, phase: str) -> tuple[PhaseRecord, ...]:
        """Every pass of the phase so far, in order."""
        return tuple(self.phase(brief) for brief in self.run().begun(phase))

    def parts(self, phase: str) -> tuple[str, ...]:
        """The sub-phases the phase was ever split into, as they were begun."""
        return tuple(dict.fromkeys(brief.phase.id for brief in self.run().briefs if brief.parent == phase))

    def all_passes(self) -> tuple[PhaseRecord, ...]:
        """Every pass of every phase so far, in the order in which they were started."""
        return tuple(self.phase(brief) for brief in self.run().briefs)

    def digests(self) -> Tally:
        """The same in few words, which is all that is left in memory of those that are over."""
        with self.turn:
            run, before = self.run(), self._tally
            behind = run.briefs[before.settled :]
            is_open = [(brief.phase.id, brief.number) in run.at_work for brief in behind]
            made = [self._digest(brief, run, is_open=at_work) for brief, at_work in zip(behind, is_open, strict=True)]
            over = is_open.index(True) if True in is_open else len(made)
            if over or list(map(id, made)) != list(map(id, before[before.settled :])):
                self._tally = before.with_open(made).settling(before.settled + over, run.times.over)
            return self._tally

    def _digest(self, brief: Brief, run: RunRecord, *, is_open: bool) -> PassDigest:
        stream = stream_of(self._run, brief.phase.id, brief.number)
        known = self._digests.get(stream)
        if known is None or (is_open and known.entries != len(self._load(stream))):
            known = self._digests[stream] = digest_of(self.phase(brief), run.resumes, run.waits)
        return known

    def _load(self, stream: str) -> tuple[Entry, ...]:
        with self.turn:
            if stream not in self._entries:
                found = self._journal.load(stream)
                self._entries[stream] = _granted(found, self._settings) if stream == self._run else found
                self._make_room(stream)
            return self._entries[stream]

    def _make_room(self, wanted: str) -> None:
        """The oldest go. There is room for more than are open at a time."""
        room = SPARE + 2 * (self._known[1].settings.modes.jobs if self._known else 1)
        for stream in [s for s in self._entries if s not in {self._run, wanted}][:-room]:
            del self._entries[stream]
            self._records.pop(stream, None)


def _granted(entries: tuple[Entry, ...], settings: Settings | None) -> tuple[Entry, ...]:
    first = entries[0].event if entries else None
    if settings is None or not isinstance(first, RunStarted):
        return entries
    start = msgspec.structs.replace(first, settings=settings)
    return (msgspec.structs.replace(entries[0], event=start), *entries[1:])


def _in_force(run: RunRecord, before: RunStarted | None) -> RunStarted:
    """The same value as before where nothing changed, so that records made with it stay good."""
    settings = msgspec.structs.replace(run.start.settings, limits=run.limits)
    start = msgspec.structs.replace(run.start, spec=run.spec, settings=settings)
    return before if before is not None and before == start else start


def inherited(brief: Brief) -> dict[str, str]:
    """For a part that mends a phase: the phase's plan, whose test files lie in the folder above."""
    if not brief.parent or brief.plan is None:
        return {}
    folder = brief.dir.rpartition("/")[0]
    tests = {f"{folder}/{test.path}": test.text for test in brief.plan.tests}
    return {f"{folder}/PLAN.md": brief.plan.text, **tests}


def plan_files(passes: Sequence[PhaseRecord]) -> dict[str, str]:
    """The plan a phase was last carried out by."""
    for record in reversed(passes):
        if record.plan:
            tests = {f"{record.brief.dir}/{test.path}": test.text for test in record.plan.tests}
            return {f"{record.brief.dir}/PLAN.md": record.plan.text, **tests}
    return {}
