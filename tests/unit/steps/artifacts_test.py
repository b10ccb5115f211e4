"""What a pass leaves to read: rendered from facts and answers, in the forms the rules name."""

import json

from autopilot.domain.answers import CriterionScore, RateOpinion, ResearchClaim
from autopilot.domain.results import Executed, PlanChecked, Planned, Rated, Researched
from autopilot.domain.verdict import Advance, Retry
from autopilot.pipeline import artifacts
from support.records import CLAIMED, DONE, OPINED, PLANNED, Story, brief, plan, task, whole, work


def test_a_record_without_steps_has_no_artifacts() -> None:
    assert artifacts(Story().record) == {}


def test_a_whole_pass_leaves_every_artifact() -> None:
    assert artifacts(whole()).keys() == {
        "TRIAGE.json", "RESEARCH.md", "PLAN.md", "tests/task-01-01.sh", "EXECUTION-LOG.md", "VERIFICATION.md",
        "JUDGE-REPORT.md", "SCORECARD.md",
    }  # fmt: skip


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
    good = artifacts(whole())["VERIFICATION.md"]
    bad = artifacts(Story().planned().executed().verified(passed=False).record)["VERIFICATION.md"]

    assert "\nstatus: passed\nscore: 1/1 commands passed\n" in good
    assert OPINED in good
    assert "\nstatus: gaps_found\nscore: 0/1 commands passed\n" in bad
    assert "not asked: a command failed" in bad


def test_the_judge_s_own_evidence_stands_before_the_comparison() -> None:
    report = artifacts(whole())["JUDGE-REPORT.md"]

    assert report.index("## Independent Evidence") < report.index("## Divergence Analysis")


def test_a_scorecard_keeps_its_table_whatever_is_written_in_it() -> None:
    row = CriterionScore(criterion="a|b", score=9.0, evidence="x\ny")
    opinion = RateOpinion(alignment_score=9.0, scorecard=(row,))
    card = artifacts(Story().step("rate", Rated(opinion=opinion, score=9.0)).record)["SCORECARD.md"]

    assert "| a\\|b | 9.0 | x y |  |  |" in card
    assert "**Alignment Score: 9.0/10**" in card


def test_research_that_wrote_a_file_is_that_file() -> None:
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
