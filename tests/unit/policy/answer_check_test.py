"""Answers that are not accepted: what is asked for, and that a phase has one more try for all checks together."""

from typing import Any

import pytest

from autopilot.domain.answers import CriterionResult, JudgeOpinion, VerifyOpinion
from autopilot.domain.results import Judged, Triaged, Verified
from autopilot.domain.verdict import Advance, Retry, Stop, Verdict
from autopilot.engine.close.outcome import evidenced, outcome_of
from autopilot.engine.decide.next_step import Finish
from autopilot.gates import after_judge, after_verify
from autopilot.policy.answer_check import UNSHOWN, places, rejected, to_show
from support.records import BASE, DONE, TREE, Story, brief, change, criterion, phase, plan, ran

COMPLETED = Finish("completed", "every gate passed")
TWO = phase(criteria=(criterion("SC-1"), criterion("SC-2", "grep -q dear letter.txt")))
PLACES = ("letter.txt:1 -- done", "letter.txt:2 -- dear")


def opinion(**more: Any) -> VerifyOpinion:
    return VerifyOpinion(**{"passed": True, "commands_run": (DONE,), "autonomous_confidence": 9.0, **more})


def already_there(seen: VerifyOpinion | None, earlier: int = 0) -> Story:
    """Two criteria held before anybody did anything, and a verifier was asked about them."""
    story = Story(brief(phase=TWO, rejected=earlier))
    checks = (ran("SC-1"), ran("SC-2"))
    story.step("triage", Triaged(routing="verify_only", source="roadmap", checks=checks), Advance(to="verify"))
    return story.step("verify", Verified(commit=BASE, tree=TREE, checks=checks, opinion=seen))


@pytest.mark.parametrize(
    ("more", "accepted"),
    [
        ({"files_checked": PLACES}, True),
        ({"criteria_results": tuple(CriterionResult(criterion=p, status="pass", evidence=p) for p in PLACES)}, True),
        ({"files_checked": PLACES[:1]}, False),
        ({"files_checked": (PLACES[0], PLACES[0])}, False),
        ({"files_checked": ("letter.txt is there", "it says dear")}, False),
        ({}, False),
    ],
    ids=["a place each", "in the rows", "one too few", "one twice", "no lines", "nothing"],
)
def test_intg_08_work_that_was_there_is_shown_by_file_and_line(more: dict[str, Any], accepted: bool) -> None:
    """RET-08."""
    verdict = after_verify.GATE.decide(already_there(opinion(**more)).record)

    assert isinstance(verdict, Advance if accepted else Retry)
    assert accepted or (getattr(verdict, "because", "").startswith(UNSHOWN))


def test_intg_08_a_place_that_is_not_there_shows_nothing() -> None:
    story = already_there(None)
    seen = Verified(
        commit=BASE, tree=TREE, checks=(ran("SC-1"),), opinion=opinion(files_checked=PLACES), absent=PLACES[:1]
    )

    assert isinstance(after_verify.GATE.decide(story.step("verify", seen).record), Retry)


def test_intg_08_what_is_not_shown_the_second_time_fails_the_phase() -> None:
    verdict = after_verify.GATE.decide(already_there(opinion(), earlier=1).record)

    assert isinstance(verdict, Stop)
    assert UNSHOWN in verdict.because


def test_intg_06_work_that_was_there_does_not_pass_without_a_verifier() -> None:
    assert not isinstance(after_verify.GATE.decide(already_there(None).record), Advance)


def test_ret_08_the_evidence_of_such_a_pass_are_the_places() -> None:
    """INTG-02: and its outcome says that nothing was built."""
    record = already_there(opinion(files_checked=PLACES)).record
    outcome = evidenced(outcome_of(record, COMPLETED), record, change(BASE, BASE))

    assert (outcome.commit_shas, outcome.evidence.files_checked) == ((), PLACES)
    assert (outcome.satisfied, outcome.alignment_score, outcome.issues) == (True, None, ())


@pytest.mark.parametrize(
    "story",
    [Story().planned().executed(), Story(brief(cycle=1, plan=plan())), Story(brief(done=("01-01",)))],
    ids=["a commit was made", "remediation", "carried on"],
)
def test_work_done_in_the_run_need_not_be_pointed_to(story: Story) -> None:
    assert to_show(story.record) == ()
    assert places(None) == ()


@pytest.mark.parametrize("rule", ["VRFY-02", "VRFY-03a", "VRFY-04", "INTG-08", "STAT-02", "STAT-03"])
def test_amb_34_one_rejection_of_any_kind_uses_up_the_only_one(rule: str) -> None:
    """INTG-04b: whoever is rejected next fails the phase."""
    silent = Judged(opinion=JudgeOpinion(recommendation="proceed"))
    fresh = Story().planned().executed().verified().step("judge", silent)
    used = Story().planned().executed().verified(Retry(step="verify", because="x", rejects=rule))
    used.verified().step("judge", silent)

    verdicts: list[Verdict] = [after_judge.GATE.decide(story.record) for story in (fresh, used)]
    assert [type(verdict) for verdict in verdicts] == [Retry, Stop]


def test_amb_34_a_remediation_goes_on_counting() -> None:
    story = Story(brief(cycle=1, rejected=1)).verified(Retry(step="verify", because="x", rejects="VRFY-03b"))

    assert rejected(story.record) == 2


def test_an_ordinary_retry_is_no_rejection() -> None:
    story = Story().planned().executed().verified(Retry(step="debug", because="a criterion fails"))

    assert rejected(story.record) == 0
