"""What earlier runs in this repository left: which is the newest, is it over, and which phases are done."""

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from autopilot.domain.events import Entry, MergeRefused, PhaseFinished, RunFinished, StepFinished
from autopilot.domain.phase import Plan, Roadmap
from autopilot.domain.protocols import Journal
from autopilot.domain.record import RunRecord
from autopilot.domain.results import Planned
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance
from autopilot.journal.timeline import settled

# A pass that ended; one that was only begun leaves what stood before it.
_RECORDED = frozenset({"completed", "failed", "needs_human_verification"})


class Standing(Value, frozen=True, kw_only=True):
    """How a phase was left: `status` as in state.json, `score` of the newest pass that had one."""

    status: str
    score: float | None = None


class Ledger(Value, frozen=True, kw_only=True):
    """
    `runs` are all run names, oldest first; `verdicts` says of each phase whether its newest pass was accepted.

    `standings` tell the same in more words; what the journal does not know of comes from archived states (AMB-06).
    `proposals` are the hashes of agents' plans that never led to a pass: found in `.planning` they are not the user's.
    """

    runs: tuple[str, ...] = ()
    newest: RunRecord | None = None
    verdicts: dict[str, bool] = {}
    standings: dict[str, Standing] = {}
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


def read_ledger(journal: Journal, archived: Iterable[Mapping[str, Any]] = ()) -> Ledger:
    """`archived` are states of earlier runs, oldest first. The journal's word on a phase counts before theirs."""
    runs = tuple(stream for stream in journal.streams() if "/" not in stream)
    records = [RunRecord(entries=journal.load(run)) for run in runs]
    told = remembered(archived)
    for event in (entry.event for record in records for entry in record.entries):
        if isinstance(event, PhaseFinished):
            told[event.outcome.phase] = Standing(status=settled(event.verdict), score=event.outcome.alignment_score)
        elif isinstance(event, MergeRefused):
            told[event.phase] = Standing(status="in_progress")
    return Ledger(
        runs=runs,
        newest=records[-1] if records else None,
        verdicts=_verdicts(told),
        standings=told,
        proposals=_proposals(journal, runs, records),
    )


def ledger_of_archive(archived: Iterable[Mapping[str, Any]]) -> Ledger:
    """Where there is no journal, what archived states tell of phases; no run can go on from them."""
    told = remembered(archived)
    return Ledger(verdicts=_verdicts(told), standings=told)


def remembered(archived: Iterable[Mapping[str, Any]]) -> dict[str, Standing]:
    """The newest word of each phase that was worked on; fields of another shape are passed over."""
    told: dict[str, Standing] = {}
    for state in archived:
        phases = state.get("phases")
        for name, phase in phases.items() if isinstance(phases, dict) else ():
            status = phase.get("status") if isinstance(phase, dict) else None
            if isinstance(status, str) and status in _RECORDED:
                told[name.removeprefix("phase_")] = Standing(status=status, score=_number(phase.get("alignment_score")))
    return told


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _verdicts(told: Mapping[str, Standing]) -> dict[str, bool]:
    return {phase: standing.status == "completed" for phase, standing in told.items()}


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


def new_name(taken: tuple[str, ...]) -> str:
    """A run is named for the second it starts in; a second one in the same second gets a number."""
    name = time.strftime("run-%Y-%m-%d-%H%M%S", time.gmtime())
    return next(n for n in (name, *(f"{name}-{i}" for i in range(2, 1000))) if n not in taken)
