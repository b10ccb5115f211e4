"""What a pass leaves to read: rendered from facts and answers, in the forms the rules name."""

import json
from typing import Any

import pytest

from autopilot.domain.answers import Categorised, CriterionScore, RateOpinion, ResearchClaim, Trace, VerifyOpinion
from autopilot.domain.results import Executed, Lowered, PlanChecked, Planned, Rated, Researched, Triaged, Verified
from autopilot.domain.verdict import Advance, Retry
from autopilot.pipeline import artifacts
from autopilot.steps.checks import test_specs
from support.records import CLAIMED, DONE, OPINED, PLANNED, Story, brief, phase, plan, ran, task, whole, work


def test_a_record_without_steps_has_no_artifacts() -> None:
    assert artifacts(Story().record) == {}


def test_a_whole_pass_leaves_every_artifact() -> None:
    """VRFY-09, DIR-01, with the traces of `trace_test`; CONTEXT.md is a discussion's, HANDOFF.md an exhausted pass's."""
    assert artifacts(whole()).keys() == {
        "TRIAGE.json", "RESEARCH.md", "PLAN.md", "tests/task-01-01.sh", "EXECUTION-LOG.md", "VERIFICATION.md",
        "JUDGE-REPORT.md", "SCORECARD.md", "VERIFICATION.json", "JUDGE-REPORT.json", "SCORECARD.json",
        "SUMMARY.md",
    }  # fmt: skip


def test_dir_01_a_summary_tells_what_passed_and_is_written_by_no_other_pass() -> None:
    text = artifacts(whole())["SUMMARY.md"]

    assert "- **Alignment Score:** 9.4/10\n- **Checks:** 1/1 commands passed\n- **Commit SHA:** c1\n" in text
    assert "| 01-01 | title of 01-01 | COMPLETED | c1 | letter.txt |" in text
    assert CLAIMED not in text
    assert "SUMMARY.md" not in artifacts(Story().planned().executed().verified().judged().record)
    low = Story().planned().executed().verified().judged().rated(6.0, Retry(step="research", because="low"))
    assert "SUMMARY.md" not in artifacts(low.record)


def test_dir_01_a_remediation_and_work_that_was_there_have_summaries_too() -> None:
    mended = Story(brief(cycle=1, plan=plan())).executed("1-R1").verified().judged().rated()
    there = Story().step("triage", Triaged(routing="verify_only", source="roadmap", checks=(ran("SC-1"),)))

    assert "| 1-R1 | remediation 1 | COMPLETED | c1 | letter.txt |" in artifacts(mended.record)["SUMMARY-R1.md"]
    assert "none: the work was there" in artifacts(there.verified().judged().rated().record)["SUMMARY.md"]


def test_triage_is_told_as_json() -> None:
    told = json.loads(artifacts(whole())["TRIAGE.json"])

    assert (told["phase_id"], told["routing_decision"], told["pass_ratio"]) == ("1", "full_pipeline", 0.0)
    assert told["criteria_checked"] == [
        {"criterion": "text of SC-1", "command": DONE, "result": "fail", "output": "output of SC-1"}
    ]


def test_the_execution_log_tells_facts_and_marks_the_claim_as_one() -> None:
    log = artifacts(whole())["EXECUTION-LOG.md"]

    assert "## Task 01-01: title of 01-01\n- **Status:** COMPLETED\n- **Commit SHA:** c1\n" in log
    assert f"PASS: text of 01-01.1 -- `{DONE}` (exit 0, 0.1 s, tree tttttttttttt)" in log
    assert f"- **The agent's claim:** {CLAIMED} completed" in log


def test_a_failed_task_is_logged_as_failed() -> None:
    told = Story().planned()
    told.step("execute", Executed(work=work(passed=False)), Advance(to="verify", because="task FAILED: x"), "base")

    assert "- **Status:** FAILED" in artifacts(told.record)["EXECUTION-LOG.md"]


def test_a_remediation_keeps_a_log_of_its_own() -> None:
    told = Story(brief(cycle=1, plan=plan())).executed("1-R1")

    assert "EXECUTION-LOG-R1.md" in artifacts(told.record)


def test_a_verification_that_failed_does_not_say_passed() -> None:
    """VRFY-09."""
    good = artifacts(whole())["VERIFICATION.md"]
    bad = artifacts(Story().planned().executed().verified(passed=False).record)["VERIFICATION.md"]

    assert "\nstatus: passed\nscore: 1/1 commands passed\n" in good
    assert OPINED in good
    assert "\nstatus: gaps_found\nscore: 0/1 commands passed\n" in bad
    assert "not asked: a command failed" in bad


def test_the_judge_s_own_evidence_stands_before_the_comparison() -> None:
    """JUDG-04."""
    report = artifacts(whole())["JUDGE-REPORT.md"]

    assert report.index("## Independent Evidence") < report.index("## Divergence Analysis")


def test_a_scorecard_keeps_its_table_whatever_is_written_in_it() -> None:
    row = CriterionScore(criterion="a|b", score=9.0, evidence="x\ny")
    opinion = RateOpinion(alignment_score=9.0, scorecard=(row,))
    card = artifacts(Story().step("rate", Rated(opinion=opinion, score=9.0)).record)["SCORECARD.md"]

    assert "| a\\|b | 9.0 | x y |  |  |" in card
    assert "**Alignment Score: 9.0/10**" in card


def test_research_that_wrote_a_file_is_that_file() -> None:
    """RSCH-02."""
    wrote = Researched(claim=ResearchClaim(risks=("rain",)), text="# found\n")
    spoke = Researched(claim=ResearchClaim(risks=("rain",)))

    assert artifacts(Story().step("research", wrote).record)["RESEARCH.md"] == "# found\n"
    assert "## Risks\n- rain\n" in artifacts(Story().step("research", spoke).record)["RESEARCH.md"]


def test_the_plan_shown_is_the_newest_proposal_until_it_is_decided_on() -> None:
    old, new = plan(), plan(task("01-02"))
    new = type(new)(text="# another\n", tasks=new.tasks)
    told = Story().planned(old).rated(6.0, Retry(step="research", because="low"))
    assert PLANNED in artifacts(told.record)["PLAN.md"]

    told.step("plan", Planned(plan=new))
    assert artifacts(told.record)["PLAN.md"] == "# another\n"
    told.step("plan_check", PlanChecked(plan=new), Retry(step="plan", because="no")).step("plan", Planned(plan=None))
    assert artifacts(told.record)["PLAN.md"] == "# another\n"


def verified(story: Story, **more: Any) -> dict[str, str]:
    fields: dict[str, Any] = {"commit": "c1", "tree": "t", "checks": (ran("SC-1"),), **more}
    return artifacts(story.step("verify", Verified(**fields)).record)


SPEC_RUN = ran("01-01.test", command="bash .planning/x/tests/task-01-01.sh", output="PASS: a\nPASS: b\nFAIL: c\n")


def test_tspc_01_our_runs_of_the_test_files_are_told() -> None:
    papers = verified(Story().planned(), checks=(ran("SC-1"), SPEC_RUN))

    assert "| 01-01 | tests/task-01-01.sh | 2/1 | 0 | FAILED |" in papers["VERIFICATION.md"]
    assert json.loads(papers["VERIFICATION.json"])["specs"][0]["passed"] == 2


def test_tspc_01_without_test_files_the_report_says_so() -> None:
    assert test_specs.NONE in verified(Story())["VERIFICATION.md"]


def test_vrfy_07_a_check_that_is_not_configured_is_not_a_failure() -> None:
    gates = (ran("lint", passed=False, command="make lint"), ran("build", command="make"))
    text = verified(Story(), gates=gates, old_failures=("lint",))["VERIFICATION.md"]

    assert "- compile: n/a\n- lint: FAIL, as before this phase (`make lint`): output of lint\n- test: n/a\n" in text
    assert "- build: PASS (`make`, 0.1 s)" in text


@pytest.mark.parametrize(("kind", "told"), [("ui", True), ("mixed", True), ("data", False)])
def test_btrc_01_traces_are_told_where_there_is_something_to_touch(kind: str, told: bool) -> None:
    trace = Trace(handler="onClick", file_line="a.ts:1", chain="a -> b", terminal_action="saves")
    opinion = VerifyOpinion(passed=True, behavioral_traces=(trace,))
    text = verified(Story(brief(phase=phase(type=kind))), opinion=opinion)["VERIFICATION.md"]

    row = "| onClick | a.ts:1 | a -> b | saves |  | BEHAVIORAL_UNVERIFIABLE |"
    assert (row in text, "## Behavioral Traces" in text) == (told, told)


def test_every_failure_is_told_with_its_category() -> None:
    """VRFY-05b."""
    gates = (ran("compile", passed=False), ran("lint", passed=False), ran("test", passed=False, exit_code=None))
    named = (Categorised(failure="no date", category="scope_creep"),)
    opinion = VerifyOpinion(passed=False, failures=("no date", "no greeting"), failure_categories=named)
    text = verified(Story(), gates=gates, checks=(ran("SC-1", passed=False),), opinion=opinion)["VERIFICATION.md"]

    for told in ("SC-1 (acceptance_criteria_unmet)", "compile (compilation_failure)", "lint (lint_failure)"):
        assert f"- text of {told}\n" in text
    assert "- text of test (tool_failure)\n- no date (scope_creep)\n- no greeting (unclassified)\n" in text


def test_rate_10_a_scorecard_tells_deductions_coverage_and_side_effects() -> None:
    row = CriterionScore(criterion="a", score=9.5, justification="too short")
    opinion = RateOpinion(alignment_score=9.5, scorecard=(row,), side_effects=("a new file",))
    story = Story().planned()
    verified(story, checks=(SPEC_RUN,))
    card = artifacts(story.step("rate", Rated(opinion=opinion, score=9.5)).record)["SCORECARD.md"]

    assert "## Deductions\n- a: -0.5 -- too short\n" in card
    assert "1/1 tasks with tests, 2/3 assertions passed" in card
    assert "## Side Effects\n- a new file\n" in card


@pytest.mark.parametrize("name", ["VERIFICATION", "JUDGE-REPORT", "SCORECARD"])
def test_every_report_has_a_twin_with_the_typed_values(name: str) -> None:
    told = json.loads(artifacts(whole())[f"{name}.json"])

    kinds = {"VERIFICATION": "Verified", "JUDGE-REPORT": "Judged", "SCORECARD": "Rated"}
    assert (told["phase_id"], told["result"]["kind"]) == ("1", kinds[name])


def test_sbox_02_a_scorecard_shows_our_execution_before_a_search_and_before_words() -> None:
    row = CriterionScore(criterion="text of SC-1", score=9.0, evidence="a.js:1", command_output="2 matches")
    story = Story()
    verified(story, checks=(ran("SC-1", command="grep -q x a.js"), ran("SC-1", command="node a.js", output="hello")))
    opinion = RateOpinion(alignment_score=9.0, scorecard=(row,))
    card = artifacts(story.step("rate", Rated(opinion=opinion, score=9.0)).record)["SCORECARD.md"]

    assert "| text of SC-1 | 9.0 | a.js:1 | PASS hello |  |" in card


def test_rate_05_a_deduction_names_the_cap_it_comes_from() -> None:
    row = CriterionScore(criterion="a", score=4.9, justification="nearly")
    low = Lowered(criterion="a", said=9.5, counted=4.9, because=("a trace contradicts it",))
    opinion = RateOpinion(alignment_score=9.5, scorecard=(row,))
    record = Story().step("rate", Rated(opinion=opinion, score=4.9, lowered=(low,))).record

    assert "- a: -5.1 -- nearly; held at 4.9: a trace contradicts it\n" in artifacts(record)["SCORECARD.md"]
