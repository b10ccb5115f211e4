"""When traces are needed, and what they say."""

from typing import Any

import pytest

from autopilot.domain.answers import DivergenceOpinion, Trace, VerifyOpinion
from autopilot.domain.phase import Criterion
from autopilot.domain.results import Compared, Verified
from autopilot.policy.facts.behavior_traces import (
    about,
    all_traces,
    behavioural,
    needs_traces,
    reading,
    same_trace,
    untraced,
)
from support.records import Story, brief, criterion, phase

CLICK = criterion("SC-2", None, behavioural=True)
JOIN = Criterion(id="SC-2", text="Clicking Join opens the event URL")


def told(kind: str, *criteria: Any, **seen: Any) -> Story:
    story = Story(brief(phase=phase(type=kind, criteria=criteria)))
    fields: dict[str, Any] = {"opinion": VerifyOpinion(passed=True), **seen}
    return story.step("verify", Verified(commit="c", tree="t", **fields))


@pytest.mark.parametrize(
    ("story", "needed"),
    [
        (told("ui"), True),
        (told("mixed"), False),
        (told("mixed", CLICK), True),
        (told("mixed", handlers=("onClick (a.tsx)",)), True),
        (told("data", CLICK, handlers=("onClick (a.tsx)",)), False),
    ],
    ids=["ui", "mixed without handlers", "mixed with behaviour", "mixed with a handler", "data"],
)
def test_btrc_01_traces_are_needed_where_somebody_touches_something(story: Story, needed: bool) -> None:
    assert needs_traces(story.record, story.record.latest(Verified)) == needed
    assert untraced(story.record) == needed


def test_judg_06_a_verifier_who_was_not_asked_has_left_nothing_out() -> None:
    assert not untraced(told("ui", opinion=None).record)
    assert not untraced(told("ui", opinion=VerifyOpinion(passed=True, behavioral_traces=(Trace(),))).record)


@pytest.mark.parametrize(
    ("status", "action", "wanted"),
    [
        ("VERIFIED", "saves", "confirmed"), ("Pass", "saves", "confirmed"), ("VERIFIED", "", "unconfirmed"),
        ("BEHAVIORAL_UNVERIFIABLE", "saves", "unconfirmed"), ("", "saves", "unconfirmed"), ("CONTRADICTED", "", "contradicted"),
        ("no match", "opens another page", "contradicted"), ("NOT VERIFIED", "saves", "unconfirmed"),
    ],
)  # fmt: skip
def test_a_trace_confirms_only_in_plain_words(status: str, action: str, wanted: str) -> None:
    assert reading(Trace(status=status, terminal_action=action)) == wanted


@pytest.mark.parametrize(
    ("said", "same"),
    [
        ("SC-2", True), ("criterion sc-2: yes", True), ("SC-21", False), ("", False), ("Join opens the event's URL", True),
        ("Join opens", True), ("Join", False), ("Quit closes the window", False),
    ],
)  # fmt: skip
def test_a_criterion_is_named_by_its_id_or_by_its_words(said: str, same: bool) -> None:
    assert about(JOIN, said) == same


def test_judg_06_of_the_judge_s_traces_only_a_contradiction_counts() -> None:
    good, bad = Trace(handler="a", status="VERIFIED", terminal_action="x"), Trace(handler="b", status="CONTRADICTED")
    opinion = DivergenceOpinion(recommendation="proceed", retraced=(good, bad))
    record = told("ui").step("judge_divergence", Compared(opinion=opinion)).record

    assert all_traces(record) == (bad,)


def test_two_traces_are_the_same_by_handler_or_by_place() -> None:
    assert same_trace(Trace(handler="Save"), Trace(handler="save "))
    assert same_trace(Trace(file_line="a.ts:1"), Trace(handler="x", file_line="a.ts:1"))
    assert not same_trace(Trace(), Trace())


def test_behaviour_is_asked_for_only_where_somebody_touches_something() -> None:
    assert behavioural(told("ui", CLICK, CLICK, criterion("SC-3")).record) == (CLICK,)
    assert behavioural(told("data", CLICK).record) == ()
