"""What the reports of a pass say, line by line."""

from autopilot.domain.answers import (
    CriterionResult,
    CriterionScore,
    DivergenceOpinion,
    JudgeOpinion,
    RateOpinion,
    VerifyOpinion,
)
from autopilot.domain.phase import Plan
from autopilot.domain.results import Compared, Judged, Rated, Verified
from autopilot.domain.settings import Limits
from autopilot.engine.close.outcome import outcome_of
from autopilot.engine.decide.next_step import Finish
from autopilot.pipeline import artifacts
from autopilot.steps import verify
from support.records import DONE, Story, ran, task
from support.tools import SaidAgents, SaidFacts, tools


def report_of(seen: Verified) -> str:
    return artifacts(Story().step("verify", seen).record)["VERIFICATION.md"]


def test_vrfy_08_each_criterion_is_told_as_verified_or_failed_with_its_evidence() -> None:
    runs = (ran("SC-1", sandbox="bubblewrap"), ran("SC-2", passed=False))
    said = (CriterionResult(criterion="it greets", status="verified", evidence="a.py:3"),)
    text = report_of(
        Verified(commit="c", tree="t", checks=runs, opinion=VerifyOpinion(passed=True, criteria_results=said))
    )

    assert f"| text of SC-1 | `{DONE}` | 0 | output of SC-1 | VERIFIED |" in text
    assert f"| text of SC-2 | `{DONE}` | 1 | output of SC-2 | FAILED |" in text
    assert "- it greets: verified -- a.py:3" in text


def test_sbox_01_a_command_that_ran_over_is_recorded_as_failed() -> None:
    text = report_of(Verified(commit="c", tree="t", checks=(ran("SC-1", passed=False, exit_code=None),)))

    assert Limits().command_seconds == 60
    assert "## Sandbox Execution Results\n| Criterion | Command | Exit Code | Output | Assessment |" in text
    assert f"| text of SC-1 | `{DONE}` | timeout | output of SC-1 | FAILED |" in text


def test_vrfy_11_the_verifier_s_time_is_the_one_we_measured() -> None:
    opinion = VerifyOpinion(passed=True, commands_run=(DONE,), verification_duration_seconds=999.0)
    agents = SaidAgents({"verify": opinion})
    told = Story()

    seen = verify.run(told.record, tools(agents=agents, facts=SaidFacts(frozenset({DONE}))))
    ended = outcome_of(told.step("verify", seen).record, Finish("completed", "fine"))

    assert (seen.seconds, ended.verification_duration_seconds) == (1.0, 1.0)


def test_judg_05_the_comparison_lists_agreements_disagreements_and_what_each_missed() -> None:
    own = JudgeOpinion(recommendation="proceed", concerns=("thin",))
    second = DivergenceOpinion(
        recommendation="debug", agreements=("a",), disagreements=("b",), verifier_missed=("c",), judge_missed=("d",)
    )
    told = Story().step("judge", Judged(opinion=own)).step("judge_divergence", Compared(opinion=second))
    text = artifacts(told.record)["JUDGE-REPORT.md"].partition("## Divergence Analysis")[2]

    assert "### Agreements\n- a\n### Disagreements\n- b\n" in text
    assert "### Missed by the verifier\n- c\n### Missed by the judge\n- d\n" in text


def test_rate_04_a_task_without_a_test_file_is_a_gap_in_the_coverage() -> None:
    bare = Plan(text="# plan\n", tasks=(task(),))
    opinion = RateOpinion(alignment_score=9.0, scorecard=(CriterionScore(score=9.0),))
    told = Story().planned(bare).executed().verified().step("rate", Rated(opinion=opinion, score=9.0))

    assert "## Test Coverage\n0/1 tasks with tests, 0/0 assertions passed" in artifacts(told.record)["SCORECARD.md"]
