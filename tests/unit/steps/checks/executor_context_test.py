"""What an executor is told before its first task, and where that is written down (EXEC-06)."""

from typing import Any

import pytest

from autopilot.domain.answers import WorkClaim
from autopilot.domain.results import Executed, Primed
from autopilot.domain.settings import Commands
from autopilot.domain.verdict import Advance
from autopilot.pipeline import artifacts
from autopilot.steps import execute
from autopilot.steps.artifacts.execution_log import priming_line
from autopilot.steps.checks import executor_context as priming
from support.records import BASE, RUN, Story, brief, plan, ran, started, task, work
from support.tools import SaidAgents, SaidFacts, tools

COMPILE = started(commands=Commands(compile="make"))


def primed(story: Story, **more: Any) -> Primed:
    found = priming.prime(story.record, tools(**more))
    assert found is not None
    return found


def test_exec_06_the_first_task_is_primed_with_files_baseline_and_learnings() -> None:
    facts = SaidFacts(frozenset({"make"}))

    found = primed(Story(start=COMPILE).planned(), facts=facts, learnings="# Learnings\n\n### Phase 0 failure\n")

    assert found == Primed(
        files=("letter.txt",), baseline="PASS (0 errors)", learnings="1 known from earlier failures",
        repo_map="not found",
    )  # fmt: skip


def test_exec_06_without_a_command_and_without_learnings_the_priming_says_so() -> None:
    found = primed(Story().planned())

    assert (found.baseline, found.learnings) == (
        "Compile command not configured -- compile gate skipped.", "no learnings file found",
    )  # fmt: skip


def test_exec_06_only_the_first_task_of_a_plan_is_primed() -> None:
    two = Story().planned(plan(task("01-01"), task("01-02"))).executed("01-01", then="execute")

    assert priming.prime(two.record, tools()) is None


def test_exec_06_a_remediation_is_primed_with_the_files_of_the_plan_it_mends() -> None:
    assert primed(Story(brief(cycle=1, plan=plan()))).files == ("letter.txt",)


@pytest.mark.parametrize(
    ("output", "count"),
    [
        ("a.ts(1): error TS1\nb.ts(2): error TS2\n", 2),
        ("error: x\nFound 12 errors in 3 files\n", 12),
        ("warning: 0 errors before\n3 errors\n", 3),
        ("Segmentation fault\n", 1),
        ("", 1),
    ],
    ids=["by line", "as counted", "the last count", "no word of it", "nothing"],
)
def test_exec_06_a_failing_baseline_is_told_with_its_errors(output: str, count: int) -> None:
    assert priming.baseline_words(ran("compile", passed=False, output=output)) == f"FAIL ({count} errors)"


def test_exec_06_the_prompt_holds_the_priming_and_a_later_one_does_not() -> None:
    record = Story().planned().record
    told = Primed(files=("a.py", "b.py"), baseline="PASS (0 errors)", learnings="no learnings file found")

    for text in (execute.prompt(record, task(), told), execute.batch_prompt(record, told)):
        assert "Read first: the plan; a.py, b.py.\nCompile before your work: PASS (0 errors)\nLearnings: no " in text
    assert "Read first" not in execute.prompt(record, task())


def test_exec_06_the_step_keeps_what_it_told_the_executor() -> None:
    story = Story().planned().begin("execute")

    done = execute.run(story.record, tools(agents=SaidAgents({"execute": WorkClaim()})))

    assert done.primed == primed(Story().planned())
    assert done.work.change.base == BASE
    assert story.record.start.run == RUN


def test_exec_06_the_first_entry_of_the_log_reports_the_priming() -> None:
    told = Primed(
        files=("a.py",), baseline="FAIL (2 errors)", learnings="no learnings file found", repo_map="loaded with 7 files"
    )
    story = Story().planned(plan(task("01-01"), task("01-02")))
    story.step("execute", Executed(work=work("01-01"), primed=told), Advance(to="mini_verify"), "c1")
    story.step("execute", Executed(work=work("01-02", "c1", "c2")), Advance(to="mini_verify"), "c2")

    first, _, second = artifacts(story.record)["EXECUTION-LOG.md"].partition("## Task 01-02")
    line = "- **Priming:** PLAN.md; key files: a.py; compile: FAIL (2 errors); repo-map: loaded with 7 files; learnings: no "
    assert line in first
    assert "Priming" not in second


def test_exec_06_the_map_s_status_is_told() -> None:
    assert primed(Story().planned()).repo_map == "not found"
    assert primed(Story().planned(), facts=SaidFacts(places={"a": "a", "b": "b"})).repo_map == "loaded with 2 files"


def test_exec_06_a_log_of_an_earlier_version_names_no_map() -> None:
    assert "; repo-map: not found; " in priming_line(Primed(learnings="no learnings file found"))


def test_rmap_07_an_executor_is_told_what_is_there_already() -> None:
    facts = SaidFacts(places={"write it": "write_letter (function, post.py:3)"})
    found = primed(Story().planned(), facts=facts)

    assert found.known == ("write_letter (function, post.py:3)",)
    assert "\nAlready there: write_letter (function, post.py:3).\n" in priming.primed_lines(found)


def test_rmap_07_without_a_map_nothing_is_said_of_it() -> None:
    assert "Already there" not in priming.primed_lines(primed(Story().planned()))
