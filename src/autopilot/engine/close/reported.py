"""What the issues of a pass say beside its failures: what agents came across, and what was odd about their answers."""

from collections.abc import Iterator

from autopilot.domain.events import AgentAnswered, StepFinished
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
    Verified,
)
from autopilot.history.record import PhaseRecord

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
