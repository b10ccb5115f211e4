"""When work may be left to a person, and with which words (HUM-01..05, STAT-02, STAT-03). Pure."""

import re

from autopilot.domain.answers import Deferral, VerifyOpinion
from autopilot.domain.phase import Task
from autopilot.domain.results import Verified
from autopilot.domain.returns import Justification
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import auto_tasks, task_states

CONFIDENT = 6.0
# STAT-03: what the run says when it does not let a phase wait for somebody to look at it.
REJECTED = (
    "Phase deferred to human with generic visual confirmation but all auto tasks passed. Rejecting deferral -- "
    "re-spawning phase-runner to return 'completed' instead."
)
_GENERIC = re.compile(
    r"\b(?:visual\w*|screenshots?|looks?|looking|appearance|ui review|manual(?:ly)? check\w*)\b", re.IGNORECASE
)
_WORKFLOW = re.compile(
    r"\b(?:\w*flow|transactions?|payments?|purchase|log ?in|sign(?:ing)? ?in|hardware|device|account|e-?mails?|sms|"
    r"credentials?|third[- ]party|real (?!world)\w+)\b",
    re.IGNORECASE,
)


def no_reason(threshold: float) -> str:
    """What a verifier is told who leaves something to a person and names nothing it tried."""
    return (
        "Say with autonomous_confidence (1-10) how sure you are that the work holds without a person. "
        f"Below {threshold:g}, give deferral_evidence [{{criterion, methods_attempted, why_insufficient}}]; "
        "that somebody should look is no reason."
    )


def for_a_person(record: PhaseRecord) -> tuple[Task, ...]:
    return tuple(task for task in record.tasks if task.type != "auto")


def person_only(record: PhaseRecord) -> bool:
    """HUM-04: a plan that has nothing for an agent to do."""
    return bool(record.tasks) and len(for_a_person(record)) == len(record.tasks)


def confident(opinion: VerifyOpinion | None, threshold: float = CONFIDENT) -> bool:
    """HUM-01, HUM-02, STAT-06b: sure enough that no person is needed."""
    return opinion is not None and opinion.autonomous_confidence >= threshold


def specific(opinion: VerifyOpinion | None) -> bool:
    """HUM-01, STAT-03: some criterion was tried and could not be settled, for a reason that is not just its looks."""
    return any(_settles(evidence) for evidence in (opinion.deferral_evidence if opinion else ()))


def generic(opinion: VerifyOpinion | None) -> bool:
    """STAT-03: the only reason given is that somebody should look at it."""
    reasons = [e.why_insufficient.strip() for e in (opinion.deferral_evidence if opinion else ())]
    return any(reasons) and all(only_looks(why) for why in reasons if why)


def _settles(evidence: Deferral) -> bool:
    why = evidence.why_insufficient.strip()
    return bool(evidence.criterion.strip() and evidence.methods_attempted and why) and not only_looks(why)


def only_looks(why: str) -> bool:
    return bool(_GENERIC.search(why)) and not _WORKFLOW.search(why)


def justification(record: PhaseRecord) -> Justification | None:
    """For the first task that waits; None when none does, so that nothing can be deferred without one."""
    waiting, verified = for_a_person(record), record.find(Verified)
    if not waiting:
        return None
    opinion = verified.opinion if verified else None
    return Justification(
        checkpoint_task_id=waiting[0].id,
        task_description=waiting[0].title,
        auto_tasks_passed=sum(state == "verified" for state in task_states(record).values()),
        auto_tasks_total=len(auto_tasks(record)),
        unresolved_criteria=tuple(e.criterion for e in (opinion.deferral_evidence if opinion else ()) if e.criterion),
    )
