"""The rules of triage, judge and remediation that gates enforce, whatever anybody says."""

from typing import Any

import pytest
from hypothesis import given

from autopilot.domain.answers import JudgeOpinion
from autopilot.domain.results import Triaged
from autopilot.domain.verdict import Advance, Retry, Stop, Verdict
from autopilot.gates import after_divergence, after_judge, after_triage
from autopilot.gates.after_divergence import DivergenceFacts, DivergenceOpinions
from autopilot.gates.after_judge import JudgeFacts, JudgeOpinions
from autopilot.gates.after_triage import TriageFacts
from autopilot.gates.rules import Claims, Opinions
from support.records import Story, brief, plan, ran
from support.strategies import edge_values


def judge(*concerns: str) -> JudgeOpinions:
    opinion = JudgeOpinion(recommendation="proceed", concerns=concerns, independent_evidence=("a.py:1",))
    return JudgeOpinions(judge=opinion)


@pytest.mark.parametrize(("rejected", "kind"), [(0, Retry), (1, Stop)], ids=["once more", "no more"])
def test_judg_02_a_judgement_without_a_concern_is_rejected(rejected: int, kind: type[Verdict]) -> None:
    facts = JudgeFacts(rejected=rejected)

    assert isinstance(after_judge.GATE.judge(facts, judge(), Claims()), kind)
    assert after_judge.GATE.judge(facts, judge("thin"), Claims()) == Advance()


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("proceed", Advance()),
        ("debug", Retry(step="debug", because="c")),
        ("rollback", Stop(because="judge recommends rollback: c", rollback=True)),
        ("halt", Stop(because="judge recommends halt: c", rollback=True)),
    ],
)
def test_judg_07_the_judge_s_word_leads_on(word: Any, verdict: Verdict) -> None:
    said = DivergenceOpinions(first="proceed", second=word, concerns=("c",), independent=True)

    assert after_divergence.GATE.judge(DivergenceFacts(debugs_left=1), said, Claims()) == verdict


@given(edge_values(TriageFacts))
def test_trge_07_triage_cannot_fail(facts: TriageFacts) -> None:
    assert isinstance(after_triage.GATE.judge(facts, Opinions(), Claims()), Advance)


@pytest.mark.parametrize("routing", ["full_pipeline", "verify_only"])
def test_remd_01_a_remediation_goes_straight_to_execution(routing: Any) -> None:
    told = Story(brief(cycle=1, plan=plan(), feedback=("greet",)))
    told.step("triage", Triaged(routing=routing, source="plan", checks=(ran(),)))

    assert after_triage.GATE.decide(told.record) == Advance(to="execute", because="remediation")
