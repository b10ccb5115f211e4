"""The harder look: what reviewers are asked for beyond the usual, and what is insisted on once."""

from typing import Any

import pytest

from autopilot.domain.results import Verified
from autopilot.steps import judge, rate, verify
from support.records import TREE, Story, brief, phase

HANDLERS = ("onClick (src/a.tsx)", "onDrop (src/a.tsx)")


def pass_of(*, enhanced: bool = True) -> Story:
    return Story(brief(enhanced=enhanced, phase=phase(type="ui"))).planned().executed()


@pytest.mark.parametrize(
    ("step", "words"),
    [(verify, "every handler of the change"), (judge, "at least 2 concerns"), (rate, "from 5.0 and only add")],
    ids=["verifier", "judge", "rater"],
)
def test_intg_05b_every_reviewer_is_asked_for_more(step: Any, words: str) -> None:
    asked, usual = (step.prompt(pass_of(enhanced=enhanced).record) for enhanced in (True, False))

    assert "ENHANCED VERIFICATION" in asked
    assert words in asked.split("ENHANCED VERIFICATION")[1]
    assert "ENHANCED" not in usual


@pytest.mark.parametrize(
    ("concerns", "enhanced", "objected"),
    [(["a"], True, 1), (["a", "a"], True, 1), (["a", "b"], True, 0), (None, True, 1), (["a"], False, 0)],
    ids=["one", "one twice", "two", "none", "not asked for"],
)
def test_intg_05b_a_judge_with_one_concern_is_objected_to(concerns: Any, enhanced: bool, objected: int) -> None:
    found = judge.objections(pass_of(enhanced=enhanced).record, {"concerns": concerns, "recommendation": "proceed"})

    assert len(found) == objected
    assert all("2 concerns" in one.reminder for one in found)


@pytest.mark.parametrize(
    ("traces", "missing"),
    [([], "onClick (src/a.tsx), onDrop (src/a.tsx)"), ([{"handler": "the onClick handler"}], "onDrop (src/a.tsx)")],
    ids=["none", "one of two"],
)
def test_intg_05b_a_handler_without_a_trace_is_objected_to(traces: list[dict[str, str]], missing: str) -> None:
    found = verify.objections(pass_of().record, HANDLERS, {"behavioral_traces": traces})

    assert [one.issue for one in found] == [f"Enhanced verification: no behavioral trace for {missing}."]
    assert verify.objections(pass_of(enhanced=False).record, HANDLERS, {"behavioral_traces": traces}) == ()


def test_ptyp_05_a_user_interface_is_to_be_settled_without_a_person() -> None:
    """PTYP-01: with a trace for each handler."""
    seen = Verified(commit="c1", tree=TREE, handlers=HANDLERS)
    told = verify.prompt(pass_of(enhanced=False).record, seen)
    other = verify.prompt(Story(brief(phase=phase(type="data"))).planned().executed().record, seen)

    assert "AUTONOMOUS VERIFICATION REQUIRED" in told
    assert "onDrop (src/a.tsx)" in told
    assert "AUTONOMOUS" not in other
