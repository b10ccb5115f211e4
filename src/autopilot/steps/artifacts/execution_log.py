"""EXECUTION-LOG.md from facts: what was committed, what our commands showed, and what the agent had said (EXEC-04)."""

from autopilot.domain.answers import WorkClaim
from autopilot.domain.evidence import Finding, Work
from autopilot.domain.phase import Task
from autopilot.domain.results import Executed, Fixed, MiniVerified, Primed
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import diff_growing, fixes_of, since_plan, task_base, task_order, task_states
from autopilot.steps.checks.claim_differences import claim_differences
from autopilot.steps.checks.executor_context import NO_MAP
from autopilot.steps.checks.gate_lines import baseline_words, gate_lines, gate_words
from autopilot.steps.execute import run_lines

STATUS = {"verified": "COMPLETED", "failed": "FAILED"}


def artifacts(record: PhaseRecord) -> dict[str, str]:
    works = tuple(s.result.work for s in since_plan(record) if isinstance(s.result, Executed | Fixed))
    if not works:
        return {}
    newest = {work.task: work for work in works}
    parts = [f"# Execution Log: Phase {record.phase.id} -- {record.phase.name}\n"]
    parts += [f"Before the first task: {baseline_words(works[0], record.start.unused)}\n"]
    parts += [log_entry(record, task, newest[task.id]) for task in task_order(record.tasks) if task.id in newest]
    return {log_name(record): "\n".join(parts)}


def log_name(record: PhaseRecord) -> str:
    """A remediation, and a pass that carries on an earlier one's work, have logs of their own."""
    if record.brief.cycle:
        return f"EXECUTION-LOG-R{record.brief.cycle}.md"
    return f"EXECUTION-LOG-H{record.brief.number}.md" if record.brief.done else "EXECUTION-LOG.md"


def log_entry(record: PhaseRecord, task: Task, work: Work) -> str:
    claim = next((r.claim for r in record.results(Executed) if r.work.task == task.id), WorkClaim())
    confidence = "not stated" if claim.confidence is None else f"{claim.confidence:g}/10, as the agent sees it"
    primed = next((r.primed for r in record.results(Executed) if r.work.task == task.id and r.primed), None)
    return "\n".join(
        (
            f"## Task {task.id}: {task.title}",
            *((priming_line(primed),) if primed else ()),
            f"- **Status:** {STATUS.get(task_states(record).get(task.id, ''), 'NEEDS_REVIEW')}",
            f"- **Commit SHA:** {work.change.commit if work.change.files else 'none'}",
            f"- **Pre-task checkpoint:** {task_base(record, task.id)}",
            f"- **Files modified:** {', '.join(f.path for f in work.change.files) or 'none'}",
            f"- **Evidence:**\n{run_lines(work.after)}",
            f"- **Test results:** {sum(r.passed for r in work.after)}/{len(work.after)} commands passed",
            f"- **Confidence:** {confidence}",
            f"- **Gate Results:**\n{gate_lines(work, record.start.settings.commands, record.start.unused)}",
            f"- **Mini-Verification:**\n{mini_verification(record, work)}",
            f"- **Findings:**\n{finding_lines((*work.findings, *claim_differences(record, task.id)))}",
            f"- **The agent's claim:** {claim.tasks_completed or '-'} completed, {claim.tasks_failed or '-'} failed",
            "",
        )
    )


def priming_line(primed: Primed) -> str:
    """EXEC-06: in the entry of the first task only."""
    files = ", ".join(primed.files) or "none there yet"
    compiled = primed.baseline.rstrip(".")
    there = f"; already there: {', '.join(primed.known)}" if primed.known else ""
    known = f"repo-map: {primed.repo_map or NO_MAP}; learnings: {primed.learnings}{there}"
    return f"- **Priming:** PLAN.md; key files: {files}; compile: {compiled}; {known}"


def mini_verification(record: PhaseRecord, work: Work) -> str:
    """PVRF-01g and the records of CORR-01..04."""
    review = next((r for r in reversed(tuple(record.results(MiniVerified))) if r.task == work.task), None)
    reviewed = ("PASS" if review.opinion.passed else "FAIL") if review else "not reached"
    failed = tuple(run.what for run in work.after if not run.passed)
    objections = (
        tuple(f"{r.criterion}: {r.evidence}" for r in review.opinion.criteria_results if r.failed) if review else ()
    )
    lines = (
        ("Result", reviewed),
        ("Criteria checked", str(len(work.after))),
        ("Criteria passed", str(len(work.after) - len(failed))),
        ("Gate validation", gate_words(work)),
        ("Failures", "; ".join((*failed, *objections)) or "none"),
        ("Debug attempts", str(fixes_of(record, work.task))),
        ("Circuit breaker status", breaker(record, work.task)),
        ("Convergence check", convergence(record, work.task)),
    )
    return "\n".join(f"  - **{name}:** {value}" for name, value in lines)


def breaker(record: PhaseRecord, task: str) -> str:
    """`open` while the task may still be mended or was accepted; `tripped` once it was set aside."""
    if task_states(record).get(task) != "failed":
        return "open"
    reason = "diff_growing" if diff_growing(record, task) else "max_attempts"
    return f"tripped ({reason}); rolled back to {task_base(record, task)}"


def convergence(record: PhaseRecord, task: str) -> str:
    """CORR-04: the size of the change before the first and before the second fix."""
    results = (s.result for s in since_plan(record) if isinstance(s.result, Executed | Fixed))
    changes = [result.work.change for result in results if result.work.task == task]
    if len(changes) < 1 + 1:
        return "n/a"
    first, second = (change.added + change.removed for change in changes[:2])
    failed = task_states(record).get(task) == "failed"
    taken = "aborted" if failed and diff_growing(record, task) else "continued"
    return f"total_delta {first} -> {second}, diff_growing {str(second > first > 0).lower()}, {taken}"


def finding_lines(findings: tuple[Finding, ...]) -> str:
    lines = (f"  - {f.severity} {f.rule}: {f.where}: {f.what}{f' ({f.why})' if f.why else ''}" for f in findings)
    return "\n".join(lines) or "  - none"
