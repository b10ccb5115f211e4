"""Why a pass failed, as its record tells it: the cause by the rule, what was tried, and one rule for next time."""

import json
from typing import Any

import pytest

from autopilot.domain.answers import (
    Categorised,
    CriterionScore,
    DivergenceOpinion,
    FixClaim,
    JudgeOpinion,
    RateOpinion,
    TaskOpinion,
    VerifyOpinion,
)
from autopilot.domain.evidence import Finding
from autopilot.domain.results import (
    Compared,
    Debugged,
    Executed,
    Judged,
    MiniVerified,
    PlanChecked,
    Planned,
    Preflighted,
    Rated,
    Triaged,
    Unanswered,
    Verified,
)
from autopilot.domain.verdict import Advance, Retry, Stop
from autopilot.engine.close.diagnostics import write_postmortem
from autopilot.engine.close.postmortem import ADVICE, UNMET, learning, postmortem_of
from autopilot.engine.decide.next_step import Finish
from autopilot.policy.failure_categories import CATEGORIES
from support.papers import Shelf
from support.records import DONE, Story, plan, ran, task, work

FAILED = Finish("failed", "max retries exceeded: no greeting", rollback=True)
END = Stop(because="no good", rollback=True)


def named(*categories: str) -> tuple[Categorised, ...]:
    return tuple(Categorised(failure="f", category=c) for c in categories)


def said(*categories: str) -> Verified:
    opinion = VerifyOpinion(passed=False, commands_run=("ls",), failure_categories=named(*categories))
    return Verified(commit="c", tree="t", checks=(ran(),), opinion=opinion)


def failing(check: str = "SC-1", **more: Any) -> Verified:
    return Verified(commit="c", tree="t", checks=(ran(check, passed=False, **more),))


def debugged(*categories: str) -> Debugged:
    return Debugged(
        work=work("1-debug", "c1", "c2", passed=False), claim=FixClaim(failure_categories=named(*categories))
    )


def preflight(*, met: bool) -> Preflighted:
    return Preflighted(spec_hash_match=False, working_tree_clean=True, dependencies_met=met, issues=("x",))


def silent(outcome: str) -> Unanswered:
    return Unanswered(role="plan", outcome=outcome, detail="")


def judged(**more: Any) -> Judged:
    return Judged(opinion=JudgeOpinion(**{"recommendation": "halt", **more}))


def content(**more: Any) -> Verified:
    """The facts hold, and the verifier agrees."""
    opinion = VerifyOpinion(passed=True, commands_run=("ls",))
    return Verified(**{"commit": "c", "tree": "t", "checks": (ran(),), "opinion": opinion, **more})


def wordless(**more: Any) -> Verified:
    return Verified(commit="c", tree="t", checks=(ran(),), opinion=VerifyOpinion(passed=True, **more))


def rated(score: float) -> Rated:
    row = CriterionScore(criterion="c", score=score)
    return Rated(opinion=RateOpinion(alignment_score=score, scorecard=(row,)), score=score)


def compared(word: Any) -> Compared:
    return Compared(opinion=DivergenceOpinion(recommendation=word))


def early() -> Story:
    """A pass as they begin: triage finds the criterion failing, for nothing has been built yet."""
    unmet = Triaged(routing="full_pipeline", source="roadmap", checks=(ran("SC-1", passed=False),))
    return Story().step("preflight", preflight(met=True)).step("triage", unmet)


def set_aside(result: Any, step: str) -> Story:
    """The only task was given up, and verification then misses it."""
    given_up = Advance(to="verify", because="task FAILED: x")
    elsewhere = content(checks=(ran("SC-1", command="true"),))
    return early().planned(plan(task("01-01"))).step(step, result, given_up).step("verify", elsewhere, END)


MINI = TaskOpinion(passed=False, commands_run=("ls",))
TAMPERED = Finding(rule="T-1", where="t_test.py:1", what="an assertion is gone", severity="blocker")
STORIES: dict[str, tuple[Story, str, str]] = {
    "the verifier's word": (
        early().step("verify", said("laziness", "lint_failure", "scope_creep"), END), "lint_failure", "verify"),
    "the verification that ended it": (
        early().step("verify", said("scope_creep")).step("verify", said("lint_failure"), END), "lint_failure",
        "verify"),
    "the verifier objects and names nothing": (early().step("verify", said(), END), UNMET, "verify"),
    "preflight": (Story().step("preflight", preflight(met=True), END), "tool_failure", "preflight"),
    "a dependency": (Story().step("preflight", preflight(met=False), END), "coordination_failure", "preflight"),
    "the last debugger": (
        early().step("debug", debugged("lint_failure")).step("debug", debugged("build_failure"))
        .step("verify", failing(), END), "build_failure", "verify"),
    "a gate outweighs the debugger": (
        early().step("debug", debugged("scope_creep")).step("verify", failing("lint"), END), "lint_failure", "verify"),
    "the judge, about scope": (
        early().step("judge", judged(concerns=("out of scope",)), END), "scope_creep", "judge"),
    "the judge, about gaps": (
        early().step("judge", judged(missing_requirements=("R1",)), END), "executor_incomplete", "judge"),
    "the judge, otherwise": (
        early().step("judge", judged(concerns=("wrong",)), END), "executor_wrong_approach", "judge"),
    "the judge has no evidence": (
        early().step("judge", judged(recommendation="proceed"), END), "reviewer_without_evidence", "judge"),
    "the judge, with the report": (
        early().step("judge", judged(recommendation="proceed", missing_requirements=("R1",)))
        .step("judge_divergence", compared("rollback"), END), "executor_incomplete", "judge_divergence"),
    "the judge echoes the report": (
        early().step("judge", judged(recommendation="proceed")).step("judge_divergence", compared("proceed"), END),
        "reviewer_without_evidence", "judge_divergence"),
    "our own facts": (early().step("verify", failing("compile"), END), "compilation_failure", "verify"),
    "a command cut off": (early().step("verify", failing(exit_code=None), END), "tool_failure", "verify"),
    "a criterion": (early().step("verify", failing(), END), UNMET, "verify"),
    "nothing was checked": (
        early().step("verify", Verified(commit="c", tree="t"), END), UNMET, "verify"),
    "the verifier ran nothing": (early().step("verify", wordless(), END), "reviewer_without_evidence", "verify"),
    "the verifier objects and ran nothing": (
        early().step("verify", wordless(failures=("x",)), END), "reviewer_without_evidence", "verify"),
    "the verifier was seen running nothing": (
        early().step("verify", content(observed=0), END), "reviewer_without_evidence", "verify"),
    "a task that was given up": (
        set_aside(Executed(work=work(passed=False)), "execute"), UNMET, "verify"),
    "a task that did nothing": (set_aside(Executed(work=work()), "execute"), "executor_incomplete", "verify"),
    "a task that bent a test": (
        set_aside(Executed(work=work(findings=(TAMPERED,))), "execute"), "executor_wrong_approach", "verify"),
    "a task its reviewer did not accept": (
        set_aside(MiniVerified(task="01-01", opinion=MINI), "mini_verify"), UNMET, "verify"),
    "a task whose reviewer ran nothing": (
        set_aside(MiniVerified(task="01-01", opinion=TaskOpinion(passed=False)), "mini_verify"),
        "reviewer_without_evidence", "verify"),
    "no readable plan": (early().step("plan", Planned(plan=None, problem="x"), END), "plan_rejected", "plan"),
    "a rejected plan": (early().step("plan_check", PlanChecked(plan=plan()), END), "plan_rejected", "plan_check"),
    "a low score": (early().step("verify", content()).step("rate", rated(4.0), END), UNMET, "rate"),
    "a task left to a person without a reason": (
        early().step("verify", content()).step("rate", rated(9.0), END), "reviewer_without_evidence", "rate"),
    "no answer of the planner": (early().step("plan", silent("crashed"), END), "tool_failure", "plan"),
    "no answer of the executor": (early().step("execute", silent("bad_output"), END), "tool_failure", "execute"),
    "no answer of a reviewer": (early().step("verify", silent("crashed"), END), "reviewer_no_answer", "verify"),
    "no answer of a judge": (early().step("judge", silent("bad_output"), END), "reviewer_no_answer", "judge"),
    "no room left": (early().step("execute", silent("context_exhausted"), END), "context_exhaustion", "execute"),
    "too many steps": (
        early().step("verify", failing("lint"), Retry(step="debug", because="x")).step("debug", debugged()),
        "lint_failure", "verify"),
    "nothing known": (Story(), UNMET, "preflight"),
}  # fmt: skip


@pytest.mark.parametrize(("story", "category", "step"), STORIES.values(), ids=STORIES)
def test_obsv_03b_the_category_is_found_by_the_rule(story: Story, category: str, step: str) -> None:
    cause = postmortem_of(story.record, FAILED).root_cause

    assert (cause.category, cause.step, cause.description) == (category, step, FAILED.reason)


def test_obsv_03_a_timeline_has_at_most_twenty_moments() -> None:
    story = Story()
    for _ in range(25):
        story.step("verify", failing(), Retry(step="debug", because="x" * 500))

    told = postmortem_of(story.record, FAILED).timeline

    assert len(told) == 20
    assert {moment.status for moment in told} == {"failure"}
    assert all(len(moment.event) <= 200 for moment in told)
    assert told[-1].timestamp == story.entries[-1].at


def test_obsv_03_fixes_are_told_by_what_our_commands_showed() -> None:
    boast = FixClaim(fixed=True, changes=("everything",))
    told = Story().planned().step("debug", Debugged(work=work("1-debug", "c1", "c2", passed=False), claim=boast))

    (fix,) = postmortem_of(told.record, FAILED).attempted_fixes

    assert (fix.attempt, fix.description, fix.commit_sha) == (1, "everything", "c2")
    assert (fix.resolved, fix.remaining) == ((), ("text of 1-debug.1",))


def test_obsv_03_evidence_is_what_we_ran_failures_first() -> None:
    story = Story().planned(plan(task("01-01"))).executed().step("verify", failing(), END)

    evidence = postmortem_of(story.record, FAILED).evidence

    assert evidence.commands_run == (f"{DONE} -> exit 1 (FAIL)", f"{DONE} -> exit 0 (PASS)")
    assert evidence.files_checked == ("letter.txt",)


def test_obsv_03_the_prevention_rule_names_the_command_that_failed() -> None:
    rule = postmortem_of(
        Story().step("verify", failing("lint", command="make lint"), END).record, FAILED
    ).prevention_rule

    assert rule.startswith("In phase 1 (Letter 1) `make lint` failed (text of lint). ")
    assert rule.endswith(ADVICE["lint_failure"])


def test_there_is_advice_for_every_category() -> None:
    assert ADVICE.keys() == {*CATEGORIES, "plan_rejected", "reviewer_no_answer", "reviewer_without_evidence"}


@pytest.mark.parametrize("story", [story for story, *_ in STORIES.values()], ids=STORIES)
def test_what_failed_before_the_work_began_is_no_cause(story: Story) -> None:
    told = postmortem_of(story.record, FAILED)

    early_only = not any("verify" in moment.step or moment.step in {"execute", "debug"} for moment in told.timeline)
    assert not (early_only and DONE in told.prevention_rule)
    assert not (early_only and told.evidence.commands_run)


@pytest.mark.parametrize("step", ["verify", "judge"])
def test_a_reviewers_fault_teaches_planners_nothing_about_the_work(step: str) -> None:
    finish = Finish("failed", f"no usable answer in {step} after 2 tries (crashed): exit 3", rollback=True)
    rule = postmortem_of(early().step(step, silent("crashed"), END).record, finish).prevention_rule

    assert rule == (
        f"In phase 1 (Letter 1) the attempt ended with: no usable answer in {step} after 2 tries (crashed): exit 3. "
        "The work is not the cause: check the reviewing agent, then start the phase again."
    )


def test_a_failure_is_dated_from_the_first_time_the_command_failed() -> None:
    story = early().step("verify", failing("lint", command="make lint"), Retry(step="debug", because="x"))
    first = story.entries[-1].at
    story.step("debug", debugged()).step("verify", failing("lint", command="make lint"), END)

    assert postmortem_of(story.record, FAILED).root_cause.first_observed_at == first


def test_a_task_set_aside_is_half_a_success() -> None:
    story = Story().step("execute", Executed(work=work(passed=False)), Advance(to="verify", because="task FAILED: x"))

    assert postmortem_of(story.record, FAILED).timeline[0].status == "partial"


def test_lrng_01_a_learning_has_rule_and_context() -> None:
    told = postmortem_of(Story().step("verify", failing(), END).record, FAILED)

    assert learning(told) == (
        "### Phase 1 failure -- acceptance_criteria_unmet\n"
        f"**Prevention rule:** {told.prevention_rule}\n"
        "**Context:** Phase 1 (Letter 1) failed with category `acceptance_criteria_unmet`. "
        "Recorded: 2026-01-01T12:00:00.000Z.\n"
    )


def test_obsv_04_a_failed_pass_leaves_its_post_mortem_and_a_learning() -> None:
    shelf = Shelf()

    assert write_postmortem(Story().step("verify", failing(), END).record, FAILED, shelf) == ()
    told = json.loads(shelf.files["phase-1-postmortem.json"])
    assert (told["phase_id"], told["status"], told["root_cause"]["step"]) == ("1", "failed", "verify")
    assert shelf.learnings().startswith("### Phase 1 failure")


def test_obsv_05_what_cannot_be_written_is_told_and_stops_nothing() -> None:
    assert write_postmortem(Story().record, FAILED, Shelf(full=True)) == (
        "post-mortem could not be written: the disk is full",
        "learnings could not be written: the disk is full",
    )


@pytest.mark.parametrize("status", ["completed", "needs_human_verification"])
def test_only_a_failure_has_a_post_mortem(status: Any) -> None:
    shelf = Shelf()

    assert write_postmortem(Story().record, Finish(status, ""), shelf) == ()
    assert shelf.files == {}


@pytest.mark.parametrize(("rule", "category"), [("PTV-02", "acceptance_criteria_unmet"), ("PTV-03", "build_failure")])
def test_obsv_03b_a_file_that_cannot_be_read_is_a_cause(rule: str, category: str) -> None:
    broken = Finding(rule=rule, where="a.json", what="cannot be read")
    told = Story().step("verify", Verified(commit="c", tree="t", checks=(ran(),), content=(broken,)), END)

    assert postmortem_of(told.record, FAILED).root_cause.category == category
