"""Slips in the shape of an answer: read where their meaning is clear, and never in a way that makes a verdict better."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain import answers
from autopilot.domain.answers import (
    CriterionResult,
    JudgeOpinion,
    PlanClaim,
    RateOpinion,
    TaskOpinion,
    VerifyOpinion,
    WorkClaim,
)
from autopilot.domain.evidence import Claim, Opinion
from autopilot.policy.answer_check import VERDICTS, fitted

KINDS = [
    kind
    for kind in vars(answers).values()
    if isinstance(kind, type) and issubclass(kind, Claim | Opinion) and kind not in {Claim, Opinion}
]
NAMES = sorted({field.encode_name for kind in KINDS for field in msgspec.structs.fields(kind)} | VERDICTS)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=30,
)


def read(kind: type[Any], **fields: Any) -> Any:
    return msgspec.convert(fitted(fields, kind), kind, strict=False)


@pytest.mark.parametrize(
    ("kind", "fields", "name", "value"),
    [
        (WorkClaim, {"tasks_completed": 1}, "tasks_completed", "1"),
        (WorkClaim, {"deviations": "another file"}, "deviations", ("another file",)),
        (WorkClaim, {"confidence": "8"}, "confidence", 8.0),
        (PlanClaim, {"total_tasks": "3", "complexity": ["simple", "two files"]}, "complexity", "simple; two files"),
        (JudgeOpinion, {"recommendation": "halt", "notes": ["a", "b"]}, "notes", "a; b"),
        (VerifyOpinion, {"pass": True, "failures": " "}, "failures", ()),
    ],
)
def test_what_is_clear_is_read(kind: type[Any], fields: dict[str, Any], name: str, value: Any) -> None:
    assert getattr(read(kind, **fields), name) == value


def test_evidence_as_a_list_of_texts_is_one_text_in_a_row_and_what_was_met_in_a_claim() -> None:
    row = {"criterion": "c", "status": "pass", "evidence": ["a.py:1", "b.py:2"]}
    assert read(TaskOpinion, **{"pass": True}, criteria_results=row).criteria_results == (
        CriterionResult(criterion="c", status="pass", evidence="a.py:1; b.py:2"),
    )
    assert [met.criteria_met for met in read(WorkClaim, evidence=["it adds", "it sums"]).evidence] == [
        ("it adds",), ("it sums",)
    ]  # fmt: skip
    scored = read(RateOpinion, scorecard={"criterion": "c", "score": "7.5", "evidence": ["a.py:1"]})
    assert (scored.scorecard[0].score, scored.scorecard[0].evidence) == (7.5, "a.py:1")


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (TaskOpinion, {"pass": ["true"]}),
        (TaskOpinion, {"pass": True, "criteria_results": [{"criterion": "c", "status": ["pass"]}]}),
        (TaskOpinion, {"pass": True, "criteria_results": ["it passes"]}),
        (JudgeOpinion, {"recommendation": ["proceed"]}),
        (RateOpinion, {"alignment_score": [9.9]}),
        (RateOpinion, {"scorecard": [{"criterion": "c", "score": ["10"]}]}),
        (WorkClaim, {"deviations": 7}),
        (WorkClaim, {"tasks_completed": {"done": 1}}),
    ],
)
def test_a_verdict_or_what_is_unclear_is_still_refused(kind: type[Any], fields: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        read(kind, **fields)


def verdicts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        own = [(key, inner) for key, inner in value.items() if key in VERDICTS]
        return own + [found for key, inner in value.items() if key not in VERDICTS for found in verdicts(inner)]
    return [found for item in value for found in verdicts(item)] if isinstance(value, list) else []


@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(NAMES), JSON, max_size=8))
def test_no_verdict_is_ever_touched(kind: type[Any], given_answer: dict[str, Any]) -> None:
    assert verdicts(fitted(given_answer, kind)) == verdicts(given_answer)


@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(NAMES), JSON, max_size=8))
def test_what_could_be_read_before_reads_the_same(kind: type[Any], given_answer: dict[str, Any]) -> None:
    try:
        before = msgspec.convert(given_answer, kind, strict=False)
    except msgspec.ValidationError:
        return
    assert msgspec.convert(fitted(given_answer, kind), kind, strict=False) == before
