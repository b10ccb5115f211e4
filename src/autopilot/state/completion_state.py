"""The end of a run in state.json: the events of the self-audit, and what integration, audit and version came to."""

from collections.abc import Iterator
from typing import Any

import msgspec

from autopilot.domain.events import CompletionFinished, StepFinished, StepStarted
from autopilot.domain.results import Audited, Bumped, Gap, Integrated, Mended, Unanswered
from autopilot.domain.value import tag_of
from autopilot.domain.verdict import Advance, Stop
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.policy.audit_gaps import covers, fix_commits

Told = Iterator[tuple[str, dict[str, Any]]]
_COUNTS = (
    "total_requirements_checked", "passed_on_first_check", "gaps_found", "gaps_fixed", "gaps_remaining", "audit_cycles",
)  # fmt: skip
_STORED = (*_COUNTS, "remaining_gap_details", "fix_commits")


def completion_told(record: PhaseRecord, n: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The lines of one entry of the run's end, each with its step."""
    match record.entries[n].event:
        case StepStarted(step=step, n=number):
            if step == "audit" and number == record.brief.earlier.get(step, 0) + 1:
                details = {"phases_to_audit": list(covers(record)), "spec_path": record.start.spec.path}
                yield step, "self_audit_started", details
            yield step, "step_started", {"n": number}
        case StepFinished() as done:
            before = msgspec.structs.replace(record, entries=record.entries[:n])
            for name, details in (*_audit_lines(done, before), *_step_lines(done)):
                yield done.step, name, details
        case _:
            return


def _audit_lines(done: StepFinished, before: PhaseRecord) -> Told:
    """AUDT-06 and AUDT-09: a gap is told when it is first found, and once more when an audit finds it closed."""
    if not isinstance(done.result, Audited):
        return
    known = {gap.requirement_id: gap for audit in before.results(Audited) for gap in audit.gaps}
    last, now = before.find(Audited), {gap.requirement_id: gap for gap in done.result.gaps}
    for gap in now.values():
        if gap.requirement_id not in known:
            yield "self_audit_gap_found", _gap(gap)
    for gap in last.gaps if last else ():
        if gap.requirement_id not in now:
            yield "self_audit_gap_fixed", _fixed(gap, before)


def _gap(gap: Gap) -> dict[str, Any]:
    return {
        "requirement_id": gap.requirement_id,
        "phase_id": gap.phase_id,
        "gap_description": gap.gap_description,
        "fix_complexity": gap.fix_complexity,
    }


def _fixed(gap: Gap, before: PhaseRecord) -> dict[str, Any]:
    own = fix_commits(before, gap)
    return {
        "requirement_id": gap.requirement_id,
        "phase_id": gap.phase_id,
        "fix_commit": own[-1] if own else None,
        "re_verified": True,
    }


def _step_lines(done: StepFinished) -> Told:
    details: dict[str, Any] = {"n": done.n, "seconds": round(done.seconds, 3), "verdict": tag_of(done.verdict)}
    if isinstance(done.verdict, Stop):
        details["because"] = done.verdict.because
    match done.result:
        case Unanswered(role=role, outcome=outcome):
            details |= {"role": role, "outcome": outcome}
        case Mended(gap=gap, route=route):
            details |= {"requirement_id": gap.requirement_id, "route": route}
        case Integrated(commit=commit) | Audited(commit=commit):
            details |= {"commit": commit}
        case Bumped(version=version):
            details |= {"version": version}
        case _:
            pass
    if isinstance(done.result, Mended | Bumped) and isinstance(done.verdict, Advance):
        yield "checkpoint_written", {"sha": done.commit}
    yield "step_completed" if isinstance(done.verdict, Advance) else "step_failed", details


def audit_told(event: CompletionFinished) -> Told:
    """AUDT-11."""
    if event.self_audit is not None:
        yield "self_audit_completed", {name: getattr(event.self_audit, name) for name in _COUNTS}


def completion_state(run: RunRecord) -> dict[str, Any]:
    """AUDT-12 and AMB-24; nothing for a run that has no such end."""
    done = run.completion
    if done is None:
        return {}
    audit = done.self_audit
    stored = {name: msgspec.to_builtins(getattr(audit, name)) for name in _STORED} if audit else None
    return {
        "integration": done.integration,
        "self_audit": stored,
        "version": done.version or None,
    }
