"""Those who look for what a phase leaves open: what they are told, and what is wrong with their answers."""

from typing import Any

import msgspec
import pytest

from autopilot.domain.answers import DOMAINS, MAP_CATEGORIES, GrayAreasClaim, QuestionsClaim
from autopilot.domain.user_answers import UserAnswer
from autopilot.steps.interview import follow_up, gray_areas, question
from support.asking import LETTER_AREAS, area
from support.records import DIR, SPEC, Story, brief

RECORD = Story(brief(requirements=("REQ-01: A letter.",))).record
SAID = (UserAnswer(question="Which colour?", answer="blue", area="Paper"),)


def one(**more: Any) -> dict[str, Any]:
    return {"question": "Which colour?", "category": "domain", "why_needed": "it is not said", **more}


def issues(**answer: Any) -> list[str]:
    return [objection.issue for objection in question.objections(answer)]


def test_cmap_02_a_questioner_is_told_the_score_and_what_is_known() -> None:
    text = question.prompt(RECORD, 4, "2 criteria, 6 requirements, 2 docs, 10 deps", SAID)

    for told in ("4 of 10 (2 criteria", "- REQ-01: A letter.", SPEC.path, DIR, "- [Paper] Which colour? -> blue"):
        assert told in text


def test_cmap_02b_two_to_five_questions_with_a_reason_each_are_wanted() -> None:
    assert [issues(questions=[one()] * n) for n in (2, 5)] == [[], []]
    assert issues(questions=[one()]) == ["1 questions; two to five are wanted"]
    assert issues(questions=[one()] * 6) == ["6 questions; two to five are wanted"]
    assert issues(questions=[one(), one(why_needed=" ")]) == ["question 2 has no why_needed"]
    assert issues() == ["0 questions; two to five are wanted"]


@pytest.mark.parametrize("category", [*MAP_CATEGORIES, "other", None])
def test_cmap_02c_a_category_is_one_of_six(category: str | None) -> None:
    assert bool(issues(questions=[one(), one(category=category)])) == (category not in MAP_CATEGORIES)


def test_cmap_02b_what_is_still_wrong_after_a_repair_is_rejected() -> None:
    def usable(*told: dict[str, Any]) -> int:
        return len(question.usable(msgspec.convert({"questions": told}, QuestionsClaim)))

    assert [usable(one(), one(why_needed="")), usable(one(), one(), one(category="x")), usable(*[one()] * 7)] == [
        0,
        2,
        5,
    ]


def test_cmap_02d_the_answer_has_the_fields_of_the_rule() -> None:
    told = {"phase_id": "3", "current_score": 4, "questions": [one()], "estimated_score_after": 8}

    assert msgspec.json.decode(msgspec.json.encode(msgspec.convert(told, QuestionsClaim))) == {
        **told, "issues_detected": [],
    }  # fmt: skip


def complaints(*areas: dict[str, Any], domain: str = "READ") -> list[str]:
    return [objection.issue for objection in gray_areas.objections({"domain": domain, "gray_areas": list(areas)})]


def test_disc_02_three_to_five_areas_with_their_questions_are_wanted() -> None:
    """DISC-01: the domain is one of five."""
    assert complaints(*LETTER_AREAS) == []
    assert complaints(*LETTER_AREAS[:2]) == ["2 gray areas; three to five are wanted"]
    assert complaints(*LETTER_AREAS, *LETTER_AREAS) == ["6 gray areas; three to five are wanted"]
    assert complaints(*LETTER_AREAS[:2], area("Stamps on parcels", "Which?")) == [
        "1 questions for the area 'Stamps on parcels'; two to four are wanted"
    ]
    assert complaints(*LETTER_AREAS, domain="BUY") == [f"a domain that is none of {', '.join(DOMAINS)}"]


@pytest.mark.parametrize(
    ("name", "is_generic"),
    [("UI design", True), ("Error handling", True), ("Testing & quality", True), ("", True), ("Greeting of the letter", False), ("Errors of the importer", False)],
)  # fmt: skip
def test_disc_03_an_area_that_fits_any_phase_is_objected_to_and_left_out(name: str, is_generic: bool) -> None:
    areas = (*LETTER_AREAS, area(name, "This?", "Or that?"))
    claim = msgspec.convert({"gray_areas": areas}, GrayAreasClaim)

    assert any("would fit any phase" in told for told in complaints(*areas)) == is_generic
    assert (name in [found.area for found in gray_areas.usable(claim)]) != is_generic


def test_disc_03_nobody_is_asked_to_make_the_phase_bigger() -> None:
    assert "nothing that adds to what the phase is to bring" in " ".join(gray_areas.prompt(RECORD, SAID).split())


def test_disc_06_a_follow_up_knows_area_and_answers_and_asks_two_or_three() -> None:
    asked = follow_up.deeper(RECORD, "Paper", SAID)

    assert "go on about Paper" in asked.prompt
    assert "- [Paper] Which colour? -> blue" in asked.prompt
    assert [len(asked.objections({"questions": ["?"] * n})) for n in range(5)] == [1, 1, 0, 0, 1]
    assert follow_up.closing(RECORD, SAID).objections({"questions": []}) == ()
