"""Where an agent's account of its work and the facts part ways (EXEC-R1). Told in the log; decides nothing."""

from collections.abc import Iterator

from autopilot.domain.answers import WorkClaim
from autopilot.domain.events import AgentAnswered
from autopilot.domain.evidence import CommandRun, Finding, Work
from autopilot.domain.progress import new_failures, since_plan
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Executed, Fixed

SHORTEST_SHA = 7


def claim_differences(record: PhaseRecord, task: str) -> tuple[Finding, ...]:
    """What was said of each try at the task and is not so."""
    found: list[str] = []
    for step in since_plan(record):
        result = step.result
        if not isinstance(result, Executed | Fixed) or result.work.task != task:
            continue
        if isinstance(result, Fixed):
            found += _successes(result.work) if result.claim.fixed else ()
            found += _commits(result.claim.commits, result.work)
        else:
            found += _work_claims(result.claim, result.work)
            found += _commands(result.claim, _observed(record, step.step, step.n))
    return tuple(Finding(rule="claim-differs", where=task, what=what, severity="info") for what in dict.fromkeys(found))


def _work_claims(claim: WorkClaim, work: Work) -> Iterator[str]:
    if claim.tasks_completed.strip() and not claim.tasks_completed.strip().startswith("0"):
        yield from _successes(work)
    met = {met for evidence in claim.evidence for met in evidence.criteria_met}
    for run in work.after:
        if not run.passed and (run.what in met or run.check in met):
            yield f"says the criterion is met, but it is not: {run.what}"
    yield from _commits(tuple(sha for sha in claim.commit_shas or () if sha), work)


def _successes(work: Work) -> Iterator[str]:
    """The commands that failed all the same."""
    for run in (*(r for r in work.after if not r.passed), *new_failures(work.gates_before, work.gates_after)):
        yield f"says it is done, but {_ended(run)}"


def _ended(run: CommandRun) -> str:
    return f"`{run.command}` " + ("was cut off" if run.exit_code is None else f"exited {run.exit_code}")


def _commits(claimed: tuple[str, ...], work: Work) -> Iterator[str]:
    real = (work.change.commit, work.change.base)
    for sha in claimed:
        known = len(sha) >= SHORTEST_SHA and any(commit.startswith(sha) for commit in real)
        if sha.strip() and not known:
            yield f"names the commit {sha[:40]}, which is not part of the work"


def _observed(record: PhaseRecord, step: str, n: int) -> tuple[str, ...]:
    call = f"{record.start.run}/{record.phase.id}/{step}/{n}"
    calls = (e.event for e in record.entries if isinstance(e.event, AgentAnswered))
    return tuple(command for a in calls if a.call in {call, f"{call}.2"} for command in a.commands)


def _commands(claim: WorkClaim, observed: tuple[str, ...]) -> Iterator[str]:
    """Only where the agent's commands could be watched at all."""
    claimed = (command for evidence in claim.evidence for command in evidence.commands_run)
    for command in dict.fromkeys(c.partition("->")[0].strip(" `") for c in claimed):
        if observed and command and not any(command in ran for ran in observed):
            yield f"says it ran `{command}`, which was not seen to run"
