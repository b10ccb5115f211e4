"""What the run makes of a finished pass: on to the next phase, remediate, wait for a person, or count it failed."""

from typing import Literal

from autopilot.domain.record import PassEnd
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.gates.after_rate import MIN_SCORE
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule


class PhaseFacts(Facts, frozen=True, kw_only=True):
    status: Literal["completed", "failed", "needs_human_verification", "split_request"]
    reason: str
    cycles_left: int
    completed_before: bool
    threshold: float


class PhaseOpinions(Opinions, frozen=True, kw_only=True):
    score: float | None = None


def gather(end: PassEnd) -> Evidence[PhaseFacts, PhaseOpinions, Claims]:
    facts = PhaseFacts(
        status=end.outcome.status,
        reason=end.outcome.reason,
        cycles_left=end.cycles_limit - end.cycle,
        completed_before=end.completed_before,
        threshold=end.threshold,
    )
    return Evidence(facts, PhaseOpinions(score=end.outcome.alignment_score), Claims())


def completed(f: PhaseFacts) -> bool:
    return f.status == "completed"


def score(o: PhaseOpinions) -> float:
    return -1.0 if o.score is None else o.score


def go_on(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return Advance()


def wait(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return AskHuman(question=f.reason)


def remediate(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return Retry(step="remediate", because=f"score {o.score} below threshold {f.threshold}")


def split(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return Retry(step="split", because=f.reason)


def mark_incomplete(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return Advance(because="force_incomplete")


def fail(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return Stop(because=f.reason)


def high(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> bool:
    return completed(f) and score(o) >= max(f.threshold, MIN_SCORE)


def middling(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> bool:
    """Worth mending: it completed, but below the bar; or a remediation failed and the pass before it still stands."""
    return (completed(f) and score(o) >= MIN_SCORE) or f.completed_before


GATE = Gate(
    name="after_phase",
    question="What does the run make of a finished pass?",
    gather=gather,
    rules=(
        Rule("it waits for a person", lambda f, o, c: f.status == "needs_human_verification", wait),
        Rule("it is too big for one pass", lambda f, o, c: f.status == "split_request", split),
        Rule("completed at or above the threshold", high, go_on),
        Rule(
            "below the threshold, a cycle remains", lambda f, o, c: middling(f, o, c) and f.cycles_left > 0, remediate
        ),
        Rule("below the threshold, cycles used up", middling, mark_incomplete),
        Rule("otherwise", lambda f, o, c: True, fail),
    ),
    kinds=(PhaseFacts, PhaseOpinions, Claims),
)
