"""What a researcher, a planner and a debugger are told, and how far their words reach."""

from collections.abc import Callable

import msgspec
import pytest

from autopilot.domain.answers import FixClaim, ResearchClaim
from autopilot.domain.results import Debugged, Researched, Verified
from autopilot.domain.settings import Commands
from autopilot.domain.verdict import Advance, Retry
from autopilot.gates import after_verify
from autopilot.history.record import PhaseRecord
from autopilot.planning.plan import read_plan as plans
from autopilot.steps import debug, fix, judge, plan, plan_check, research, verify
from support.records import DIR, SPEC, Story, brief, ran, started, task, work
from support.tools import SaidAgents, SaidFacts, tools


def test_rsch_02_a_researcher_is_told_of_requirements_specification_and_paper() -> None:
    text = research.prompt(Story(brief(requirements=("REQ-01: A letter.",))).record)

    for told in ("- REQ-01: A letter.", f"The specification is `{SPEC.path}`", f"Write `{DIR}/RESEARCH.md`"):
        assert told in text


def researched(paper: str) -> PhaseRecord:
    found = Researched(claim=ResearchClaim(key_findings=("a",)), text=paper)
    return Story(brief()).step("research", found).planned().executed().verified().record


@pytest.mark.parametrize("prompt", [plan.prompt, plan_check.prompt, verify.prompt, judge.prompt])
def test_rsch_03_what_research_wrote_goes_into_nobody_s_prompt(prompt: Callable[[PhaseRecord], str]) -> None:
    assert prompt(researched("# long paper\n" * 500)) == prompt(researched(""))


def example() -> str:
    """The form of a plan as the planner is shown it, with one of the three sizes chosen."""
    text = plan.prompt(Story().record)
    shown = text[text.index("# Plan: ") : text.index("</task>") + len("</task>")]
    return shown.replace("simple|medium|complex", "medium").replace(
        '(returns 3 | returns at least 2 | expect EXIT:1 | expect "text")', ""
    )


def test_plan_02_the_form_a_planner_is_shown_is_the_one_that_is_read() -> None:
    """PLAN-04: with the criterion and its command."""
    (shown,) = plans.read(example(), {}).tasks

    assert (shown.id, shown.type, shown.complexity, shown.title) == ("01-01", "auto", "medium", "title")
    assert (bool(shown.files), shown.action, shown.done) == (True, "the concrete steps", "one sentence")
    assert [(c.text.partition(" -- ")[0], c.command) for c in shown.criteria] == [("what holds afterwards", "command")]
    assert "Two to five tasks" in plan.prompt(Story().record)


def test_plan_07_a_planner_is_asked_for_a_test_file_a_task() -> None:
    text = plan.prompt(Story().record)

    assert f"`{DIR}/tests/task-01-01.sh` for each task: one PASS: or FAIL: line a criterion" in text
    assert "`RESULTS: n passed, m failed`, exit 0 only when all passed" in text


@pytest.mark.parametrize("prompt", [debug.prompt, lambda record: fix.prompt(record, task())], ids=["phase", "task"])
def test_dbg_02_a_debugger_is_sent_to_the_cause_and_to_nothing_else(prompt: Callable[[PhaseRecord], str]) -> None:
    told = Story().planned().executed().verified(Retry(step="debug", because="x"), passed=False)

    assert "Find the cause of each" in prompt(told.record)
    assert "change nothing unrelated" in prompt(told.record)


@pytest.mark.parametrize("gate", ["compile", "lint"])
def test_dbg_02_what_a_debugger_leaves_must_compile_and_lint(gate: str) -> None:
    told = Story(start=started(commands=msgspec.convert({gate: "make"}, Commands))).planned().executed()
    done = debug.run(told.verified(passed=False).record, tools(agents=SaidAgents({"debug": FixClaim(fixed=True)})))
    assert [(run.check, run.passed) for run in done.work.gates_after] == [(gate, False)]

    told.step("debug", done, Advance(to="verify"), "new")
    broken = Verified(commit="new", tree="t", checks=(ran("SC-1"),), gates=(ran(gate, passed=False, command="make"),))
    verdict = after_verify.GATE.decide(told.step("verify", broken).record)
    assert verdict == Retry(step="debug", because=f"`make` exited 1 (text of {gate})")


def test_dbg_04_a_second_attempt_is_shown_only_what_still_fails() -> None:
    both = (ran("SC-1", passed=False, command="one"), ran("SC-2", passed=False, command="two"))
    told = Story().planned().executed()
    told.step("verify", Verified(commit="c1", tree="t", checks=both), Retry(step="debug", because="one and two"))
    first = debug.failures(told.record)
    told.step("debug", Debugged(work=work("1-debug", "c1", "c2")), Advance(to="verify"), "c2")
    left = (ran("SC-1", command="one"), both[1])
    told.step("verify", Verified(commit="c2", tree="t", checks=left), Retry(step="debug", because="two"))

    assert ("$ one" in first, "$ two" in first) == (True, True)
    assert debug.failures(told.record) == "two\n\n$ two\noutput of SC-2"


def test_dbg_01_a_debugger_is_asked_in_a_role_of_its_own() -> None:
    """An agent that answers in no other role is enough for both."""
    agents = SaidAgents({"debug": FixClaim()})
    told = Story().planned().executed()

    fix.run(told.record, tools(agents=agents, facts=SaidFacts()))
    debug.run(told.verified(passed=False).record, tools(agents=agents, facts=SaidFacts()))

    assert [message.partition(":")[0] for message in agents.asked] == ["feat(01)", "fix(01)"]
