"""The gate behind a pass, played against itself: whatever scores come, every loop ends and fails nothing."""

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.rework import GAP_ITERATIONS, QUALITY_CYCLES
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.gates.after_phase import GATE, PhaseFacts, PhaseOpinions
from autopilot.gates.rules import Claims
from autopilot.history.record import PassEnd
from support.strategies import edge_values

SCORES = st.one_of(st.none(), st.sampled_from([6.9, 7.0, 8.0, 9.0, 9.4, 9.5, 9.7, 9.8, 10.0]))
Loop = Literal["standard", "quality", "gaps"]


def outcome(score: float | None, **more: Any) -> PhaseOutcome:
    status = "failed" if score is None else "completed"
    return PhaseOutcome(
        **{"phase": "1", "status": status, "reason": "why", "commit": "c", "alignment_score": score, **more}
    )


def judged(score: float | None, loop: Loop = "standard", turn: int = 0, **more: Any) -> Verdict:
    fields: dict[str, Any] = {"cycles_left": 1, "threshold": 9.0, "completed_before": False, **more}
    given_outcome = fields.pop("outcome", outcome(score))
    return GATE.decide(PassEnd(outcome=given_outcome, loop=loop, turn=turn, **fields))


@pytest.mark.parametrize(
    ("ended", "more", "wanted"),
    [
        pytest.param(outcome(9.0), {}, Advance(), id="GATE-01 at the threshold"),
        pytest.param(outcome(8.9), {}, Retry(step="remediate", because="score 8.9 below threshold 9.0"), id="GATE-02, CENF-01d"),
        pytest.param(outcome(8.9, status="needs_human_verification"), {}, AskHuman(question="why"), id="GATE-03"),
        pytest.param(outcome(None), {}, Stop(because="why"), id="GATE-05 failed"),
        pytest.param(outcome(None, recommendation="rollback"), {}, Stop(because="why", rollback=True), id="GATE-07"),
        pytest.param(outcome(None), {"cycles_left": 2}, Stop(because="why"), id="GATE-08 never again by itself"),
        pytest.param(outcome(6.9), {}, Stop(because="why"), id="GATE-10, AMB-15 completed below seven"),
        pytest.param(outcome(9.9, recommendation="debug"), {}, Stop(because="why"), id="GATE-10 not to proceed"),
        pytest.param(outcome(9.9, recommendation="rollback"), {}, Stop(because="why", rollback=True), id="AMB-35"),
        pytest.param(outcome(8.0), {"threshold": 7.0, "cycles_left": 0}, Advance(), id="CENF-04a lenient passes at once"),
    ],
)  # fmt: skip
def test_the_table_for_a_first_pass(ended: PhaseOutcome, more: dict[str, Any], wanted: Verdict) -> None:
    assert judged(None, outcome=ended, **more) == wanted


@pytest.mark.parametrize(
    ("score", "loop", "more", "wanted"),
    [
        pytest.param(8.0, "standard", {"cycles_left": 0}, Advance(because="force_incomplete"), id="CENF-03a"),
        pytest.param(9.2, "quality", {}, Retry(step="quality", because="score 9.2 below threshold 9.5"), id="QUAL-02"),
        pytest.param(9.5, "quality", {}, Advance(), id="QUAL-08 reached"),
        pytest.param(9.0, "quality", {}, Advance(because="quality_exhausted"), id="QUAL-09 no improvement"),
        pytest.param(None, "quality", {}, Advance(because="quality_exhausted"), id="AMB-37 a cycle that failed"),
        pytest.param(9.2, "quality", {"cycles_left": 0}, Advance(because="quality_exhausted"), id="QUAL-10 used up"),
        pytest.param(9.0, "quality", {"gaps_open": 2}, Retry(step="gaps", because="quality_exhausted"), id="FLAG-05"),
        pytest.param(9.7, "quality", {"gaps_open": 2}, Retry(step="gaps", because="quality target reached"), id="AMB-05"),
        pytest.param(9.8, "quality", {"gaps_open": 2}, Advance(), id="AMB-05 negligible"),
        pytest.param(9.0, "gaps", {}, Retry(step="gaps", because="score 9.0 below threshold 9.5"), id="GAPS-10 next one"),
        pytest.param(9.5, "gaps", {}, Advance(), id="GAPS-10 reached"),
        pytest.param(9.4, "gaps", {"cycles_left": 0}, Advance(because="gaps_exhausted"), id="GAPS-11"),
    ],
)  # fmt: skip
def test_the_table_for_a_pass_that_mends(
    score: float | None, loop: Loop, more: dict[str, Any], wanted: Verdict
) -> None:
    fields = {"threshold": 9.5, "completed_before": True, "stood": 9.0, **more}

    assert judged(score, loop, 1, **fields) == wanted


@given(st.lists(SCORES, min_size=20, max_size=20), st.sampled_from(["quality", "gaps"]), st.booleans())
def test_every_loop_ends_and_never_fails_a_phase_that_stood(scores: list[float | None], loop: Loop, both: bool) -> None:
    """CENF-03a, QUAL-10, GAPS-11: used up is not failed, and the number of cycles is bounded."""
    most = {"quality": QUALITY_CYCLES, "gaps": GAP_ITERATIONS}
    stood, turn, passes, verdict = 9.0, 0, 0, judged(None)
    for score in scores:
        turn, passes = turn + 1, passes + 1
        gaps_open = 9 if both and loop == "quality" else 0
        more = {"cycles_left": most[loop] - turn, "completed_before": True, "stood": stood, "gaps_open": gaps_open}
        verdict = judged(score, loop, turn, threshold=9.5 if stood < 9.5 else 9.8, **more)
        stood = max(stood, score or 0.0)
        if not isinstance(verdict, Retry):
            break
        loop, turn = ("gaps", 0) if verdict.step == "gaps" and loop == "quality" else (loop, turn)
    assert isinstance(verdict, Advance)
    assert passes <= QUALITY_CYCLES + GAP_ITERATIONS


@given(edge_values(PhaseFacts), edge_values(PhaseOpinions))
def test_no_score_below_seven_passes(facts: PhaseFacts, opinions: PhaseOpinions) -> None:
    verdict = GATE.judge(facts, opinions, Claims())

    if facts.satisfied:
        return  # nothing was built, so there is nothing to score; that is no pass
    if isinstance(verdict, Advance) or (isinstance(verdict, Retry) and verdict.step != "split"):
        own = opinions.score if facts.status == "completed" and facts.proceed else None
        earlier = opinions.stood if facts.completed_before else None
        assert max(own or 0.0, earlier or 0.0) >= 7.0
