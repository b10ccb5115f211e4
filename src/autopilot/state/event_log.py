"""The event log of state.json: the journal's entries under the names of EVT-01."""

from bisect import insort_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Protocol

from msgspec.structs import replace

from autopilot.domain.events import (
    CompletionFinished,
    CompletionStarted,
    Entry,
    Event,
    Noted,
    PhaseFinished,
    PhaseSkipped,
    PhaseStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    StepFinished,
    StepStarted,
    VerdictGiven,
)
from autopilot.domain.results import (
    COMPLETION,
    Debugged,
    Executed,
    Fixed,
    MiniVerified,
    Rated,
    StepResult,
    Unanswered,
    Verified,
)
from autopilot.domain.value import tag_of
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.history.digest import PassDigest
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.history.totals import tallied
from autopilot.policy.batch_totals import BatchFigures, batch_figures
from autopilot.policy.deferral import REJECTED, for_a_person
from autopilot.policy.failure_categories import failure_categories
from autopilot.policy.uniform_scores import alert, completed
from autopilot.state.completion_state import audit_told, completion_told
from autopilot.state.cycles import Cycles
from autopilot.state.step_states import succeeded

Line = dict[str, Any]
Told = Iterator[tuple[str, dict[str, Any]]]


class Source(Protocol):
    """Where the passes of a run are to be had: as they are, and in few words."""

    def digests(self) -> tuple[PassDigest, ...]: ...

    def passes(self, phase: str) -> tuple[PhaseRecord, ...]: ...

    def completions(self) -> tuple[PhaseRecord, ...]: ...


class EventLog:
    """
    Every line by time; at the same instant a pass's lines stand between its start and its end.

    It is told of the run again and again and takes in what is new, so that this costs the same however long the run is.
    `most` is how many lines it keeps, None for all.
    """

    def __init__(self, most: int | None) -> None:
        self._most, self._cycles = most, Cycles()
        self._read, self._finished = 0, list[Event]()
        self._seen: dict[tuple[str, int], int] = {}
        self._begun: dict[tuple[str, int], int] = {}
        self._settled = 0
        self._lines: list[tuple[tuple[str, int, int], Line]] = []

    def lines(self, run: RunRecord, source: Source) -> list[Line]:
        self._take_run(run)
        made = tallied(source.digests())
        # A pass is read only while it has more entries than were taken in; of those that are over it has all.
        new = [d for d in made[self._settled :] if d.entries > self._seen.get((d.phase, d.number), 0)]
        for phase, digests in groupby(new, key=lambda digest: digest.phase):
            passes = {record.brief.number: record for record in source.passes(phase)}
            for digest in digests:
                self._take_pass(passes.get(digest.number), digest)
        self._settled = made.settled
        for ending in source.completions():
            self._take_completion(ending)
        if self._most is not None:
            del self._lines[: -self._most]
        return [line for _, line in self._lines]

    def _take_run(self, run: RunRecord) -> None:
        for number, entry in enumerate(run.entries[self._read :], start=self._read):
            match entry.event:
                case PhaseStarted(brief=brief):
                    self._begun[brief.phase.id, brief.number] = number
                case CompletionStarted(brief=brief):
                    self._begun[COMPLETION, brief.number] = number
            self._add(number, 0, run_lines(entry, self._cycles))
            self._cycles.hear(entry.event)
            self._add(number, 0, _batch_lines(run, number))
            if isinstance(entry.event, PhaseFinished):
                self._finished.append(entry.event)
                self._add(number, 0, _stamped(entry, entry.event, self._finished))
        self._read = len(run.entries)

    def _take_pass(self, record: PhaseRecord | None, digest: PassDigest) -> None:
        key = (digest.phase, digest.number)
        for number in range(self._seen.get(key, 0), len(record.entries) if record else 0):
            assert record is not None
            self._add(self._begun[key], number + 1, pass_lines(record, number))
        self._seen[key] = digest.entries

    def _take_completion(self, record: PhaseRecord) -> None:
        key = (COMPLETION, record.brief.number)
        for number in range(self._seen.get(key, 0), len(record.entries)):
            self._add(self._begun[key], number + 1, _completion_lines(record, number))
        self._seen[key] = len(record.entries)

    def _add(self, began: int, number: int, lines: Iterable[Line]) -> None:
        for line in lines:
            insort_right(self._lines, ((line["timestamp"], began, number), line), key=lambda held: held[0])


def run_lines(entry: Entry, cycles: Cycles) -> Iterator[Line]:
    event = entry.event
    if isinstance(event, Noted):
        yield _line(entry.at, event.phase, event.step, event.event, event.details)
        return
    tell = _TOLD.get(type(event))
    if tell is not None:
        phase, told = tell(event, cycles)
        for name, details in told:
            yield _line(entry.at, phase, None, name, details)


def pass_lines(record: PhaseRecord, number: int) -> Iterator[Line]:
    """The lines of one entry of a pass."""
    entry = record.entries[number]
    match entry.event:
        case StepStarted(step=step, task=task, n=n):
            details = {"n": n} if task is None else {"n": n, "task": task}
            yield _line(entry.at, record.phase.id, step, "step_started", details)
        case StepFinished() as done:
            earlier = (e.event.commit for e in reversed(record.entries[:number]) if isinstance(e.event, StepFinished))
            told = (*_work_told(done), *_step_told(done, next(earlier, record.brief.base)))
            for name, details in (*_deferral_told(done, record, number), *told):
                yield _line(entry.at, record.phase.id, done.step, name, details)


def _stamped(entry: Entry, event: PhaseFinished, finished: Sequence[Event]) -> Iterator[Line]:
    """INTG-05a to INTG-05c: what the scores of the run so far, this one the newest, give to think of."""
    told = alert(completed(finished)) if isinstance(event.verdict, Advance) else None
    if told is not None:
        details = {"message": told.message, "min": told.lowest, "max": told.highest, "count": len(told.phases)}
        yield _line(entry.at, event.outcome.phase, None, told.event, {**details, "phases": list(told.phases)})


def _batch_lines(run: RunRecord, n: int) -> Iterator[Line]:
    """CMPL-04g: when the phases of a `--complete` run are over; what follows them changes none of it."""
    entry = run.entries[n]
    if not run.start.settings.modes.complete or not isinstance(entry.event, RunFinished | CompletionStarted):
        return
    known = RunRecord(entries=run.entries[: n + 1])
    if isinstance(entry.event, CompletionStarted) or not known.completing:
        figures = batch_figures(known)
        yield _line(entry.at, None, None, "batch_completion_report", batch_details(figures))


def batch_details(figures: BatchFigures) -> dict[str, Any]:
    return {
        "phases_attempted": len(figures.attempted),
        "phases_succeeded": len(figures.succeeded),
        "phases_failed": len(figures.failed),
        "phases_skipped": len(figures.skipped),
        "completion_percentage": figures.percentage,
        "report_path": ".autopilot/completion-report.md",
    }


def _completion_lines(record: PhaseRecord, number: int) -> Iterator[Line]:
    """The steps behind the last phase belong to no phase."""
    for step, name, details in completion_told(record, number):
        yield _line(record.entries[number].at, None, step, name, details)


def _line(at: str, phase: str | None, step: str | None, event: str, details: dict[str, Any]) -> Line:
    return {"timestamp": at, "phase": phase, "step": step, "event": event, "details": details}


def _work_told(done: StepFinished) -> Told:
    """A task is told as completed or failed once, when it is over."""
    match done.result:
        case Executed(work=work) | Fixed(work=work):
            if isinstance(done.result, Fixed):
                yield "task_retried", {"task": work.task}
            if isinstance(done.verdict, Advance) and not succeeded(done):
                yield "task_failed", {"task": work.task, "because": done.verdict.because}
        case MiniVerified(task=task) if isinstance(done.verdict, Advance):
            if succeeded(done):
                yield "task_completed", {"task": task, "commit": done.commit}
            else:
                yield "task_failed", {"task": task, "because": done.verdict.because}


def _deferral_told(done: StepFinished, record: PhaseRecord, number: int) -> Told:
    """STAT-03: names the tasks that were to be left to a person."""
    if isinstance(done.verdict, Retry) and done.verdict.because.startswith(REJECTED):
        tasks = for_a_person(replace(record, entries=record.entries[: number + 1]))
        named = "; ".join(f"{task.id} {task.title}" for task in tasks)
        yield "unnecessary_deferral_warning", {"reason": REJECTED, "task": named}


def _step_told(done: StepFinished, commit: str) -> Told:
    if isinstance(done.result, Debugged):
        yield "debug_attempt", {"changes": list(done.result.claim.changes), **_categories(done.result)}
    if isinstance(done.result, Rated) and isinstance(done.verdict, Retry) and done.verdict.step != "verify":
        yield "replan_attempt", {"score": done.result.score, "because": done.verdict.because}
    if done.commit != commit:
        yield "checkpoint_written", {"sha": done.commit}
    details = {"n": done.n, "seconds": round(done.seconds, 3), "verdict": tag_of(done.verdict)}
    if why := _why(done.verdict):
        details["because"] = why
    if isinstance(done.result, Unanswered):
        details |= {"role": done.result.role, "outcome": done.result.outcome}
    yield "step_completed" if succeeded(done) else "step_failed", {**details, **_categories(done.result)}


def _categories(result: StepResult) -> dict[str, Any]:
    """MTRC-01a counts these over the log."""
    match result:
        case Verified() as seen:
            found = failure_categories(seen)
        case Fixed(claim=claim) | Debugged(claim=claim):
            found = claim.failure_categories
        case _:
            return {}
    return {"failure_categories": [{"failure": c.failure, "category": c.category} for c in found]} if found else {}


def _why(verdict: Verdict) -> str:
    match verdict:
        case AskHuman(question=question):
            return question
        case Advance(because=because) | Retry(because=because) | Stop(because=because):
            return because


def _started(event: PhaseStarted, cycles: Cycles) -> tuple[str | None, Told]:
    return event.brief.phase.id, cycles.begun(event.brief)


def _finished(event: PhaseFinished, cycles: Cycles) -> tuple[str | None, Told]:
    return event.outcome.phase, _finish_told(event, cycles)


def _finish_told(event: PhaseFinished, cycles: Cycles) -> Told:
    """A phase is told as completed or failed once, when no remediation follows (AMB-42)."""
    outcome = event.outcome
    details = {"status": outcome.status, "alignment_score": outcome.alignment_score, "reason": outcome.reason}
    yield from cycles.ended(event, details)
    if outcome.rollback:
        span = {"phase_id": outcome.phase, "from": outcome.rollback_from, "to": outcome.rollback_to}
        yield "rollback_initiated", {**span, "reason": outcome.reason}
        yield "rollback_completed", {**span, "diagnostic_branch": outcome.diagnostic_branch}
    match event.verdict:
        case Stop():
            yield "phase_failed", details
        case Advance() | AskHuman():
            yield "phase_completed", details


def _skipped(event: PhaseSkipped, _: Cycles) -> tuple[str | None, Told]:
    details: dict[str, Any] = {"phase_id": event.phase, "reason": event.reason}
    if event.blocking_phase is not None:
        details["blocking_phase"] = event.blocking_phase
    else:
        details["original_run_timestamp"] = event.original_run_timestamp
    return event.phase, iter([("phase_skipped", details)])


def _verdict_given(event: VerdictGiven, _: Cycles) -> tuple[str | None, Told]:
    """STAT-05b."""
    details = {"phase_id": event.phase, "verdict": event.verdict, "issues": list(event.issues)}
    return event.phase, iter([("human_verdict_recorded", details)])


def _run_started(event: RunStarted, _: Cycles) -> tuple[str | None, Told]:
    details = {"run": event.run, "phases": list(event.targets), "spec_hash": f"sha256:{event.spec.sha256}"}
    return None, iter([*((asked.event, asked.details) for asked in event.consulted), ("run_started", details)])


def _run_resumed(event: RunResumed, cycles: Cycles) -> tuple[str | None, Told]:
    return None, _resumed_told(event, cycles)


def _resumed_told(event: RunResumed, cycles: Cycles) -> Told:
    """AMB-23: a specification that changed while nobody worked is locked anew, and that is told."""
    locked = f"sha256:{event.spec.sha256}"
    yield "run_resumed", {"pid": event.pid, "spec_hash": locked}
    if cycles.spec and cycles.spec != event.spec:
        old = f"sha256:{cycles.spec.sha256}"
        yield "spec_relocked", {"path": event.spec.path, "old_hash": old, "new_hash": locked}


def _completed(event: CompletionFinished, _: Cycles) -> tuple[str | None, Told]:
    return None, audit_told(event)


def _run_stopped(event: RunStopped, _: Cycles) -> tuple[str | None, Told]:
    return None, iter([*_opened(event), ("run_halted", {"reason": event.reason, "exit_code": event.exit_code})])


def _opened(event: RunStopped | RunFinished) -> Told:
    if event.brake:
        yield "circuit_breaker_opened", {"brake": event.brake, "reason": event.reason}


def _run_finished(event: RunFinished, _: Cycles) -> tuple[str | None, Told]:
    name = "run_completed" if event.status == "completed" else "run_halted"
    details = {"status": event.status, "reason": event.reason, "exit_code": event.exit_code}
    return None, iter([*_opened(event), (name, details)])


_TOLD: Mapping[type, Callable[[Any, Cycles], tuple[str | None, Told]]] = {
    RunStarted: _run_started,
    RunResumed: _run_resumed,
    PhaseStarted: _started,
    PhaseFinished: _finished,
    PhaseSkipped: _skipped,
    VerdictGiven: _verdict_given,
    CompletionFinished: _completed,
    RunStopped: _run_stopped,
    RunFinished: _run_finished,
}
