"""A reviewer that repeats another role's conclusions is noticed; one that only names a role is not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.answers import JudgeOpinion, RateOpinion, VerifyOpinion
from autopilot.pipeline import contaminations
from autopilot.steps.checks.contamination import SAFE, WATCHES, PaperHit, hits, in_papers, objections
from support.records import whole


def shaped(field: str, text: str) -> dict[str, Any]:
    """An answer with the text at the field."""
    name, _, rest = field.partition(".")
    value: Any = shaped(rest, text) if rest else text
    return {name.removesuffix("[]"): [value] if name.endswith("[]") else value}


EVERY = [(role, field, phrase) for role, w in WATCHES.items() for field in w.fields for phrase in (w.phrases[0],)]
PHRASES = [(role, phrase) for role, watch in WATCHES.items() for phrase in watch.phrases]


@pytest.mark.parametrize(("role", "field", "phrase"), EVERY)
def test_every_watched_field_is_read(role: str, field: str, phrase: str) -> None:
    found = hits(role, shaped(field, f"Fine, since the {phrase.upper()} so."))

    assert [(hit.phrase, hit.field) for hit in found] == [(phrase, field)]


@pytest.mark.parametrize(("role", "phrase"), PHRASES)
def test_every_phrase_is_found(role: str, phrase: str) -> None:
    assert phrase in {hit.phrase for hit in hits(role, shaped(WATCHES[role].fields[0], f"x {phrase} y"))}


@pytest.mark.parametrize("safe", SAFE)
def test_a_phrase_within_a_safe_context_is_not_a_reference(safe: str) -> None:
    near = f"verifier noted, {safe}"
    far = f"verifier noted{'-' * 20}{safe}"

    assert not hits("judge", {"notes": near})
    assert hits("judge", {"notes": far})


def test_a_reference_beside_a_safe_one_is_still_found() -> None:
    text = "verifier step: verifier noted. " + "-" * 40 + " And the verifier noted that all is well."

    assert [hit.phrase for hit in hits("judge", {"notes": text})] == ["verifier noted"]


@pytest.mark.parametrize(
    ("role", "answer"),
    [
        ("judge_divergence", {"disagreements": ["verifier concluded too early"]}),
        ("judge", {"verifier_missed": ["verifier concluded too early"]}),
        ("execute", {"deviations": ["verifier concluded"]}),
        ("verify", {"failures": "executor claimed, but this is no list"}),
        ("verify", {"criteria_results": [{"evidence": 7}, "executor claimed"]}),
    ],
    ids=["the judge's second call", "verifier_missed", "an executor", "another shape", "other shapes inside"],
)
def test_what_is_exempt_or_holds_no_text_is_not_read(role: str, answer: dict[str, Any]) -> None:
    assert hits(role, answer) == ()


def test_a_hit_reminds_first_and_then_becomes_an_issue() -> None:
    (found,) = objections("verify", {"failures": ["the executor claimed it works"]})

    assert "'executor claimed' in failures[]" in found.reminder
    assert found.issue == "cross_contamination: verifier referenced executor claimed in failures[]"


@pytest.mark.parametrize(("role", "kind"), [("verify", VerifyOpinion), ("judge", JudgeOpinion), ("rate", RateOpinion)])
def test_every_watched_field_is_one_the_role_answers_with(role: str, kind: type) -> None:
    names = {field.partition(".")[0].removesuffix("[]") for field in WATCHES[role].fields}

    assert names <= set(kind.__struct_fields__)  # type: ignore[attr-defined]  # every answer is a struct


@given(st.recursive(st.none() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_no_shape_of_an_answer_breaks_the_search(value: Any) -> None:
    for role, watch in WATCHES.items():
        hits(role, {field.partition(".")[0].removesuffix("[]"): value for field in watch.fields})


PAPER = "# Judge Report\n\nAs I see it.\nFine, as the verifier says; verifier noted it.\n## Divergence Analysis\nverifier found that\n"


def test_vrfy_06_a_report_is_searched_line_by_line_up_to_the_comparison() -> None:
    found = in_papers({"JUDGE-REPORT.md": PAPER, "PLAN.md": "executor reported"})

    assert {(hit.pattern, hit.line) for hit in found} == {("as the verifier", 4), ("verifier noted", 4)}


@pytest.mark.parametrize(
    ("file", "phrase"),
    [("VERIFICATION.md", "executor reported"), ("JUDGE-REPORT.md", "verifier passed"), ("SCORECARD.md", "judge noted")],
)
def test_vrfy_06_each_report_has_its_own_phrases_and_each_is_told_once(file: str, phrase: str) -> None:
    assert in_papers({file: f"x\n{phrase} it\n{phrase} again\n"}) == (PaperHit(file, phrase, 2),)
    assert in_papers({file: f"the verifier step, judge step: {phrase}"}) == ()


def test_vrfy_06_the_reports_of_an_honest_pass_warn_of_nothing() -> None:
    assert contaminations(whole()) == ()
