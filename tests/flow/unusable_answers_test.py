"""An answer that leaves something out: what is optional is taken, the rest is asked again at its step, paid once."""

from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.events import PhaseFinished, PhaseStarted, StepFinished
from autopilot.domain.results import Compared, MiniVerified, Rated, Unanswered
from support.project import plan_answer, rate_answer, reviews, work_answer
from support.runs import Drive, driven

PLAN = plan_answer("1", [("letter1.txt", "done")])
GOOD = work_answer("1", "01-01", "letter1.txt", "done 1\n")
NONSENSE: dict[str, Any] = {"recommendation": "maybe"}
BEFORE = ["preflight", "triage", "research", "plan", "plan_check", "execute", "mini_verify", "verify", "judge"]


def answers(**instead: dict[str, Any]) -> list[dict[str, Any]]:
    """Honest reviewers, but for the roles named."""
    others = [answer for answer in reviews() if answer["role"] not in instead]
    return [*others, *({"role": role, "result": result} for role, result in instead.items()), PLAN, GOOD]


def compared(project: Drive) -> list[Compared]:
    return [step.result for step in project.of(StepFinished) if isinstance(step.result, Compared)]


def test_judg_05_a_comparison_without_a_recommendation_leaves_the_judges_first_word(place: Path) -> None:
    project = driven(place, answers(judge_divergence={"agreements": ["letter1.txt:1 is there"]}))

    assert project.run().exit == 0
    assert [seen.opinion.word for seen in compared(project)] == ["proceed"]
    assert project.calls.count("1/judge_divergence/1") == 1
    assert "1/judge_divergence/1.2" not in project.calls


def test_judg_05_differences_without_a_recommendation_do_not_pass(place: Path) -> None:
    open_ends = {"agreements": ["it is there"], "verifier_missed": ["the date is wrong"]}
    stuck = {"role": "debug", "result": {"fixed": True}}
    project = driven(place, [*answers(judge_divergence=open_ends), stuck])

    assert project.run().exit == 10
    assert "1/judge_divergence/1.2" in project.calls, "the judge is asked what it recommends"
    assert {seen.opinion.word for seen in compared(project)} == {"debug"}


@pytest.mark.parametrize("empty", [{}, {"concerns": ["short"]}, {"recommendation": None, "agreements": []}])
def test_judg_05_an_answer_that_compares_nothing_is_no_pass(place: Path, empty: dict[str, Any]) -> None:
    given = {key: value for key, value in empty.items() if value is not None}
    project = driven(place, answers(judge_divergence=given))

    assert project.run().exit == 10
    assert project.of(PhaseFinished)[-1].outcome.reason.startswith("The judge's second answer compares nothing")
    assert "1/judge_divergence/2" in project.calls


def test_a_malformed_late_answer_is_asked_again_at_its_step_and_resume_continues_there(place: Path) -> None:
    project = driven(place, answers(judge_divergence=NONSENSE))

    end = project.run()

    assert (end.exit, project.steps) == (10, [*BEFORE, "judge_divergence", "judge_divergence"])
    assert "no usable answer in judge_divergence after 2 tries (bad_output)" in end.phases["1"].reason
    paid = list(project.calls)

    project.rewrite(answers(judge_divergence={"agreements": ["it is there"]}))
    end = project.resume()

    assert end.exit == 0
    assert project.steps[len(BEFORE) + 2 :][:2] == ["judge_divergence", "rate"]
    assert project.calls[len(paid) :][:2] == ["1/judge_divergence/3", "1/rate/1"]
    assert (project.root / "letter1.txt").read_text(encoding="utf-8") == "done 1\n"
    assert "Phase 1: continuing from judge_divergence. 9 finished steps are kept." in project.told()


@pytest.mark.parametrize("role", ["research", "plan_check", "mini_verify", "verify", "judge", "rate"])
def test_no_finished_step_is_paid_for_twice(place: Path, role: str) -> None:
    """Whichever step got no usable answer: what came before it is kept, what follows is done once."""
    broken = {"pass": "perhaps", "recommendation": 5, "scorecard": "none", "key_findings": 1}
    project = driven(place, answers(**{role: broken}))
    assert project.run().exit == 10
    done = [step.step for step in project.of(StepFinished) if not isinstance(step.result, Unanswered)]

    project.rewrite(answers())
    assert project.resume().exit == 0

    steps = [step.step for step in project.of(StepFinished) if not isinstance(step.result, Unanswered)]
    assert steps[: len(done) + 1] == [*done, role]
    assert {step: steps.count(step) for step in BEFORE} == dict.fromkeys(BEFORE, 1)
    assert project.of(PhaseStarted)[-1].brief.base == project.of(PhaseStarted)[0].brief.base


def test_rate_12_a_rating_without_its_own_number_is_the_mean_of_its_rows(place: Path) -> None:
    rating = {key: value for key, value in rate_answer(9.4)["result"].items() if key != "alignment_score"}
    project = driven(place, answers(rate=rating))

    end = project.run()

    assert (end.exit, end.phases["1"].score) == (0, 9.4)
    (rated,) = (step.result for step in project.of(StepFinished) if isinstance(step.result, Rated))
    assert (rated.opinion.alignment_score, rated.issues) == (None, ("The rating has no alignment_score.",))


@pytest.mark.parametrize("lacking", ["scorecard", "commands_run"])
def test_rate_12_a_rating_without_rows_or_commands_is_none(place: Path, lacking: str) -> None:
    rating = {key: value for key, value in rate_answer(9.4)["result"].items() if key != lacking}
    project = driven(place, answers(rate=rating))

    assert project.run().exit == 10
    assert project.calls[-4:] == ["1/rate/1", "1/rate/1.2", "1/rate/2", "1/rate/2.2"]


@pytest.mark.parametrize("status", ["", "unknown", "n/a", "perhaps"])
def test_pvrf_01c_a_row_that_does_not_say_whether_its_criterion_holds_is_no_pass(place: Path, status: str) -> None:
    rows = [{"criterion": "letter1.txt says done", "status": status, "evidence": "letter1.txt:1"}]
    unclear = {"pass": True, "commands_run": ["grep"], "criteria_results": rows}
    stuck = {"role": "debug", "result": {"fixed": True}}
    project = driven(place, [*answers(mini_verify=unclear), stuck])

    project.run()

    assert "1/mini_verify/1.2" in project.calls, "the reviewer is asked what it means"
    assert "task 01-01 FAILED" in project.of(PhaseFinished)[-1].outcome.issues


def test_exec_r1_work_is_not_thrown_away_for_the_shape_of_what_is_said_about_it(place: Path) -> None:
    said = {"tasks_completed": 1, "evidence": ["letter1.txt says done"], "deviations": "none"}
    slip = {**GOOD, "result": said}
    row = {"criterion": "letter1.txt says done", "status": "pass", "evidence": ["letter1.txt:1", "done"]}
    seen = {"pass": True, "commands_run": "grep", "criteria_results": [row]}
    others = [answer for answer in reviews() if answer["role"] != "mini_verify"]
    project = driven(place, [*others, {"role": "mini_verify", "result": seen}, PLAN, slip])

    assert project.run().exit == 0
    assert not [call for call in project.calls if call.endswith(".2")], "nobody is asked again"
    (looked,) = (step.result for step in project.of(StepFinished) if isinstance(step.result, MiniVerified))
    assert looked.opinion is not None
    assert looked.opinion.criteria_results[0].evidence == "letter1.txt:1; done"


def test_vrfy_06_another_shape_hides_no_words_of_others(place: Path) -> None:
    rating = rate_answer(9.4)["result"]
    rows = [{**row, "evidence": [row["evidence"], "the judge approved it"]} for row in rating["scorecard"]]
    project = driven(place, answers(rate={**rating, "scorecard": rows}))

    project.run()

    assert "1/rate/1.2" in project.calls, "the rater is told not to lean on others"
    (rated,) = (step.result for step in project.of(StepFinished) if isinstance(step.result, Rated))
    assert [issue for issue in rated.issues if issue.startswith("cross_contamination: rater")]
