"""CONTEXT.md: written as asked for, and merged into what a person wrote."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.people import YOU_DECIDE
from autopilot.domain.user_answers import UserAnswer
from autopilot.planning.start.context_md import NO_IDEAS, NONE_DEFERRED, Talk, context_md


def answer(question: str, said: str, area: str = "Layout of cards") -> UserAnswer:
    return UserAnswer(question=question, answer=said, area=area)


def talk(*decisions: UserAnswer, **more: Any) -> Talk:
    fields = {"phase": "3", "name": "Feed", "date": "2026-01-02", "boundary": "A feed of posts", **more}
    return Talk(decisions=decisions, **fields)


def test_disc_08_the_file_has_the_sections_in_their_order() -> None:
    text = context_md(talk(answer("Cards or a list?", "Cards"), answer("Shadows?", YOU_DECIDE)), None)

    assert text == (
        "# Phase 3: Feed - Context\n\n**Gathered:** 2026-01-02\n**Status:** Ready for planning\n\n"
        "## Phase Boundary\n\nA feed of posts -- the scope anchor from the roadmap.\n\n"
        "## Implementation Decisions\n\n### Layout of cards\n\n- Cards or a list? Cards\n\n"
        "### Claude's Discretion\n\n- Layout of cards: Shadows?\n\n"
        f"## Specific Ideas\n\n{NO_IDEAS}\n\n## Deferred Ideas\n\n{NONE_DEFERRED}\n"
    )


def test_disc_11_ideas_take_the_place_of_the_default_sentences() -> None:
    text = context_md(talk(ideas=("like the mail program",), deferred=("parcels",)), None)

    assert "## Specific Ideas\n\n- like the mail program\n" in text
    assert text.endswith("## Deferred Ideas\n\n- parcels\n")


def test_disc_08_a_second_discussion_updates_answers_and_keeps_the_others() -> None:
    first = context_md(talk(answer("Cards or a list?", "Cards"), answer("Shadows?", YOU_DECIDE)), None)
    text = context_md(
        talk(answer("Cards or a list?", "A list"), answer("Shadows?", "none"), deferred=("parcels",)), first
    )

    assert "- Cards or a list? A list\n- Shadows? none\n" in text
    assert [text.count(line) for line in ("? Cards\n", "cards: Shadows?", NONE_DEFERRED, "- parcels")] == [0, 0, 0, 1]


def test_disc_08_what_a_person_wrote_stays_word_for_word() -> None:
    own = (
        "# Mine\n\nNever use blue.\n\n## Phase Boundary\n\nOnly the feed.\n\n## Sketch\n\n```\n## Deferred Ideas\n```\n"
    )
    text = context_md(talk(answer("Cards or a list?", "Cards")), own)

    assert "Only the feed." in text
    assert "scope anchor" not in text
    assert "```\n## Deferred Ideas\n```\n" in text
    assert (
        text.index("## Phase Boundary") < text.index("## Implementation Decisions") < text.index("- Cards or a list?")
    )


lines = st.lists(
    st.one_of(
        st.sampled_from(
            ["## Implementation Decisions", "### Layout of cards", "## Deferred Ideas", "## Mine", "", "```"]
        ),
        st.text(st.characters(blacklist_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=20),
    ),
    max_size=12,
).map("\n".join)


@given(lines)
def test_disc_08_no_line_of_a_person_is_ever_lost(own: str) -> None:
    text = context_md(talk(answer("Cards or a list?", "Cards"), deferred=("parcels",)), own)
    left = text.split("\n")

    for line in own.split("\n"):
        if line.strip():
            left.remove(line)
    assert "- Cards or a list? Cards" in text


@given(lines)
def test_disc_08_merging_the_same_again_changes_nothing(own: str) -> None:
    told = talk(answer("Cards or a list?", "Cards"), deferred=("parcels",))
    once = context_md(told, own)

    assert context_md(told, once) == once


@pytest.mark.parametrize("own", ["", "  \n", None])
def test_an_empty_file_is_written_anew(own: str | None) -> None:
    assert context_md(talk(), own).startswith("# Phase 3: Feed - Context")
