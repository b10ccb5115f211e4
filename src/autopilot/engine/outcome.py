"""How a pass ended, as the run sees it: computed from the record, never told by anybody."""

from autopilot.domain.deferral import justification
from autopilot.domain.events import AgentAnswered, PhaseOutcome, StepDigest
from autopilot.domain.evidence import CommandRun
from autopilot.domain.oversize import split_request
from autopilot.domain.progress import auto_tasks, debugs, failed_tasks, replans, task_states
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import (
    Compared,
    Debugged,
    Executed,
    Fixed,
    Judged,
    PlanChecked,
    Planned,
    Rated,
    Researched,
    Triaged,
    Verified,
)
from autopilot.domain.scores import band
from autopilot.domain.taxonomy import unclassified
from autopilot.domain.verdict import Advance
from autopilot.engine.decide import Finish


def outcome_of(record: PhaseRecord, finish: Finish) -> PhaseOutcome:
    """RET-01. What an agent claimed has no part in it."""
    rated, verified, compared = record.find(Rated), record.find(Verified), record.find(Compared)
    states, total = task_states(record), len(auto_tasks(record))
    done = sum(state == "verified" for state in states.values())
    waits = finish.status == "needs_human_verification"
    return PhaseOutcome(
        phase=record.phase.id,
        status=finish.status,
        reason=finish.reason,
        commit=record.commit,
        alignment_score=rated.score if rated else None,
        tasks_completed=f"{done}/{total}",
        tasks_failed=f"{len(failed_tasks(record))}/{total}",
        commit_shas=commits(record),
        automated_checks=automated(verified.gates if verified else (), verified.old_failures if verified else ()),
        issues=(*issues(record, finish), *oversize(record)),
        debug_attempts=debugs(record),
        replan_attempts=replans(record),
        recommendation=recommendation(finish, compared),
        summary=f"{finish.status}: {finish.reason}",
        verification_duration_seconds=verified.seconds if verified else 0.0,
        unanchored=not any(c.command for c in record.phase.criteria),
        rollback=finish.rollback,
        pipeline_steps=digests(record),
        human_verify_justification=justification(record) if waits else None,
        deferral_evidence=verified.opinion.deferral_evidence if waits and verified and verified.opinion else (),
        split_details=split_request(record),
    )


def oversize(record: PhaseRecord) -> tuple[str, ...]:
    """SPLT-09: a warning; the phase is carried out all the same."""
    split = split_request(record)
    return (f"split_request: {split.reason}; carried out as one phase",) if split else ()


def recommendation(finish: Finish, compared: Compared | None) -> str:
    if finish.status == "failed":
        return "rollback" if compared and compared.opinion.recommendation == "rollback" else "halt"
    return "proceed"


def commits(record: PhaseRecord) -> tuple[str, ...]:
    """The commits of this pass in the line, oldest first; work replaced by a fix or set aside is not among them."""
    changes = [s.result.work.change for s in record.finished if isinstance(s.result, Executed | Fixed | Debugged)]
    parents = {change.commit: change.base for change in changes if change.files}
    line = [record.commit]
    while line[-1] in parents:
        line.append(parents.pop(line[-1]))
    return tuple(reversed(line[:-1]))


def automated(gates: tuple[CommandRun, ...], old_failures: tuple[str, ...]) -> dict[str, bool | str]:
    checks: dict[str, bool | str] = {"compile": "n/a", "lint": "n/a", "test": "n/a", "build": "n/a"}
    return checks | {run.check: run.passed or run.check in old_failures for run in gates}


def issues(record: PhaseRecord, finish: Finish) -> tuple[str, ...]:
    failed = (f"task {task} FAILED" for task in failed_tasks(record))
    stopped = (finish.reason,) if finish.status != "completed" else ()
    touched = {p for e in record.entries if isinstance(e.event, AgentAnswered) for p in e.event.touched}
    planning = (f"planning file touched by an agent: {path}" for path in sorted(touched))
    return (*failed, *stopped, *planning, *warnings(record))


def warnings(record: PhaseRecord) -> tuple[str, ...]:
    """What was wrong with answers that were taken all the same, and failures nobody could place (VRFY-05a)."""
    answers = (s.result for s in record.finished if isinstance(s.result, Verified | Judged | Rated))
    taken = (issue for answer in answers for issue in answer.issues)
    opinions = (seen.opinion for seen in record.results(Verified) if seen.opinion)
    bare = (failure for o in opinions for failure in unclassified(o.failures, o.failure_categories))
    told = (f"Unclassified failure detected: {failure}." for failure in bare)
    return tuple(dict.fromkeys((*taken, *told, *untraced(record))))


def untraced(record: PhaseRecord) -> tuple[str, ...]:
    """What a user touches has to be followed to what it does; a verifier that did not is told on."""
    seen = record.find(Verified)
    if record.phase.type != "ui" or seen is None or seen.opinion is None or seen.opinion.behavioral_traces:
        return ()
    return (f"Verifier did not perform behavioral traces for UI phase {record.phase.id}. Verification may be shallow.",)


def feedback(record: PhaseRecord) -> tuple[str, ...]:
    """CENF-01f: what a remediation is told, from scorecard, judge and verifier."""
    rated, judged, compared = record.find(Rated), record.find(Judged), record.find(Compared)
    threshold = record.brief.pass_threshold
    rows = rated.opinion.scorecard if rated else ()
    deductions = (f"{row.criterion}: {row.justification or row.evidence}" for row in rows if row.score < threshold)
    concerns = (*(judged.opinion.concerns if judged else ()), *(compared.opinion.verifier_missed if compared else ()))
    seen = record.find(Verified)
    drawn = (issue.told for issue in (seen.visual.counted if seen and seen.visual else ()))
    return tuple(dict.fromkeys((*deductions, *concerns, *drawn)))


def digests(record: PhaseRecord) -> dict[str, StepDigest]:
    """RET-04, RET-05: one entry a step of the pipeline."""
    asked = {e.event.call.split("/")[-2] for e in record.entries if isinstance(e.event, AgentAnswered)}
    steps = ("preflight", "triage", "research", "plan", "plan_check", "execute", "verify", "judge", "rate")
    return {step: _digest(record, step, agent_spawned=step in asked) for step in steps}


def _digest(record: PhaseRecord, step: str, *, agent_spawned: bool) -> StepDigest:
    if not record.attempts(step):
        return StepDigest(status="skipped")
    status = _status(record, step)
    checked, triaged, rated = record.find(PlanChecked), record.find(Triaged), record.find(Rated)
    if step == "plan_check" and checked and checked.opinion:
        return StepDigest(status=status, agent_spawned=agent_spawned, confidence=checked.opinion.confidence)
    if step == "triage" and triaged:
        return StepDigest(status=status, pass_ratio=round(triaged.pass_ratio, 2))
    if step == "rate" and rated:
        score = rated.score
        return StepDigest(status=status, agent_spawned=agent_spawned, alignment_score=score, score_band=band(score))
    return StepDigest(status=status, agent_spawned=agent_spawned)


def _status(record: PhaseRecord, step: str) -> str:
    last = next(s for s in reversed(record.finished) if s.step == step)
    match last.result:
        case Triaged(routing=routing):
            return routing
        case Executed():
            return "partial" if failed_tasks(record) else "completed"
        case Researched() | Planned():
            return "completed"
        case _:
            return "pass" if isinstance(last.verdict, Advance) else "fail"


def rolled_back(record: PhaseRecord, finish: Finish) -> bool:
    """A pass that failed and has commits to keep aside."""
    return finish.status == "failed" and record.commit != record.brief.base
