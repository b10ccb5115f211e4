"""What earlier runs in this repository left: which is the newest, is it over, and which phases are done."""

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from autopilot.domain.attempt import DoneBefore
from autopilot.domain.events import (
    CompletionFinished,
    Entry,
    MergeRefused,
    PhaseFinished,
    PhaseLanded,
    RunFinished,
    StepFinished,
    VerdictGiven,
)
from autopilot.domain.phase import EvidenceSource, Phase, Plan, Roadmap, number_of, same_phase
from autopilot.domain.results import COMPLETION, Planned
from autopilot.domain.rework import Before, Scored, Standing
from autopilot.domain.value import Value
from autopilot.domain.verdict import ALREADY_SATISFIED, Advance, Verdict
from autopilot.history.best_attempt import best
from autopilot.history.record import RunRecord
from autopilot.history.run_index import judged
from autopilot.history.timeline import merged, scored_at, settled
from autopilot.ports.agents import Journal

# A pass that ended; one that was only begun leaves what stood before it.
_RECORDED = frozenset({"completed", "failed", "needs_human_verification"})
_IN_FOLDERS: frozenset[EvidenceSource] = frozenset({"summaries", "verification"})


class Ledger(Value, frozen=True, kw_only=True):
    """
    `runs` are all run names, oldest first; `verdicts` says of each phase whether its newest pass was accepted.

    `standings` tell the same in more words; what the journal does not know of comes from archived states (AMB-06).
    `subjects` are the phases as the runs knew them: another milestone may use the same number for another phase.
    `proposals` are the hashes of agents' plans that never led to a pass: found in `.planning` they are not the user's.
    `unaudited` are completed phases on the user's branch that no end of a run has looked at.
    `unlanded` are the phases that no run could put on the user's branch, each with its run and commit.
    """

    runs: tuple[str, ...] = ()
    newest: RunRecord | None = None
    verdicts: dict[str, bool] = {}
    standings: dict[str, Standing] = {}
    subjects: dict[str, Phase] = {}
    proposals: tuple[str, ...] = ()
    unaudited: tuple[str, ...] = ()
    unlanded: dict[str, tuple[str, str]] = {}

    @property
    def finished(self) -> RunFinished | None:
        """How the newest run ended; None when it did not."""
        end = self.newest.end if self.newest else None
        return end if isinstance(end, RunFinished) else None

    @property
    def resumable(self) -> bool:
        """A run that was interrupted, stopped or failed; one that completed is over."""
        return self.newest is not None and (self.finished is None or self.finished.status == "failed")

    def known(self, roadmap: Roadmap) -> dict[str, Standing]:
        """Every phase of the roadmap as it stands (AMB-06): by its newest record, else by the roadmap's own mark."""
        return {p.id: self.standing_of(p) or Standing(status=p.status) for p in roadmap.phases}

    def standing_of(self, phase: Phase) -> Standing | None:
        """What the newest record says of this phase; None where there is none, or where it is of another milestone."""
        for own in dict.fromkeys((phase.id, number_of(phase))):
            subject = self.subjects.get(own)
            if own in self.standings and (same_phase(subject, phase) if subject else own == phase.id):
                return self.standings[own]
        return None

    def known_at_start(self, roadmap: Roadmap) -> dict[str, Standing]:
        """The same, but the targets of the newest run as they were when it began."""
        start = self.newest.start if self.newest else None
        if start is None:
            return self.known(roadmap)
        unknown = Before(status="not_started")
        told = {target: start.before.get(target, unknown) for target in start.targets}
        begun = {target: Standing(status=before.status, score=before.score) for target, before in told.items()}
        return {phase: begun.get(phase, standing) for phase, standing in self.known(roadmap).items()}

    def completed(self, roadmap: Roadmap) -> frozenset[str]:
        """AMB-06: the newest record of a phase decides; the roadmap's own mark only where there is none."""
        recorded = {p.id: self.standing_of(p) for p in roadmap.phases}
        ticked = {p.id for p in roadmap.phases if p.status == "completed" and recorded[p.id] is None}
        gone = {phase for phase, accepted in self.verdicts.items() if accepted and phase not in recorded}
        return frozenset(ticked | gone | {p for p, told in recorded.items() if told and told.status == "completed"})

    def reopened(self, roadmap: Roadmap) -> Roadmap:
        """
        The roadmap with those phases open that their newest record leaves open and only their folders call done.

        Runs write to these folders: the summary of a pass is still there when a later pass of the phase has failed.
        """

        def by_record(phase: Phase) -> Phase:
            told = self.standing_of(phase)
            if phase.status != "completed" or told is None or told.status == "completed":
                return phase
            marked = any(claim.done and claim.source not in _IN_FOLDERS for claim in roadmap.claims.get(phase.id, ()))
            return phase if marked else msgspec.structs.replace(phase, status="not_started")

        return msgspec.structs.replace(roadmap, phases=tuple(by_record(phase) for phase in roadmap.phases))


def read_ledger(journal: Journal, archived: Iterable[Mapping[str, Any]] = ()) -> Ledger:
    """`archived` are states of earlier runs, oldest first. The journal's word on a phase counts before theirs."""
    runs = tuple(stream for stream in journal.streams() if "/" not in stream)
    records = [RunRecord(entries=journal.load(run)) for run in runs]
    told = remembered(archived)
    subjects: dict[str, Phase] = {}
    for record in records:
        known = {phase.id: phase for phase in record.start.phases}
        for phase in dict.fromkeys(finished.outcome.phase for finished in record.of(PhaseFinished)):
            before, now = subjects.get(phase), known.get(phase)
            if before and now and not same_phase(before, now):
                earlier = f"{before.milestone.upper()}-{phase}"
                told[earlier], subjects[earlier] = told.pop(phase), before
            told[phase] = standing_in(record, phase, told.get(phase))
            subjects |= {phase: now} if now else {}
    return Ledger(
        runs=runs,
        newest=records[-1] if records else None,
        verdicts=_verdicts(told),
        standings=told,
        subjects=subjects,
        proposals=_proposals(journal, runs, records),
        unaudited=_unaudited(records),
        unlanded=_unlanded(records),
    )


def _unlanded(records: Iterable[RunRecord]) -> dict[str, tuple[str, str]]:
    left: dict[str, tuple[str, str]] = {}
    for record in records:
        for landing in record.of(PhaseLanded):
            left.pop(landing.phase, None)
        left |= {late.phase: (record.start.run, late.commit) for late in record.unlanded if late.phase != COMPLETION}
    return left


def _unaudited(records: Iterable[RunRecord]) -> tuple[str, ...]:
    """What was completed and not landed may be missing from the branch: no later run can look at it."""
    left: dict[str, None] = {}
    for record in records:
        for entry in record.entries:
            match entry.event:
                case PhaseFinished(outcome=outcome):
                    left.pop(outcome.phase, None)
                case PhaseLanded(phase=phase, landed=True) if phase != COMPLETION:
                    left[phase] = None
                case CompletionFinished(covered=covered):
                    for phase in record.start.targets if covered is None else covered:
                        left.pop(phase, None)
    return tuple(left)


def standing_in(record: RunRecord, phase: str, earlier: Standing | None) -> Standing:
    """
    How the run left the phase, with a person's word on it.

    One that was only to be mended, and was not finished with, stands as before.
    """
    finished = [(entry.at, entry.event) for entry in record.entries if isinstance(entry.event, PhaseFinished)]
    own = [(at, one) for at, one in finished if one.outcome.phase == phase]
    words = (e.event for e in record.entries if isinstance(e.event, PhaseFinished | VerdictGiven))
    last = next(end for end in reversed(judged(words)) if end.outcome.phase == phase)
    refused = any(event.phase == phase for event in record.of(MergeRefused))
    status = "in_progress" if refused and not record.standing(phase) else _left_as(last.verdict)
    unfinished = status == "in_progress" and earlier is not None and earlier.status == "completed"
    before = earlier.history if earlier else ()
    return Standing(
        status="completed" if unfinished else status,
        score=best(record, phase).alignment_score if record.standing(phase) else own[-1][1].outcome.alignment_score,
        history=merged(before, (scored for at, one in own if (scored := scored_at(at, one)))),
        run=record.start.run,
        at=own[-1][0],
    )


def _left_as(verdict: Verdict) -> str:
    """As in state.json, except for a phase of which nothing was built: nobody has accepted it yet."""
    satisfied = isinstance(verdict, Advance) and verdict.because == ALREADY_SATISFIED
    return ALREADY_SATISFIED if satisfied else settled(verdict)


def done_before(ledger: Ledger, phases: Iterable[str]) -> tuple[DoneBefore, ...]:
    """CMPL-02a: in which run each of these completed phases was completed, and when."""
    known = {phase: ledger.standings.get(phase, Standing(status="")) for phase in phases}
    return tuple(DoneBefore(phase=p, run=s.run or s.archived, at=s.at) for p, s in known.items())


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
                own = name.removeprefix("phase_")
                before = told[own].history if own in told else ()
                satisfied = phase.get("outcome") == ALREADY_SATISFIED
                told[own] = Standing(
                    status=ALREADY_SATISFIED if satisfied else status,
                    score=_number(phase.get("alignment_score")),
                    history=merged(before, _scores(phase.get("score_history"))),
                    archived=_word(state.get("_meta", {}).get("run_id")),
                    at=_word(phase.get("completed_at")),
                )
    return told


def _scores(lines: Any) -> Iterator[Scored]:
    for line in lines if isinstance(lines, list) else ():
        try:
            yield msgspec.convert(line, Scored)
        except msgspec.ValidationError:
            continue


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _verdicts(told: Mapping[str, Standing]) -> dict[str, bool]:
    return {phase: standing.status == "completed" for phase, standing in told.items()}


def _proposals(journal: Journal, runs: Iterable[str], records: Iterable[RunRecord]) -> tuple[str, ...]:
    accepted = {
        f"{run}/{finished.outcome.phase}"
        for run, record in zip(runs, records, strict=True)
        for finished in judged(entry.event for entry in record.entries)
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


def new_name(taken: tuple[str, ...], kind: str = "run") -> str:
    """A run is named for the second it starts in; a second one in the same second gets a number."""
    name = time.strftime(f"{kind}-%Y-%m-%d-%H%M%S", time.gmtime())
    return next(n for n in (name, *(f"{name}-{i}" for i in range(2, 1000))) if n not in taken)
