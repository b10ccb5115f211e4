"""How much a run has told of its phases, as a share of one session's context (CTX-03). It is told and stops nothing."""

import msgspec

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import PhaseFinished
from autopilot.history.record import RunRecord
from autopilot.policy.budget import SESSION_TOKENS

LETTERS_A_TOKEN = 4
ADVICE = (
    (70, "Context at ~70%. If approaching limits, verify orchestrator is not reading detailed files directly."),
    (90, "Context at ~90%. Consider writing handoff file for safety. Verify manager-not-worker principle."),
)


def tokens_of(outcome: PhaseOutcome) -> int:
    """What whoever follows the run reads of a pass: its result, never its papers."""
    return len(msgspec.json.encode(outcome)) // LETTERS_A_TOKEN


def share(tokens: int) -> int:
    return min(100, tokens * 100 // SESSION_TOKENS)


def context_pct(run: RunRecord) -> int:
    return share(sum(tokens_of(finished.outcome) for finished in run.of(PhaseFinished)))


def advice(before: int, now: int) -> tuple[str, ...]:
    """What is to be said when the share grows from one number of percent to another."""
    return tuple(text for mark, text in ADVICE if before < mark <= now)
