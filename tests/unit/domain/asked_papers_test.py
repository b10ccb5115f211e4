"""What people answered is merged into what they had answered before."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.user_answers import Paper, empty, understood, with_phase

texts = st.sampled_from(["Which colour?", "which  COLOUR?", "How long?", "Who signs?", "Where to?"])
answers = st.one_of(st.none(), st.sampled_from(["blue", "a page", "nobody"]))
asked = st.lists(
    st.fixed_dictionaries({"question": texts, "answer": answers}, optional={"note": st.text()}), max_size=6
)
papers = st.dictionaries(
    st.sampled_from(["1", "2", "3.1"]),
    st.fixed_dictionaries({"questions": asked}, optional={"phase_name": st.text(), "owner": st.integers()}),
).map(lambda phases: {"version": "1.0", "phases": phases, "kept by": "somebody else"})


def pairs(paper: Paper, phase: str) -> list[tuple[str, Any]]:
    found = paper["phases"].get(phase, {}).get("questions", [])
    return [(" ".join(q["question"].casefold().split()), q["answer"]) for q in found]


@given(papers, st.sampled_from(["1", "2"]), asked)
def test_cmap_03c_merging_never_loses_an_entry(before: Paper, phase: str, new: list[dict[str, Any]]) -> None:
    """DISC-09: the same for both files."""
    after = with_phase(before, phase, {"context_score": 5}, new, "now")

    assert {k: v for k, v in after["phases"].items() if k != phase} == {
        k: v for k, v in before["phases"].items() if k != phase
    }
    held, kept = pairs(before, phase), pairs(after, phase)
    assert [q for q, _ in kept[: len(held)]] == [q for q, _ in held]
    assert all(answer for (_, old), (_, answer) in zip(held, kept, strict=False) if old)
    assert {q for q, _ in kept} == {q for q, _ in held} | {
        q for q, _ in pairs({"phases": {"x": {"questions": new}}}, "x")
    }
    assert after["kept by"] == "somebody else"
    assert {**before["phases"].get(phase, {}), "questions": 0, "context_score": 5} == {
        **after["phases"][phase], "questions": 0,
    }  # fmt: skip


@given(papers, asked)
def test_cmap_03c_merging_the_same_again_changes_nothing(before: Paper, new: list[dict[str, Any]]) -> None:
    once = with_phase(before, "1", {}, new, "now")

    assert with_phase(once, "1", {}, new, "now") == once


def test_cmap_03d_unanswered_is_null_and_a_new_answer_replaces_it() -> None:
    question = {
        "question": "Which colour?",
        "category": "domain",
        "why_needed": "x",
        "answer": None,
        "answered_at": None,
    }
    once = with_phase(empty(), "3", {"phase_name": "Three"}, [question], "2026-01-01T00:00:00.000Z")
    assert once["phases"]["3"]["questions"] == [question]

    again = with_phase(
        once, "3", {}, [{"question": "Which colour?", "answer": "blue", "answered_at": "later"}], "later"
    )
    assert again["phases"]["3"]["questions"] == [{**question, "answer": "blue", "answered_at": "later"}]
    assert (again["version"], again["last_updated"]) == ("1.0", "later")


@pytest.mark.parametrize(
    "paper",
    [{}, {"version": "2.0"}, {"version": "1.0", "phases": []}, {"version": "1.0", "phases": {"1": {"questions": 3}}}],
    ids=["empty", "newer", "list", "number"],
)
def test_what_is_no_such_file_is_not_understood(paper: Paper) -> None:
    with pytest.raises(ValueError, match=r"."):
        understood(paper)
