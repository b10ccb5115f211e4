"""The file of `--answers`, in each of its forms."""

import pytest

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.people import Asked, Batch
from autopilot.planning.start.answers_file import WrittenAnswers, read

TOML = """
[phases.3]
Q1 = "tabs"
2 = "four"

[phases.3.discuss]
areas = ["Layout of cards"]
ideas = ["parcels"]
"Layout of Cards" = ["a", "in two columns"]
"""
JSON = (
    '{"03": {"Q1": "tabs", "Q2": "four", "discuss": {"areas": "Layout of cards", "ideas": ["parcels"],'
    ' "layout of cards": {"1": "a", "Q2": "in two columns"}}}}'
)
LINES = """Phase 3, Q1: tabs
Phase 3, Q2: four
Phase 3, areas: Layout of cards
Phase 3, idea: parcels
Phase 3, Layout of cards, Q1: a
Phase 3, Layout of cards, Q2: in two columns
"""
forms = pytest.mark.parametrize(
    ("name", "text"), [("a.toml", TOML), ("a.json", JSON), ("a.txt", LINES)], ids=["TOML", "JSON", "lines"]
)


def asked(number: int, **more: object) -> Asked:
    return Asked(key=f"k{number}", phase="3", text="?", number=number, **more)  # type: ignore[arg-type]  # fields by name


@forms
def test_cmap_03b_answers_are_found_by_phase_and_number(name: str, text: str) -> None:
    person = WrittenAnswers(read(text.encode(), name))
    given = person.batch(Batch(text="", questions=(asked(2), asked(1), asked(3))))

    assert [(one.key, one.answer) for one in given] == [("k2", "four"), ("k1", "tabs")]


@forms
def test_a_discussion_is_answered_by_area_and_number(name: str, text: str) -> None:
    person = WrittenAnswers(read(text.encode(), name))
    areas = Asked(key="k", phase="3", text="?", kind="areas", options=("Other", "Layout of cards"))
    second = asked(2, area="Layout of cards")

    assert person.ask(areas) == "2"
    assert [person.ask(second), person.ask(second), person.ask(asked(3, area="Other"))] == [
        "idea: parcels", "in two columns", None,
    ]  # fmt: skip


def test_areas_with_answers_are_the_ones_to_talk_about_unless_the_file_says_otherwise() -> None:
    person = WrittenAnswers(read(b"Phase 3, Other, Q1: yes", "a.txt"))
    areas = Asked(key="k", phase="3", text="?", kind="areas", options=("Other", "Layout"))

    assert person.ask(areas) == "1"
    assert WrittenAnswers({}).ask(areas) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.toml", "x = "), ("a.json", "[]"), ("a.json", '{"3": {"first": "x"}}'), ("a.toml", "[phases]\n3 = 1"), ("a.txt", "hm"), ("a.txt", "\udcff")],
)  # fmt: skip
def test_a_file_that_is_not_understood_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(ConfigInvalid, match=name) as raised:
        read(text.encode("utf-8", "surrogateescape"), name)
    assert "[phases.3]" in raised.value.do
