"""
What the run makes of a finished pass: on to the next phase, mend it, wait for a person, or count it failed.

What falls short of its bar is mended in one of three loops: the standard one, or the one a flag asks for. A loop that
comes to its end without reaching the bar never fails the phase: it stands on its best pass.
"""

from typing import Literal

from autopilot.domain.rework import GAPS_EXHAUSTED, NEGLIGIBLE, QUALITY_EXHAUSTED
from autopilot.domain.verdict import ALREADY_SATISFIED, Advance, AskHuman, Retry, Stop, Verdict
from autopilot.gates.after_rate import MIN_SCORE
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule
from autopilot.history.record import PassEnd

REACHED = "quality target reached"
MARKED_DONE = "nothing was built: the roadmap marks the phase as done, and its criteria hold"


class PhaseFacts(Facts, frozen=True, kw_only=True):
    """
    As of `PassEnd`. `proceed` is False when whoever ended the pass wanted anything else.

    `satisfied`: every criterion held before any work. `marked_done`: the roadmap itself says that the phase is done.
    """

    status: Literal["completed", "failed", "needs_human_verification", "split_request"]
    reason: str
    cycles_left: int
    completed_before: bool
    threshold: float
    proceed: bool = True
    rollback: bool = False
    loop: Literal["standard", "quality", "gaps"] = "standard"
    turn: int = 0
    gaps_open: int = 0
    satisfied: bool = False
    marked_done: bool = False


class PhaseOpinions(Opinions, frozen=True, kw_only=True):
    """The score of this pass, and the one the phase stood on before it."""

    score: float | None = None
    stood: float | None = None


def gather(end: PassEnd) -> Evidence[PhaseFacts, PhaseOpinions, Claims]:
    facts = PhaseFacts(
        status=end.outcome.status,
        reason=end.outcome.reason,
        cycles_left=end.cycles_left,
        completed_before=end.completed_before,
        threshold=end.threshold,
        proceed=end.outcome.recommendation == "proceed",
        rollback=end.outcome.recommendation == "rollback",
        loop=end.loop,
        turn=end.turn,
        gaps_open=end.gaps_open,
        satisfied=end.outcome.satisfied,
        marked_done=end.marked_done,
    )
    return Evidence(facts, PhaseOpinions(score=end.outcome.alignment_score, stood=end.stood), Claims())


def completed(f: PhaseFacts) -> bool:
    return f.status == "completed" and f.proceed


def score(o: PhaseOpinions) -> float:
    return -1.0 if o.score is None else o.score


def stands(f: PhaseFacts, o: PhaseOpinions) -> bool:
    """AMB-37: an earlier pass is there to fall back on."""
    return f.completed_before and o.stood is not None and o.stood >= MIN_SCORE


def improved(f: PhaseFacts, o: PhaseOpinions) -> bool:
    return completed(f) and (o.stood is None or score(o) > o.stood)


def go_on(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return Advance()


def leave(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return Advance(because=MARKED_DONE if f.marked_done else ALREADY_SATISFIED)


def wait(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return AskHuman(question=f.reason)


def remediate(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    step = "remediate" if f.loop == "standard" else f.loop
    return Retry(step=step, because=f"score {o.score} below threshold {f.threshold}")


def close_gaps(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return Retry(step="gaps", because=REACHED)


def end_quality(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return Retry(step="gaps", because=QUALITY_EXHAUSTED) if f.gaps_open else Advance(because=QUALITY_EXHAUSTED)


def end_gaps(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return Advance(because=GAPS_EXHAUSTED)


def split(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return Retry(step="split", because=f.reason)


def mark_incomplete(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return Advance(because="force_incomplete")


def roll_back(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return Stop(because=f.reason, rollback=True)


def fail(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> Verdict:
    return Stop(because=f.reason)


def high(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> bool:
    return completed(f) and score(o) >= max(f.threshold, MIN_SCORE)


def middling(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> bool:
    """Worth mending: it completed, but below the bar; or what was to mend it failed, and the pass before stands."""
    return (completed(f) and score(o) >= MIN_SCORE) or stands(f, o)


def goes_further(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> bool:
    """FLAG-05, AMB-05: behind the quality loop come the gaps, up to where they are negligible."""
    return high(f, o, c) and f.loop == "quality" and f.gaps_open > 0 and score(o) < NEGLIGIBLE


def stalled(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> bool:
    """QUAL-09: a quality cycle that did not raise the score, or did not come to one."""
    return middling(f, o, c) and f.loop == "quality" and f.turn > 0 and not improved(f, o)


def mendable(f: PhaseFacts, o: PhaseOpinions, c: Claims) -> bool:
    return middling(f, o, c) and f.cycles_left > 0


GATE = Gate(
    name="after_phase",
    question="What does the run make of a finished pass?",
    gather=gather,
    rules=(
        Rule("the judge wants it undone", lambda f, o, c: f.rollback and not stands(f, o), roll_back),
        Rule("it waits for a person",
             lambda f, o, c: f.status == "needs_human_verification" and not stands(f, o), wait),
        Rule("nothing was built: its criteria held before", lambda f, o, c: completed(f) and f.satisfied, leave),
        Rule("it is too big for one pass", lambda f, o, c: f.status == "split_request", split),
        Rule("at the quality target, gaps are to be closed too", goes_further, close_gaps),
        Rule("completed at or above the threshold", high, go_on),
        Rule("a quality cycle brought no improvement", stalled, end_quality),
        Rule("below the threshold, a cycle remains", mendable, remediate),
        Rule("below the quality target, cycles used up",
             lambda f, o, c: middling(f, o, c) and f.loop == "quality", end_quality),
        Rule("gaps remain, iterations or shortcomings used up",
             lambda f, o, c: middling(f, o, c) and f.loop == "gaps", end_gaps),
        Rule("below the threshold, cycles used up", middling, mark_incomplete),
        Rule("otherwise", lambda f, o, c: True, fail),
    ),
    kinds=(PhaseFacts, PhaseOpinions, Claims),
)  # fmt: skip
