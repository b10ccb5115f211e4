"""Why a pass failed, as its record tells it: the cause by the rule, what was tried, and one rule for next time."""

import json
from typing import Any

import pytest

from autopilot.domain.answers import Categorised, FixClaim, JudgeOpinion, VerifyOpinion
from autopilot.domain.evidence import Finding
from autopilot.domain.results import Debugged, Executed, Judged, Preflighted, Unanswered, Verified
from autopilot.domain.taxonomy import CATEGORIES
from autopilot.domain.verdict import Advance, Retry, Stop
from autopilot.engine.decide import Finish
from autopilot.engine.papers import write_postmortem
from autopilot.engine.postmortem import ADVICE, learning, postmortem_of
from support.papers import Shelf
from support.records import DONE, Story, plan, ran, task, work

FAILED = Finish("failed", "max retries exceeded: no greeting", rollback=True)
END = Stop(because="no good", rollback=True)


def named(*categories: str) -> tuple[Categorised, ...]:
    return tuple(Categorised(failure="f", category=c) for c in categories)


def said(*categories: str) -> Verified:
    opinion = VerifyOpinion(passed=False, failure_categories=named(*categories))
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
    return Judged(opinion=JudgeOpinion(recommendation="halt", **more))


STORIES: dict[str, tuple[Story, str, str]] = {
    "the verifier's first word": (
        Story().step("verify", said("laziness", "lint_failure", "scope_creep"), END), "lint_failure", "verify"),
    "the earliest verification": (
        Story().step("verify", said("scope_creep")).step("verify", said("lint_failure"), END), "scope_creep", "verify"),
    "preflight": (Story().step("preflight", preflight(met=True), END), "tool_failure", "preflight"),
    "a dependency": (Story().step("preflight", preflight(met=False), END), "coordination_failure", "preflight"),
    "the last debugger": (
        Story().step("debug", debugged("lint_failure")).step("debug", debugged("build_failure"))
        .step("verify", failing(), END), "build_failure", "debug"),
    "the judge, about scope": (
        Story().step("judge", judged(concerns=("out of scope",)), END), "scope_creep", "judge"),
    "the judge, about gaps": (
        Story().step("judge", judged(missing_requirements=("R1",)), END), "executor_incomplete", "judge"),
    "the judge, otherwise": (
        Story().step("judge", judged(concerns=("wrong",)), END), "executor_wrong_approach", "judge"),
    "our own facts": (Story().step("verify", failing("compile"), END), "compilation_failure", "verify"),
    "a command cut off": (Story().step("verify", failing(exit_code=None), END), "tool_failure", "verify"),
    "no answer": (Story().step("plan", silent("crashed"), END), "tool_failure", "plan"),
    "no room left": (Story().step("plan", silent("context_exhausted"), END), "context_exhaustion", "plan"),
    "nothing known": (Story(), "acceptance_criteria_unmet", "preflight"),
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
    assert ADVICE.keys() == set(CATEGORIES)


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
