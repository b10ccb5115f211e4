"""The event log of state.json: the journal's entries under the names of EVT-01."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from autopilot.domain.completion import COMPLETION
from autopilot.domain.deferral import REJECTED
from autopilot.domain.events import (
    CompletionFinished,
    CompletionStarted,
    Entry,
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
)
from autopilot.domain.record import PhaseRecord, RunRecord
from autopilot.domain.results import Debugged, Executed, Fixed, MiniVerified, Rated, StepResult, Unanswered, Verified
from autopilot.domain.taxonomy import failure_categories
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.journal.projection_completion import audit_told, completion_told
from autopilot.journal.projection_cycles import Cycles
from autopilot.journal.projection_steps import succeeded

Line = dict[str, Any]
Told = Iterator[tuple[str, dict[str, Any]]]


def log_of(run: RunRecord, phases: Mapping[str, tuple[PhaseRecord, ...]]) -> list[Line]:
    """Every line by time; at the same instant a pass's lines stand between its start and its end."""
    waiting = {(id_, record.brief.cycle): record for id_, passes in phases.items() for record in passes}
    lines = list[Line]()
    cycles = Cycles()
    for entry in run.entries:
        lines.extend(run_lines(entry, cycles))
        cycles.hear(entry.event)
        if isinstance(entry.event, PhaseStarted):
            record = waiting.pop((entry.event.brief.phase.id, entry.event.brief.cycle), None)
            lines.extend(pass_lines(record) if record else ())
        if isinstance(entry.event, CompletionStarted):
            record = waiting.pop((COMPLETION, 0), None)
            lines.extend(_completion_lines(record) if record else ())
    return sorted(lines, key=lambda line: line["timestamp"])


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


def pass_lines(record: PhaseRecord) -> Iterator[Line]:
    commit = record.brief.base
    for entry in record.entries:
        match entry.event:
            case StepStarted(step=step, task=task, n=n):
                details = {"n": n} if task is None else {"n": n, "task": task}
                yield _line(entry.at, record.phase.id, step, "step_started", details)
            case StepFinished() as done:
                for name, details in (*_work_told(done), *_step_told(done, commit)):
                    yield _line(entry.at, record.phase.id, done.step, name, details)
                commit = done.commit


def _completion_lines(record: PhaseRecord) -> Iterator[Line]:
    """The steps behind the last phase belong to no phase."""
    for n, entry in enumerate(record.entries):
        for step, name, details in completion_told(record, n):
            yield _line(entry.at, None, step, name, details)


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


def _step_told(done: StepFinished, commit: str) -> Told:
    if isinstance(done.result, Debugged):
        yield "debug_attempt", {"changes": list(done.result.claim.changes), **_categories(done.result)}
    if isinstance(done.result, Rated) and isinstance(done.verdict, Retry) and done.verdict.step != "verify":
        yield "replan_attempt", {"score": done.result.score, "because": done.verdict.because}
    if isinstance(done.verdict, Retry) and done.verdict.because.startswith(REJECTED):
        yield "unnecessary_deferral_warning", {"reason": REJECTED}
    if done.commit != commit:
        yield "checkpoint_written", {"sha": done.commit}
    details = {"n": done.n, "seconds": round(done.seconds, 3), "verdict": type(done.verdict).__name__}
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
    brief = event.brief
    if brief.cycle:
        return brief.phase.id, iter([("remediation_started", cycles.started(brief))])
    details = {"name": brief.phase.name, "position": brief.position, "total": brief.total, "base": brief.base}
    return brief.phase.id, iter([("phase_started", details)])


def _finished(event: PhaseFinished, cycles: Cycles) -> tuple[str | None, Told]:
    return event.outcome.phase, _finish_told(event, cycles)


def _finish_told(event: PhaseFinished, cycles: Cycles) -> Told:
    """A phase is told as completed or failed once, when no remediation follows (AMB-42)."""
    outcome = event.outcome
    details = {"status": outcome.status, "alignment_score": outcome.alignment_score, "reason": outcome.reason}
    if event.cycle:
        yield "remediation_completed", {**details, **cycles.completed(event)}
    if isinstance(event.verdict, Advance) and event.verdict.because == "force_incomplete":
        yield "force_incomplete_marked", cycles.marked(event)
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


def _run_started(event: RunStarted, _: Cycles) -> tuple[str | None, Told]:
    details = {"run": event.run, "phases": list(event.targets), "spec_hash": f"sha256:{event.spec.sha256}"}
    return None, iter([("run_started", details)])


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
    CompletionFinished: _completed,
    RunStopped: _run_stopped,
    RunFinished: _run_finished,
}
