"""Computes how an attempt ended from its record."""

from collections.abc import Iterator

from msgspec.structs import replace

from autopilot.domain.attempt import PassEvidence, PhaseOutcome, StepDigest
from autopilot.domain.events import AgentAnswered, StepFinished
from autopilot.domain.evidence import Change, CommandRun
from autopilot.domain.results import (
    Compared,
    Debugged,
    Executed,
    Fixed,
    Judged,
    MiniVerified,
    PlanChecked,
    Planned,
    Preflighted,
    Rated,
    Researched,
    Triaged,
    Verified,
)
from autopilot.domain.verdict import Advance, Retry
from autopilot.engine.decide.next_step import Finish
from autopilot.history.record import PhaseRecord
from autopilot.policy.answer_check import places
from autopilot.policy.caveats import caveats
from autopilot.policy.deferral import justification
from autopilot.policy.facts.behavior_traces import untraced
from autopilot.policy.failure_categories import unclassified, violation
from autopilot.policy.oversize import split_due, split_request
from autopilot.policy.score_caps import band
from autopilot.policy.step_words import step_word
from autopilot.policy.task_progress import auto_tasks, failed_tasks, only_checked, own_debugs, own_replans, task_states

MOST_ISSUES, LONGEST = 20, 300


def reported(record: PhaseRecord) -> tuple[str, ...]:
    return (*looked(record), *oversized(record), *detected(record))


def looked(record: PhaseRecord) -> Iterator[str]:
    """PREF-02, PREF-04: what preflight saw and did not stop for."""
    seen = record.find(Preflighted)
    if seen is not None:
        yield from seen.warnings
        yield from (f"unresolved debug session: {path}" for path in seen.unresolved_debug)


def oversized(record: PhaseRecord) -> Iterator[str]:
    """BUD-02: each agent that said too much."""
    answers = (entry.event for entry in record.history if isinstance(entry.event, AgentAnswered))
    yield from dict.fromkeys(issue for answer in answers for issue in answer.issues)


def detected(record: PhaseRecord) -> tuple[str, ...]:
    """PROM-04: in the agents' own words, each once. They are claims: nothing is decided by them."""
    found = (f"{step.step}: {' '.join(issue.split())[:LONGEST]}" for step in record.finished for issue in _said(step))
    told = tuple(dict.fromkeys(found))
    more = len(told) - MOST_ISSUES
    return (*told[:MOST_ISSUES], *((f"and {more} more issues that agents reported",) if more > 0 else ()))


def _said(step: StepFinished) -> tuple[str, ...]:
    result = step.result
    said: tuple[str, ...] = ()
    if isinstance(result, Researched | Planned | Executed | Fixed | Debugged):
        said = result.claim.issues_detected
    elif isinstance(result, PlanChecked | MiniVerified | Verified | Judged | Compared | Rated) and result.opinion:
        said = result.opinion.issues_detected
    return tuple(issue for issue in said if issue.strip())


OLD_FAILURE = "failed before too"
PROSE = (".md", ".markdown", ".mdx")
STRUCTURED = (
    ".json", ".jsonc", ".json5", ".geojson", ".webmanifest", ".jsonl", ".ndjson", ".toml", ".csv", ".tsv",
)  # fmt: skip


def outcome_of(record: PhaseRecord, finish: Finish) -> PhaseOutcome:
    """RET-01. What an agent claimed has no part in it but to be shown among the issues."""
    rated, verified = record.find(Rated), record.find(Verified)
    states, total = task_states(record), len(auto_tasks(record))
    done = sum(state == "verified" for state in states.values())
    left = caveats(record) if finish.status == "completed" else ()
    reason = f"passed; {'; '.join(left)}" if left else finish.reason
    waits, splits = finish.status == "needs_human_verification", finish.status == "split_request"
    return PhaseOutcome(
        phase=record.phase.id,
        status=finish.status,
        reason=reason,
        commit=record.commit,
        alignment_score=rated.score if rated else None,
        tasks_completed=f"{done}/{total}",
        tasks_failed=f"{len(failed_tasks(record))}/{total}",
        commit_shas=commits(record),
        automated_checks=automated(verified.gates if verified else (), verified.old_failures if verified else ()),
        issues=(*issues(record, finish), *(() if splits else oversize(record))),
        debug_attempts=own_debugs(record),
        replan_attempts=own_replans(record),
        recommendation=recommendation(record, finish),
        summary=f"{finish.status}: {reason}",
        verification_duration_seconds=verified.seconds if verified else 0.0,
        unanchored=not any(c.command for c in record.phase.criteria),
        rollback=finish.rollback,
        pipeline_steps=digests(record),
        human_verify_justification=justification(record) if waits else None,
        deferral_evidence=verified.opinion.deferral_evidence if waits and verified and verified.opinion else (),
        split_details=split_due(record) if splits else None,
        autonomous_confidence=verified.opinion.autonomous_confidence if verified and verified.opinion else None,
        satisfied=finish.status == "completed" and only_checked(record),
        human_tasks=sum(task.type == "checkpoint:human-verify" for task in (record.plan.tasks if record.plan else ())),
        caveats=left,
    )


def oversize(record: PhaseRecord) -> tuple[str, ...]:
    """SPLT-09: a warning; the phase is carried out all the same."""
    split = split_request(record)
    return (f"split_request: {split.reason}; carried out as one phase",) if split else ()


def recommendation(record: PhaseRecord, finish: Finish) -> str:
    """PGAT-05, PGAT-06: what the judge wanted when it was the judge who ended the pass; any other failure halts."""
    if finish.status != "failed":
        return "proceed"
    last = record.finished[-1].result if record.finished else None
    wanted = last.opinion.recommendation if isinstance(last, Judged | Compared) else "halt"
    return "rollback" if wanted == "rollback" else "halt"


def evidenced(outcome: PhaseOutcome, record: PhaseRecord, whole: Change) -> PhaseOutcome:
    """RSLT-01: what we ran ourselves and what the verifier says it ran, beside the pass's whole change."""
    seen = record.find(Verified)
    ours = tuple(run.command for run in (*seen.checks, *seen.gates)) if seen else ()
    ours += content_checks(record, whole) if seen else ()
    said = seen.opinion.commands_run if seen and seen.opinion else ()
    size = f"{len(whole.files)} files changed, {whole.added} insertions(+), {whole.removed} deletions(-)"
    evidence = PassEvidence(
        files_checked=tuple(file.path for file in whole.files) or shown(seen),
        commands_run=tuple(dict.fromkeys((*ours, *said))),
        git_diff_summary=size if whole.files else "",
    )
    return replace(outcome, evidence=evidence)


def unraised(outcome: PhaseOutcome, whole: Change, stood: float | None) -> PhaseOutcome:
    """A second opinion on work that did not change can lower the phase's score, never raise it."""
    score = outcome.alignment_score
    if whole.files or stood is None or score is None or score <= stood:
        return outcome
    note = f"nothing changed since the phase was rated {stood:.1f}: a rating of {score:.1f} does not count"
    return replace(outcome, alignment_score=stood, issues=(*outcome.issues, note))


def shown(seen: Verified | None) -> tuple[str, ...]:
    """RET-08: the places the verifier points to, as far as they are there."""
    return tuple(place for place in places(seen.opinion) if place not in seen.absent) if seen else ()


def content_checks(record: PhaseRecord, whole: Change) -> tuple[str, ...]:
    """STAT-01, AMB-39: what we look at ourselves inside the changed files, by type; a mixed phase by what it has."""
    seen = record.latest(Verified)
    told = (
        ("protocol", "cross-reference check", PROSE, "PTV-01"),
        ("data", "JSON and data validity check", STRUCTURED, "PTV-02"),
    )
    lines = list[str]()
    for kind, name, endings, rule in told:
        files = [file.path for file in whole.files if file.path.lower().endswith(endings) and file.status != "D"]
        if files and record.phase.type in {kind, "mixed"}:
            wrong = sum(finding.rule == rule for finding in seen.content)
            lines.append(f"autopilot: {name} of {', '.join(files)} -> {wrong} findings")
    return tuple(lines)


def set_aside(outcome: PhaseOutcome, record: PhaseRecord, branch: str) -> PhaseOutcome:
    """RBK-03, PFAIL-01: from where to where the line went back, and where the work is kept."""
    if not outcome.rollback:
        return replace(outcome, diagnostic_branch=branch)
    return replace(outcome, rollback_from=record.commit, rollback_to=record.brief.base, diagnostic_branch=branch)


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
    return checks | {run.check: OLD_FAILURE if run.check in old_failures else run.passed for run in gates}


def issues(record: PhaseRecord, finish: Finish) -> tuple[str, ...]:
    failed = (f"task {task} FAILED" for task in failed_tasks(record))
    stopped = (finish.reason,) if finish.status not in {"completed", "split_request"} else ()
    touched = {p for e in record.history if isinstance(e.event, AgentAnswered) for p in e.event.touched}
    planning = (f"planning file touched by an agent: {path}" for path in sorted(touched))
    return (*failed, *stopped, *planning, *warnings(record), *reported(record))


def warnings(record: PhaseRecord) -> tuple[str, ...]:
    """What was wrong with answers that were taken all the same, and failures nobody could place (VRFY-05a)."""
    answers = (s.result for s in record.finished if isinstance(s.result, Verified | Judged | Compared | Rated))
    taken = (issue for answer in answers for issue in answer.issues)
    opinions = (seen.opinion for seen in record.results(Verified) if seen.opinion)
    bare = (failure for o in opinions for failure in unclassified(o.failures, o.failure_categories))
    told = (f"Unclassified failure detected: {failure}." for failure in bare)
    return tuple(dict.fromkeys((*taken, *told, *doubted(record), *shallow(record), *noticed(record))))


def doubted(record: PhaseRecord) -> Iterator[str]:
    """VRFY-12, AMB-34: an answer that was not believed and asked for again."""
    for step in record.finished:
        if isinstance(step.verdict, Retry) and step.verdict.rejects:
            yield step.verdict.because


def shallow(record: PhaseRecord) -> tuple[str, ...]:
    """What a user touches has to be followed to what it does; a verifier that did not is told on."""
    if not untraced(record):
        return ()
    return (f"Verifier did not perform behavioral traces for UI phase {record.phase.id}. Verification may be shallow.",)


def noticed(record: PhaseRecord) -> Iterator[str]:
    """SBOX-03, PTV-01..03: commands that left their bounds, and what is odd in the changed files but does not block."""
    seen = record.find(Verified)
    for run in (*seen.checks, *seen.gates) if seen else ():
        if broken := violation(run):
            yield f"sandbox_violation: `{run.command}` {broken}"
    for finding in (*seen.content, *seen.findings) if seen else ():
        if finding.severity == "warning":
            yield f"{finding.rule}: {finding.where}: {finding.what}"


def digests(record: PhaseRecord) -> dict[str, StepDigest]:
    """RET-04, RET-05: one entry a step of the pipeline."""
    asked = {e.event.call.split("/")[-2] for e in record.history if isinstance(e.event, AgentAnswered)}
    steps = ("preflight", "triage", "research", "plan", "plan_check", "execute", "verify", "judge", "rate")
    return {step: _digest(record, step, agent_spawned=step in asked) for step in steps}


def _digest(record: PhaseRecord, step: str, *, agent_spawned: bool) -> StepDigest:
    if not record.attempts(step):
        return StepDigest(status="skipped", skip_reason=skip_reason(record, step))
    last = next(s for s in reversed(record.finished) if s.step == step)
    status = step_word(record, step, last)
    checked, triaged, rated = record.find(PlanChecked), record.find(Triaged), record.find(Rated)
    if step == "plan_check" and checked and checked.opinion:
        return StepDigest(status=status, agent_spawned=agent_spawned, confidence=checked.opinion.confidence)
    if step == "triage" and triaged:
        return StepDigest(status=status, pass_ratio=round(triaged.pass_ratio, 2))
    if step == "rate" and rated:
        score = rated.score
        return StepDigest(status=status, agent_spawned=agent_spawned, alignment_score=score, score_band=band(score))
    if status == "skipped":
        tries = record.attempts(step)
        unfinished = f"no usable {step} after {tries} {'try' if tries == 1 else 'tries'}"
        return StepDigest(status=status, agent_spawned=agent_spawned, skip_reason=unfinished)
    return StepDigest(status=status, agent_spawned=agent_spawned)


def skip_reason(record: PhaseRecord, step: str) -> str | None:
    """RET-04: why a phase was not researched or planned."""
    if step not in {"research", "plan"}:
        return None
    triage = next((s.verdict for s in record.finished if s.step == "triage"), None)
    return triage.because if isinstance(triage, Advance) and triage.because else "not reached"


def rolled_back(record: PhaseRecord, finish: Finish) -> bool:
    """A pass that failed and has commits to keep aside."""
    return finish.status == "failed" and record.commit != record.brief.base
