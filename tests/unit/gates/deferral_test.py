"""When a phase may wait for a person, and when it must not (HUM-01..05, STAT-02, STAT-03)."""

from typing import Any

import pytest

from autopilot.domain.answers import Deferral, VerifyOpinion
from autopilot.domain.phase import Plan
from autopilot.domain.results import PlanChecked, Verified
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop
from autopilot.engine.close.outcome import outcome_of
from autopilot.engine.decide.next_step import Finish
from autopilot.gates import after_plan_check, after_rate, after_verify
from autopilot.policy.answer_check import UNJUSTIFIED
from autopilot.policy.deferral import REJECTED, justification, no_reason, person_only, specific
from support.records import DONE, TREE, Story, plan, ran, task

PERSON = task("01-02", type="checkpoint:human-verify")
PAYMENT = Deferral(
    criterion="a card is charged", methods_attempted=("sandbox",), why_insufficient="needs a payment flow for real"
)
LOOKS = Deferral(criterion="it looks right", methods_attempted=("grep",), why_insufficient="Needs a visual check.")


def opinion(confidence: float, *evidence: Deferral) -> VerifyOpinion:
    return VerifyOpinion(
        passed=True, commands_run=(DONE,), autonomous_confidence=confidence, deferral_evidence=evidence
    )


def told(seen: VerifyOpinion, made: Plan, times: int = 1) -> Story:
    story = Story().planned(made)
    if not person_only(story.record):
        story.executed()
    for _ in range(times):
        checks = (ran("SC-1"), ran("01-01.1"))
        story.step("verify", Verified(commit=story.record.commit, tree=TREE, checks=checks, opinion=seen))
    return story


def mixed(seen: VerifyOpinion, times: int = 1) -> Story:
    return told(seen, plan(task(), PERSON), times).judged().rated()


@pytest.mark.parametrize("confidence", [6, 9.5])
def test_hum_02_a_confident_verifier_needs_no_person(confidence: float) -> None:
    assert after_rate.GATE.decide(mixed(opinion(confidence, PAYMENT)).record) == Advance()


def test_hum_03_an_unsure_verifier_with_a_specific_reason_leaves_it_to_a_person() -> None:
    record = mixed(opinion(5.9, PAYMENT)).record

    assert after_rate.GATE.decide(record) == AskHuman(question="needs a person: 01-02 title of 01-02")
    ended = outcome_of(record, Finish("needs_human_verification", "needs a person"))
    assert (ended.alignment_score, ended.commit_shas, ended.deferral_evidence) == (9.4, ("c1",), (PAYMENT,))


@pytest.mark.parametrize(
    "evidence",
    [
        (),
        (LOOKS,),
        (Deferral(criterion="x", why_insufficient="a payment"),),
        (Deferral(criterion="x", methods_attempted=("y",)),),
    ],
    ids=["no evidence", "generic", "nothing attempted", "no reason"],
)
def test_stat_03_an_unsure_verifier_without_a_reason_is_asked_once_more(evidence: tuple[Deferral, ...]) -> None:
    """HUM-01."""
    seen = opinion(3, *evidence)

    again = mixed(seen).step("rate", mixed(seen).record.last(), after_rate.GATE.decide(mixed(seen).record))
    assert isinstance(again.record.finished[-1].verdict, Retry)
    assert isinstance(after_rate.GATE.decide(again.judged().rated().record), Stop)


def test_stat_03_a_deferral_just_to_look_is_rejected_in_so_many_words() -> None:
    looked, silent = (after_rate.GATE.decide(mixed(opinion(3, *given)).record) for given in ((LOOKS,), ()))

    assert looked == Retry(step="verify", because=f"{REJECTED} {no_reason(6)}", rejects="STAT-03")
    assert silent == Retry(step="verify", because=f"{UNJUSTIFIED} {no_reason(6)}", rejects="STAT-02")


@pytest.mark.parametrize(
    ("why", "accepted"),
    [
        ("somebody should look at the page", False),
        ("needs a UI review", False),
        ("take a screenshot of the payment flow with a real transaction", True),
        ("the printer is not attached", True),
    ],
)
def test_stat_03_a_specific_workflow_is_never_refused(why: str, *, accepted: bool) -> None:
    reason = Deferral(criterion="c", methods_attempted=("m",), why_insufficient=why)

    assert specific(opinion(2, reason)) == accepted


def test_hum_05_the_justification_names_the_task_and_what_is_unresolved() -> None:
    told_of = justification(mixed(opinion(2, PAYMENT)).record)

    assert told_of is not None
    assert (told_of.checkpoint_task_id, told_of.task_description) == ("01-02", "title of 01-02")
    assert (told_of.auto_tasks_passed, told_of.auto_tasks_total) == (1, 1)
    assert told_of.unresolved_criteria == ("a card is charged",)


def test_stat_02_nothing_waits_without_a_justification() -> None:
    record = mixed(opinion(2, PAYMENT)).record

    assert outcome_of(record, Finish("needs_human_verification", "x")).human_verify_justification is not None
    assert outcome_of(record, Finish("completed", "x")).human_verify_justification is None


def test_hum_04_a_plan_for_a_person_only_goes_straight_to_verification() -> None:
    made = plan(PERSON)
    record = Story().planned(made).record

    assert isinstance(record.last(), PlanChecked)
    assert after_plan_check.GATE.decide(record) == Advance(to="verify", because="no task for an agent")


@pytest.mark.parametrize(
    ("confidence", "kind"), [(6, Advance), (5, AskHuman)], ids=["the verifier is sure", "it is not"]
)
def test_hum_04_such_a_plan_is_verified_or_waits(confidence: float, kind: type[Any]) -> None:
    record = told(opinion(confidence, PAYMENT), plan(PERSON)).record

    assert isinstance(after_verify.GATE.decide(record), kind)
    ended = outcome_of(record, Finish("needs_human_verification", "x"))
    assert (ended.alignment_score, ended.commit_shas) == (None, ())
    assert ended.pipeline_steps["execute"].status == "skipped"
