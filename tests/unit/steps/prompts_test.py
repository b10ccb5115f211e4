"""What agents are told: everything they need, nothing they must not know, and in few words."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.domain.answers import FixClaim, PlanClaim, ResearchClaim, VerifyOpinion, WorkClaim
from autopilot.domain.evidence import Claim, Finding
from autopilot.domain.phase import Expectation
from autopilot.domain.results import Executed, Primed, Triaged, Verified
from autopilot.domain.verdict import Retry
from autopilot.history.record import PhaseRecord
from autopilot.steps import (
    debug,
    execute,
    fix,
    judge,
    judge_divergence,
    mini_verify,
    plan,
    plan_check,
    rate,
    research,
    verify,
)
from autopilot.steps.prompt import all_criteria, criterion_line, heading, render
from support.records import (
    BASE,
    CLAIMED,
    DIR,
    DONE,
    OPINED,
    PLANNED,
    Story,
    brief,
    criterion,
    phase,
    ran,
    retold,
    task,
    whole,
    work,
)
from support.records import (
    plan as made_plan,
)
from support.strategies import edge_values

PRIMED = Primed(
    files=tuple(f"src/some/folder/module_{n}.py" for n in range(5)),
    baseline="FAIL (12 errors)",
    learnings="3 known from earlier failures",
)
PROMPTS: dict[str, Callable[[PhaseRecord], str]] = {
    "research": research.prompt,
    "plan": plan.prompt,
    "plan_check": plan_check.prompt,
    "execute": lambda record: execute.prompt(record, task(), PRIMED),
    "execute_batch": lambda record: execute.batch_prompt(record, PRIMED),
    "fix": lambda record: fix.prompt(record, task()),
    "mini_verify": lambda record: mini_verify.prompt(record, task()),
    "debug": debug.prompt,
    "verify": verify.prompt,
    "judge": judge.prompt,
    "judge_divergence": judge_divergence.prompt,
    "rate": rate.prompt,
}
BLIND = ("mini_verify", "verify", "judge", "rate")
CLAIM_KINDS: tuple[type[Claim], ...] = (ResearchClaim, PlanClaim, WorkClaim, FixClaim)
ONE_TASK_TOKENS, LETTERS_A_TOKEN = 9_000, 3.5

every_prompt = pytest.mark.parametrize("name", PROMPTS)


@every_prompt
def test_a_prompt_is_filled_in_and_says_how_to_answer(name: str) -> None:
    text = PROMPTS[name](whole())

    assert "{{" not in text
    assert "Answer with JSON: " in text
    assert "Letter 1" in text


@pytest.mark.parametrize("name", BLIND)
def test_a_blind_reviewer_is_told_nothing_anybody_said(name: str) -> None:
    """VRFY-01, JUDG-01, RATE-01."""
    text = PROMPTS[name](whole())

    assert CLAIMED not in text
    assert OPINED not in text
    assert DONE in text


@pytest.mark.parametrize("name", BLIND)
@settings(max_examples=20)
@given(data=st.data())
def test_no_claim_changes_a_letter_of_what_a_reviewer_is_told(name: str, data: st.DataObject) -> None:
    """VRFY-01, JUDG-01."""
    claims = {kind: data.draw(edge_values(kind)) for kind in CLAIM_KINDS}

    assert PROMPTS[name](retold(whole(), claims)) == PROMPTS[name](whole())


@pytest.mark.parametrize("name", ["judge", "rate"])
@settings(max_examples=20)
@given(opinion=edge_values(VerifyOpinion))
def test_no_opinion_of_the_verifier_reaches_judge_or_rater(name: str, opinion: VerifyOpinion) -> None:
    """JUDG-01, RATE-01."""
    told = Story().planned().executed()
    told.step("verify", Verified(commit="c1", tree="t", checks=(ran("SC-1"),), opinion=opinion))

    assert PROMPTS[name](told.record) == PROMPTS[name](Story().planned().executed().verified().record)


def test_the_rater_is_told_neither_plan_nor_goal_nor_where_they_are() -> None:
    """RATE-01."""
    text = PROMPTS["rate"](whole())

    assert PLANNED not in text
    assert DIR not in text
    assert ".planning" not in text
    assert whole().phase.goal not in text


@pytest.mark.parametrize("name", ["verify", "judge", "rate", "judge_divergence"])
def test_a_reviewer_of_the_phase_is_told_where_the_change_begins(name: str) -> None:
    assert f"git diff {BASE} HEAD" in PROMPTS[name](whole())


def test_all_prompts_of_a_phase_of_one_task_stay_short() -> None:
    letters = sum(len(prompt(whole())) for prompt in PROMPTS.values())

    assert letters / LETTERS_A_TOKEN < ONE_TASK_TOKENS


@pytest.mark.parametrize("name", ["research", "plan", "mini_verify", "verify", "judge"])
def test_who_is_asked_again_is_told_why(name: str) -> None:
    told = Story().planned().executed().verified(Retry(step=name, because="You ran nothing."))

    assert "You ran nothing." in PROMPTS[name](told.record)


def test_a_debugger_is_shown_what_failed_and_the_command_s_own_words() -> None:
    told = Story().planned().executed().verified(Retry(step="debug", because="SC-1 fails"), passed=False)

    text = PROMPTS["debug"](told.record)
    assert "SC-1 fails" in text
    assert f"$ {DONE}\noutput of SC-1" in text


def test_a_fixer_is_shown_what_failed_and_not_what_was_claimed() -> None:
    failed = Executed(work=work(passed=False), claim=WorkClaim(tasks_completed=CLAIMED))
    told = Story().planned().step("execute", failed, Retry(step="fix", because="01-01.1 fails"), "c1")

    text = PROMPTS["fix"](told.record)
    assert "01-01.1 fails" in text
    assert f"$ {DONE}\noutput of 01-01.1" in text
    assert CLAIMED not in text


def test_a_verifier_is_warned_when_the_work_was_there_before() -> None:
    there = Story().step("triage", Triaged(routing="verify_only", source="roadmap", checks=(ran("SC-1"),)))

    assert "held before this run" in PROMPTS["verify"](there.record)
    assert "held before this run" not in PROMPTS["verify"](whole())


def test_pvrf_01b_an_executor_is_told_what_the_tasks_before_left() -> None:
    made = made_plan(task("01-01"), task("01-02"))
    told = Story().planned(made)

    assert "none, this is the first task" in execute.prompt(told.record, task("01-01"))
    assert "- 01-01 title of 01-01: verified" in execute.prompt(told.executed().record, task("01-02"))


def test_a_value_with_braces_in_it_is_left_alone() -> None:
    record = Story(brief(phase=phase(goal="Use {{dir}} and {{nothing}}."))).record

    assert "Use {{dir}} and {{nothing}}." in research.prompt(record)


def test_a_hole_without_a_value_is_a_bug() -> None:
    with pytest.raises(KeyError, match="heading"):
        render("research")


def test_a_description_is_told_once() -> None:
    assert heading(Story(brief(phase=phase(description="More on it."))).record).endswith("\nMore on it.")
    assert heading(Story(brief(phase=phase(description="Write the letter."))).record).count("Write the letter.") == 1


@pytest.mark.parametrize(
    ("expect", "tail"),
    [
        ({}, "`"),
        ({"number": 1}, "` (expect EXIT:1)"),
        ({"form": "count", "number": 3}, "` (returns 3)"),
        ({"form": "at_least", "number": 2}, "` (returns at least 2)"),
        ({"form": "text", "text": "ok"}, '` (expect "ok")'),
    ],
    ids=["exit", "exit code", "count", "at least", "text"],
)
def test_a_criterion_is_told_in_the_words_plans_use(expect: dict[str, object], tail: str) -> None:
    line = criterion_line(criterion(expect=Expectation(**expect)))  # type: ignore[arg-type]  # cases as plain words

    assert line == f"text of 01-01.1 -- verified by: `{DONE}{tail}"


def test_the_user_s_criteria_come_first_and_each_command_once() -> None:
    counted = criterion("01-01.2", expect=Expectation(form="count", number=3))
    spoken = criterion("01-01.3", command=None)
    made = made_plan(task("01-01", criterion("01-01.1"), counted, spoken))

    names = [c.id for c in all_criteria(Story().planned(made).record)]
    assert names == ["SC-1", "01-01.2", "01-01.3"]


def test_who_mends_is_told_what_the_checks_were_run_without() -> None:
    left_out = Finding(rule="control-file", where="conftest.py", what="controls the checks", severity="warning")
    told = Story().planned()
    told.step("execute", Executed(work=work(passed=False, findings=(left_out,))), Retry(step="fix", because="x"), "c1")

    assert "conftest.py: controls the checks" in fix.prompt(told.record, told.record.tasks[0])


@pytest.mark.parametrize("prompt", [research.prompt, plan.prompt], ids=["research", "plan"])
def test_rmap_05_who_looks_for_the_way_is_told_where_the_map_is(prompt: Callable[[PhaseRecord], str]) -> None:
    """RMAP-06: research among them."""
    mapped = Story(brief(repo_map_path=".autopilot/repo-map.json")).record

    assert "Repo map path: .planning/repo-map.json" in prompt(mapped)
    assert "Repo map path" not in prompt(Story().record)
    assert "Codebase Structure" in research.prompt(mapped)
