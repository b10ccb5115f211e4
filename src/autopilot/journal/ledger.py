"""What earlier runs in this repository left: which is the newest, is it over, and which phases are done."""

import hashlib
from collections.abc import Iterable, Iterator

from autopilot.domain.events import Entry, PhaseFinished, RunFinished, StepFinished
from autopilot.domain.phase import Plan, Roadmap
from autopilot.domain.protocols import Journal
from autopilot.domain.record import RunRecord
from autopilot.domain.results import Planned
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance


class Ledger(Value, frozen=True, kw_only=True):
    """
    `runs` are all run names, oldest first; `verdicts` says of each phase whether its newest pass was accepted.

    `proposals` are the hashes of agents' plans that never led to a pass: found in `.planning` they are not the user's.
    """

    runs: tuple[str, ...] = ()
    newest: RunRecord | None = None
    verdicts: dict[str, bool] = {}
    proposals: tuple[str, ...] = ()

    @property
    def finished(self) -> RunFinished | None:
        """How the newest run ended; None when it did not."""
        end = self.newest.end if self.newest else None
        return end if isinstance(end, RunFinished) else None

    @property
    def resumable(self) -> bool:
        """A run that was interrupted, stopped or failed; one that completed is over."""
        return self.newest is not None and (self.finished is None or self.finished.status == "failed")

    def completed(self, roadmap: Roadmap) -> frozenset[str]:
        """AMB-06: the newest record of a phase decides; the roadmap's own mark only where there is none."""
        ticked = {p.id for p in roadmap.phases if p.status == "completed" and p.id not in self.verdicts}
        return frozenset(ticked | {phase for phase, accepted in self.verdicts.items() if accepted})


def read_ledger(journal: Journal) -> Ledger:
    runs = tuple(stream for stream in journal.streams() if "/" not in stream)
    records = [RunRecord(entries=journal.load(run)) for run in runs]
    verdicts = {
        finished.outcome.phase: isinstance(finished.verdict, Advance)
        for record in records
        for finished in record.of(PhaseFinished)
    }
    newest = records[-1] if records else None
    return Ledger(runs=runs, newest=newest, verdicts=verdicts, proposals=_proposals(journal, runs, records))


def _proposals(journal: Journal, runs: Iterable[str], records: Iterable[RunRecord]) -> tuple[str, ...]:
    accepted = {
        f"{run}/{finished.outcome.phase}"
        for run, record in zip(runs, records, strict=True)
        for finished in record.of(PhaseFinished)
        if isinstance(finished.verdict, Advance)
    }
    carried_out: set[str] = set()
    led_nowhere: set[str] = set()
    for stream in (stream for stream in journal.streams() if "/" in stream):
        made = {_sha256(plan) for plan in _plans(journal.load(stream))}
        (carried_out if stream.partition("~")[0] in accepted else led_nowhere).update(made)
    return tuple(sorted(led_nowhere - carried_out))


def _plans(entries: Iterable[Entry]) -> Iterator[Plan]:
    for entry in entries:
        result = entry.event.result if isinstance(entry.event, StepFinished) else None
        if isinstance(result, Planned) and result.plan:
            yield result.plan


def _sha256(plan: Plan) -> str:
    return hashlib.sha256(plan.text.encode("utf-8", "replace")).hexdigest()
