"""What earlier runs in this repository left: which is the newest, is it over, and which phases are done."""

from autopilot.domain.events import PhaseFinished, RunFinished
from autopilot.domain.phase import Roadmap
from autopilot.domain.protocols import Journal
from autopilot.domain.record import RunRecord
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance


class Ledger(Value, frozen=True, kw_only=True):
    """`runs` are all run names, oldest first; `verdicts` says of each phase whether its newest pass was accepted."""

    runs: tuple[str, ...] = ()
    newest: RunRecord | None = None
    verdicts: dict[str, bool] = {}

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
    return Ledger(runs=runs, newest=records[-1] if records else None, verdicts=verdicts)
