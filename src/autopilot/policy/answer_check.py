"""When an answer is not accepted as one: a phase gets one more try for it, over all checks together (AMB-34). Pure."""

from autopilot.domain.answers import VerifyOpinion
from autopilot.domain.phase import Criterion
from autopilot.domain.verdict import Retry
from autopilot.history.record import PhaseRecord
from autopilot.policy.deferral import person_only
from autopilot.policy.score_caps import located

UNSHOWN = "Already-implemented claims lack sufficient evidence."
UNJUSTIFIED = "needs_human_verification returned without structured justification. Re-spawning."
SHOW = "Give in files_checked at least one entry a criterion, each as `path:line -- what stands there`."


def rejected(record: PhaseRecord) -> int:
    """How many answers about the phase were rejected, those of the passes this one mends included."""
    own = sum(isinstance(step.verdict, Retry) and bool(step.verdict.rejects) for step in record.counted)
    return record.brief.rejected + own


def too_shallow(observed: int | None, checks: int, seconds: float, least: float) -> bool:
    """VRFY-03a, AMB-17: seen running nothing, or in too short a time fewer commands than there are criteria."""
    return observed is not None and (observed == 0 or (seconds < least and observed < checks))


def to_show(record: PhaseRecord) -> tuple[str, ...]:
    """RET-08: the criteria that need a place in the code behind them, since no commit of this run met them."""
    brief = record.brief
    if record.commit != brief.base or brief.cycle or brief.done or person_only(record):
        return ()
    planned = (c for task in (record.plan.tasks if record.plan else ()) for c in task.criteria)
    return tuple(dict.fromkeys(map(_named, (*record.phase.criteria, *planned))))


def _named(criterion: Criterion) -> str:
    return criterion.command or criterion.text


def places(opinion: VerifyOpinion | None) -> tuple[str, ...]:
    """INTG-08: what the verifier points to, file and line."""
    if opinion is None:
        return ()
    rows = tuple(f"{row.criterion}: {row.evidence}" for row in opinion.criteria_results if located(row.evidence))
    listed = tuple(dict.fromkeys(entry for entry in opinion.files_checked if located(entry)))
    return max(listed, rows, key=len)
