"""Prints one task: the change, our checks, the agent's claim."""

from collections.abc import Iterator

from autopilot.domain.evidence import Work
from autopilot.domain.results import Executed, Fixed, MiniVerified, Verified
from autopilot.domain.verdict import SET_ASIDE, Advance, AskHuman, Retry, Verdict
from autopilot.policy.facts.tamper_rules import blockers
from autopilot.policy.task_progress import new_failures
from autopilot.text.clean import clean
from autopilot.views.lines.fact_sentences import ended, failing, says_done, summary_of

_MOST_FILES = 10


def of_work(result: Executed | Fixed, verdict: Verdict, label: str) -> Iterator[str]:
    """Lines without their `[Phase N] ` mark. Work that goes on to its review is not called anything yet."""
    work, name = result.work, label.partition(" (")[0]
    yield from _changes(work, name)
    yield from _gates(work, name)
    if isinstance(verdict, Advance) and verdict.to == "mini_verify":
        return
    failed = failing(work)
    more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
    noticed = blockers(work.findings)
    reason = f"{ended(failed[0])}{more}" if failed and not noticed else complaint_of(verdict)
    yield f"{label}: FAILED -- {reason}"
    if says_done(result.claim):
        yield f"{name}: the agent reported success; {reason}"


def accepted(result: MiniVerified, verdict: Verdict) -> bool:
    """A task set aside also advances, but then the gate says why; one that holds advances without a word."""
    return isinstance(verdict, Advance) and not verdict.because and result.opinion.passed


def of_review(result: MiniVerified, verdict: Verdict, phase: str, label: str) -> Iterator[str]:
    if accepted(result, verdict):
        yield f"[Phase {phase}] {label}: VERIFIED"
        if isinstance(verdict, Advance) and verdict.to == "execute":
            yield f"Task {clean(result.task, 40)} VERIFIED. Proceeding to next task."
    elif isinstance(verdict, Retry) and verdict.step == "mini_verify":
        yield f"[Phase {phase}] {label}: review rejected, asking again -- {complaint_of(verdict)}"
    else:
        yield f"[Phase {phase}] {label}: FAILED -- {complaint_of(verdict)}"


def complaint_of(verdict: Verdict) -> str:
    because = verdict.question if isinstance(verdict, AskHuman) else verdict.because
    return clean(because.removeprefix(SET_ASIDE)) or "no reason was given"


def _changes(work: Work, name: str) -> Iterator[str]:
    files = work.change.files
    for file in files[:_MOST_FILES]:
        yield f"{name}: modifying {clean(file.path)}"
    if len(files) > _MOST_FILES:
        yield f"{name}: modifying {len(files) - _MOST_FILES} more files"


def _gates(work: Work, name: str) -> Iterator[str]:
    new = {run.check for run in new_failures(work.gates_before, work.gates_after)}
    for run in work.gates_after:
        if run.passed:
            yield f"{name}: {clean(run.check, 40)} PASS"
        else:
            old = "" if run.check in new else " (it failed before this task too)"
            yield f"{name}: {clean(run.check, 40)} FAIL -- {summary_of(run)}{old}"


MOST = 3
SHOWN = 160


def of_pages(result: Verified, *, called_fixed: bool) -> Iterator[str]:
    """Nothing where nobody looked."""
    seen = result.visual
    if seen is None:
        return
    if seen.skipped:
        yield f"VERIFY: {clean(seen.skipped, SHOWN)}"
        return
    bad = seen.blocking
    for issue in bad[:MOST]:
        yield f"VERIFY FAIL -- {clean(issue.told, SHOWN)}"
    if len(bad) > MOST:
        yield f"VERIFY FAIL -- and {len(bad) - MOST} more"
    if bad and called_fixed:
        yield f"VERIFY: the debugging agent reported it fixed; the browser shows a {clean(bad[0].told, SHOWN)}"
    if not bad:
        yield f"VERIFY: {counted(result)}"


def counted(result: Verified) -> str:
    """2/3 pages look right."""
    seen = result.visual
    return f"{seen.routes_passed}/{seen.routes_tested} pages look right" if seen and seen.routes_tested else ""
