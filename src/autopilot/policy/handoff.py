"""An executor that ran out of context: what is handed over to the next pass (CTXE-01). Pure."""

import msgspec

from autopilot.domain.answers import FixClaim, WorkClaim
from autopilot.domain.results import Unanswered
from autopilot.domain.verdict import Stop
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import task_states

EXHAUSTED = "context_exhausted"
SAVED = "context_exhaustion: partial progress saved to HANDOFF.md"
EXECUTORS = frozenset({"execute", "fix"})
REPORTED = "context_exhaustion"


def ran_dry(step: str, outcome: str) -> bool:
    """Whether a silence means that the executor's context was used up: asking again would end the same way."""
    return step in EXECUTORS and outcome == EXHAUSTED


def says_exhausted(answer: msgspec.Struct) -> bool:
    """Whether whoever did the work says it had to stop for want of context. Believed, since it can only cost them."""
    if not isinstance(answer, WorkClaim | FixClaim):
        return False
    return answer.context_exhausted or any(i.strip().startswith(REPORTED) for i in answer.issues_detected)


def handed_over(record: PhaseRecord) -> bool:
    """Whether the pass ended that way and its work waits to be carried on."""
    last = record.finished[-1] if record.finished else None
    if last is None or not isinstance(last.result, Unanswered) or not isinstance(last.verdict, Stop):
        return False
    return ran_dry(last.step, last.result.outcome)


def tasks_done(record: PhaseRecord) -> tuple[str, ...]:
    """What need not be done again: handed over by earlier passes, or accepted in this one."""
    accepted = tuple(task for task, state in task_states(record).items() if state == "verified")
    return (*record.brief.done, *accepted)
