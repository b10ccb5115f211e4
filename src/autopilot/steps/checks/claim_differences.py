"""Where an agent's account of its work and the facts part ways (EXEC-R1). Told in the log; decides nothing."""

from collections.abc import Iterable, Iterator

from autopilot.domain.answers import WorkClaim
from autopilot.domain.events import AgentAnswered
from autopilot.domain.evidence import CommandRun, Finding, Work
from autopilot.domain.results import Executed, Fixed
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import new_failures, since_plan

SHORTEST_SHA = 7


def claim_differences(record: PhaseRecord, task: str) -> tuple[Finding, ...]:
    """What was said of each try at the task and is not so."""
    found, not_seen = list[str](), list[str]()
    for step in since_plan(record):
        result = step.result
        if not isinstance(result, Executed | Fixed) or result.work.task != task:
            continue
        if isinstance(result, Fixed):
            found += _successes(result.work) if result.claim.fixed else ()
            found += _commits(result.claim.commits, result.work)
        else:
            found += _work_claims(result.claim, result.work)
            claimed = (command for evidence in result.claim.evidence for command in evidence.commands_run)
            not_seen += unseen(claimed, _observed(record, step.step, step.n))
    return (
        *(Finding(rule="claim-differs", where=task, what=w, severity="info") for w in dict.fromkeys(found)),
        *(Finding(rule="not-seen-to-run", where=task, what=w, severity="warning") for w in dict.fromkeys(not_seen)),
    )


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
    return f"`{run.command}` {run.ended}"


def _commits(claimed: tuple[str, ...], work: Work) -> Iterator[str]:
    real = (work.change.commit, work.change.base)
    for sha in claimed:
        known = len(sha) >= SHORTEST_SHA and any(commit.startswith(sha) for commit in real)
        if sha.strip() and not known:
            yield f"names the commit {sha[:40]}, which is not part of the work"


def _observed(record: PhaseRecord, step: str, n: int) -> tuple[str, ...] | None:
    """What the step's agent was seen running; None unless every call of it was watched."""
    call = f"{record.start.run}/{record.phase.id}/{step}/{n}"
    events = (e.event for e in record.history if isinstance(e.event, AgentAnswered))
    calls = [event for event in events if event.call in {call, f"{call}.2"}]
    if not calls or not all(event.observes for event in calls):
        return None
    return tuple(command for event in calls for command in event.commands)


def unseen(claimed: Iterable[str], observed: tuple[str, ...] | None) -> Iterator[str]:
    """Reported commands that were not among those seen; nothing where nobody could watch."""
    for command in dict.fromkeys(c.partition("->")[0].strip(" `") for c in claimed):
        if observed is not None and command and not any(command in ran for ran in observed):
            yield f"says it ran `{command}`, which was not seen to run"
