"""How a pass ended, computed from its record: what an agent claimed has no part in it."""

from typing import Any

import pytest

from autopilot.domain.answers import FixClaim, JudgeOpinion, TaskOpinion, WorkClaim
from autopilot.domain.evidence import Finding
from autopilot.domain.results import Debugged, Executed, Fixed, Judged, MiniVerified, Preflighted, Triaged, Verified
from autopilot.domain.verdict import Advance, Retry, Stop
from autopilot.engine.close.outcome import commits, outcome_of, rolled_back
from autopilot.engine.decide.next_step import Finish
from autopilot.policy.score_caps import band
from support.records import BASE, Story, brief, phase, plan, ran, task, whole, work

DONE = Finish("completed", "every gate passed")
FAILED = Finish("failed", "no good", rollback=True)
ASIDE = Advance(to="execute", because="task FAILED: x")


def two_tasks() -> Story:
    return Story().planned(plan(task("01-01"), task("01-02")))


def test_a_good_pass_is_told_by_its_facts() -> None:
    outcome = outcome_of(whole(), DONE)

    assert (outcome.status, outcome.alignment_score, outcome.commit) == ("completed", 9.4, "c1")
    assert (outcome.tasks_completed, outcome.tasks_failed, outcome.commit_shas) == ("1/1", "0/1", ("c1",))
    assert (outcome.recommendation, outcome.issues, outcome.unanchored) == ("proceed", (), False)
    assert outcome.automated_checks == dict.fromkeys(("compile", "lint", "test", "build"), "n/a")


def test_claims_change_nothing_about_an_outcome() -> None:
    boast = WorkClaim(tasks_completed="9/9", commit_shas=("abc",), confidence=10)
    told = two_tasks().step("execute", Executed(work=work(passed=False), claim=boast), ASIDE, BASE)

    outcome = outcome_of(told.record, FAILED)
    assert (outcome.tasks_completed, outcome.tasks_failed, outcome.commit_shas) == ("0/2", "1/2", ())
    assert outcome.issues == ("task 01-01 FAILED", "no good")


def test_the_commits_are_those_in_the_line() -> None:
    told = two_tasks()
    told.step("execute", Executed(work=work("01-01", BASE, "c1")), Retry(step="fix", because="x"), "c1")
    told.step("fix", Fixed(work=work("01-01", BASE, "c2"), claim=FixClaim()), Advance(to="mini_verify"), "c2")
    told.step("mini_verify", MiniVerified(task="01-01", opinion=TaskOpinion(passed=True)), Advance(to="execute"))
    told.step("execute", Executed(work=work("01-02", "c2", "c3", passed=False)), ASIDE, "c2")
    told.step("debug", Debugged(work=work("1-debug", "c2", "c4")), Advance(to="verify"), "c4")

    assert commits(told.record) == ("c2", "c4")


def test_a_second_plan_keeps_the_commits_of_the_first() -> None:
    told = Story().planned().executed(commit="c1").verified().judged()
    told.rated(6.0, Retry(step="research", because="low")).planned().executed(commit="c2")

    assert commits(told.record) == ("c1", "c2")


@pytest.mark.parametrize(("finish", "aside"), [(FAILED, True), (DONE, False)], ids=["failed", "completed"])
def test_only_failed_work_is_kept_aside(finish: Finish, aside: bool) -> None:
    assert rolled_back(whole(), finish) == aside
    assert not rolled_back(Story().record, finish)


def test_a_judge_s_rollback_is_the_recommendation_of_a_failed_pass() -> None:
    """PGAT-05."""
    told = Story().planned().executed().verified().judged(second="rollback", verdict=Stop(because="x", rollback=True))

    assert outcome_of(told.record, FAILED).recommendation == "rollback"
    assert outcome_of(Story().record, FAILED).recommendation == "halt"


@pytest.mark.parametrize("word", ["rollback", "halt"])
def test_pgat_05_a_judge_who_condemns_before_any_comparison_is_heard(word: Any) -> None:
    """PGAT-06."""
    condemned = Judged(opinion=JudgeOpinion(recommendation=word, concerns=("wrong",)))
    told = Story().planned().executed().verified().step("judge", condemned, Stop(because="x", rollback=True))

    assert outcome_of(told.record, FAILED).recommendation == word


def test_a_phase_without_a_criterion_of_the_users_is_unanchored() -> None:
    record = Story(brief(phase=phase(criteria=()))).record

    assert outcome_of(record, DONE).unanchored


def test_every_step_has_a_digest_whether_it_ran_or_not() -> None:
    steps = outcome_of(whole(), DONE).pipeline_steps
    nothing = outcome_of(Story().record, FAILED).pipeline_steps

    assert steps["rate"].score_band == "good"
    assert (steps["plan_check"].confidence, steps["triage"].pass_ratio) == (9, 0.0)
    assert {digest.status for digest in nothing.values()} == {"skipped"}
    assert steps.keys() == nothing.keys()


def test_a_digest_tells_which_agents_were_asked_and_how_a_step_ended() -> None:
    blocked = Preflighted(spec_hash_match=False, working_tree_clean=True, dependencies_met=True, issues=("spec",))
    told = Story().step("preflight", blocked, Stop(because="spec")).answer("r/1/verify/1", role="verify")
    steps = outcome_of(told.verified().record, FAILED).pipeline_steps

    assert (steps["preflight"].status, steps["verify"].status) == ("fail", "pass")
    assert (steps["preflight"].agent_spawned, steps["verify"].agent_spawned) == (False, True)


def test_a_failed_task_makes_execution_partial() -> None:
    told = two_tasks().step("execute", Executed(work=work(passed=False)), ASIDE, BASE)

    assert outcome_of(told.record, DONE).pipeline_steps["execute"].status == "partial"


def test_triage_is_told_by_its_routing() -> None:
    told = Story().step("triage", Triaged(routing="verify_only", source="roadmap", checks=(ran(),)))

    assert outcome_of(told.record, DONE).pipeline_steps["triage"].status == "verify_only"


@pytest.mark.parametrize(
    ("score", "name"),
    [(10, "excellence"), (9.5, "excellence"), (9.4, "good"), (8, "good"), (7, "acceptable"), (6.9, "significant_gaps"),
     (5, "significant_gaps"), (3, "major_failures"), (2.9, "not_implemented"), (0, "not_implemented")],
)  # fmt: skip
def test_a_score_has_a_band(score: float, name: str) -> None:
    assert band(score) == name


def test_planning_files_an_agent_touched_are_issues() -> None:
    told = Story().answer("r/1/execute/1", role="execute", touched=(".planning/ROADMAP.md",))

    assert outcome_of(told.record, DONE).issues == ("planning file touched by an agent: .planning/ROADMAP.md",)


@pytest.mark.parametrize(("kind", "told"), [("ui", True), ("mixed", False), ("data", False)])
def test_btrc_01_a_ui_phase_nobody_traced_is_told(kind: str, told: bool) -> None:
    record = whole(brief(phase=phase(type=kind)))

    wanted = "Verifier did not perform behavioral traces for UI phase 1. Verification may be shallow."
    assert outcome_of(record, DONE).issues == (wanted,) * told


def test_vrfy_12_a_verification_that_was_asked_for_again_is_told() -> None:
    told = (
        Story()
        .planned()
        .executed()
        .verified(Retry(step="verify", because="nothing was run", rejects="VRFY-03b"))
        .verified()
    )

    assert outcome_of(told.record, DONE).issues == ("nothing was run",)


def test_sbox_03_what_left_its_bounds_or_is_odd_in_the_files_is_told_but_fails_nothing() -> None:
    odd = Finding(rule="PTV-01", where="a.md:2", what="names `b.md`, which is not there", severity="warning")
    run = ran("SC-1", command="curl https://example.org")
    told = Story().planned().step("verify", Verified(commit="c1", tree="t", checks=(run,), content=(odd,)))

    assert outcome_of(told.record, DONE).issues == (
        "sandbox_violation: `curl https://example.org` reaches into the network",
        "PTV-01: a.md:2: names `b.md`, which is not there",
    )
