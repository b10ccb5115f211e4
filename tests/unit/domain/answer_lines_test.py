"""Answers by phase and number, as lines of text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.user_answers import AnswerLine, read_line, read_lines, written

phases = st.from_regex(r"([A-Z]{1,4}-)?[1-9][0-9]{0,3}(\.[1-9][0-9]?)?", fullmatch=True)
words = st.text(st.characters(blacklist_categories=("Cc", "Cs", "Zl", "Zp")), max_size=60).map(str.strip)
names = st.from_regex(r"[A-Za-z][a-z ]{0,20}[a-z]", fullmatch=True).filter(lambda n: n.lower() not in {"areas", "idea"})


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("Phase 3, Q1: tabs", AnswerLine(phase="3", number=1, text="tabs")),
        ("phase 03, q12:  a: b, Q2: c ", AnswerLine(phase="3", number=12, text="a: b, Q2: c")),
        ("CK-01 Q2: yes", AnswerLine(phase="CK-1", number=2, text="yes")),
        ("Phase 2.10, Layout of cards, Q1: a", AnswerLine(phase="2.10", number=1, area="Layout of cards", text="a")),
        ("Phase 3, areas: 1, 3", AnswerLine(phase="3", kind="areas", text="1, 3")),
        ("Phase 3, idea: parcels", AnswerLine(phase="3", kind="idea", text="parcels")),
        ("Q1: tabs", None),
        ("Phase 3: tabs", None),
        ("", None),
    ],
)
def test_cmap_03b_a_line_names_phase_and_question(line: str, read: AnswerLine | None) -> None:
    assert read_line(line) == read


def test_where_one_phase_is_asked_about_it_need_not_be_named() -> None:
    assert read_line("Q2: yes", "7") == AnswerLine(phase="7", number=2, text="yes")


@given(phases, st.integers(1, 99999), words, st.one_of(st.just(""), names))
def test_cmap_03b_every_answer_is_read_as_it_was_written(phase: str, number: int, text: str, area: str) -> None:
    line = AnswerLine(phase=phase, number=number, text=text, area=area)

    assert read_line(written(line)) == line


@given(st.lists(st.tuples(phases, st.integers(1, 9), words), max_size=5))
def test_cmap_03b_a_whole_text_of_answers_is_read_in_order(told: list[tuple[str, int, str]]) -> None:
    lines = [AnswerLine(phase=phase, number=number, text=text) for phase, number, text in told]

    assert list(read_lines(map(written, lines))) == lines


def test_an_answer_may_go_on_over_lines() -> None:
    text = "# answers\nPhase 3, Q1: first\n  second\n\nPhase 3, Q2: other\n"

    assert [line.text for line in read_lines(text.splitlines())] == ["first\n  second", "other"]


@given(st.text())
def test_any_line_is_read_or_not_and_never_an_error(line: str) -> None:
    assert read_line(line) is None or read_line(line).phase  # type: ignore[union-attr]  # the first half says it is one
