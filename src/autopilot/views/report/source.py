"""All that a report is made of: the records of one run, and what lies beside its journal."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from autopilot.domain.events import PhaseFinished
from autopilot.domain.phase import Phase
from autopilot.domain.value import Value
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.history.timeline import History, histories


class ReceiptSeen(Value, frozen=True, kw_only=True):
    """A phase's receipt as it lies in the tree; `trouble` says why it could not be read."""

    phase: str
    path: str
    run: str = ""
    result: str = ""
    commit: str = ""
    passed: int = 0
    total: int = 0
    signed: bool = False
    trouble: str = ""


@dataclass(frozen=True, kw_only=True)
class Told:
    """
    `passes` are the passes of each phase in order, `ending` the steps behind the last phase, `now` when it is told.

    `runs` are the numbers of all runs, oldest first; `diffs` what git has between a base and a commit, as far as asked.
    """

    run: RunRecord
    passes: Mapping[str, tuple[PhaseRecord, ...]]
    now: str
    ending: PhaseRecord | None = None
    runs: tuple[Mapping[str, Any], ...] = ()
    learnings: str = ""
    receipts: tuple[ReceiptSeen, ...] = ()
    diffs: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @cached_property
    def histories(self) -> Mapping[str, History]:
        return histories(self.run)

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """Every phase of the roadmap, then those the run made itself."""
        known = {phase.id: phase for phase in self.run.start.phases}
        made = {brief.phase.id: brief.phase for brief in self.run.briefs}
        return tuple((known | made | known).values())

    @cached_property
    def records(self) -> tuple[PhaseRecord, ...]:
        """Every pass, and the run's own end behind them."""
        found = tuple(record for passes in self.passes.values() for record in passes)
        return (*found, self.ending) if self.ending else found

    def counted(self, phase: str) -> PhaseRecord | None:
        """The pass that a phase stands on; while none has ended the newest there is."""
        passes, history = self.passes.get(phase, ()), self.histories.get(phase)
        if not passes or history is None:
            return None
        chosen = history.counted[1] if history.counted else None
        ended = tuple(turn for _, turn in history.finished)
        return next((record for record, turn in _pairs(passes, ended) if turn is chosen), passes[-1])


def _pairs(
    passes: Iterable[PhaseRecord], ended: Iterable[PhaseFinished]
) -> Iterable[tuple[PhaseRecord, PhaseFinished]]:
    """A phase has at most one pass open, so its passes end in the order in which they began."""
    return zip(passes, ended, strict=False)
