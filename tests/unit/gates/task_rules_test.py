"""The rules of execution that facts enforce, whatever an executor was told or says (EXEC-01..05, PVRF-01)."""

import msgspec
import pytest

from autopilot.domain.answers import TaskOpinion, WorkClaim
from autopilot.domain.results import Executed
from autopilot.domain.verdict import Advance, Retry
from autopilot.engine.close.outcome import outcome_of
from autopilot.engine.decide.next_step import Finish
from autopilot.gates import after_task
from autopilot.pipeline import artifacts
from autopilot.steps.execute import message
from support.records import DONE, Story, brief, plan, ran, task, work


@pytest.mark.parametrize("gate", ["compile", "lint", "test", "build"])
def test_exec_01_work_that_breaks_a_gate_does_not_count(gate: str) -> None:
    """EXEC-S1: the build is one of them, for every type of phase."""
    tried = work(gates_before=(ran(gate),), gates_after=(ran(gate, passed=False, command="make"),))
    record = Story().planned().step("execute", Executed(work=tried), commit="c1").record

    assert after_task.GATE.decide(record) == Retry(step="fix", because=f"`make` exited 1 (text of {gate})")


def test_exec_02_a_task_whose_test_fails_is_not_complete() -> None:
    claim = WorkClaim(tasks_completed="1/1", confidence=10)
    record = Story().planned().step("execute", Executed(work=work(passed=False), claim=claim), commit="c1").record

    assert isinstance(after_task.GATE.decide(record), Retry)


def test_exec_02_a_task_without_a_test_file_is_told_and_counts() -> None:
    bare = msgspec.structs.replace(plan(), tests=())
    told = Story().planned(bare).step("execute", Executed(work=work()), commit="c1")

    assert after_task.GATE.decide(told.record) == Advance(to="mini_verify")
    report = artifacts(told.verified().record)["VERIFICATION.md"]
    assert "No test specifications found. Falling back to grep-based verification only." in report


@pytest.mark.parametrize(("cycle", "kind"), [(0, "feat"), (1, "fix")], ids=["first pass", "remediation"])
def test_exec_03_a_task_s_commit_names_phase_task_and_title(cycle: int, kind: str) -> None:
    record = Story(brief(cycle=cycle, plan=plan())).record

    assert message(record, task()) == f"{kind}(01): 01-01 - title of 01-01"


@pytest.mark.parametrize("confidence", [None, 3, 6.9, 7, 10])
def test_exec_05_every_task_is_reviewed_however_sure_its_executor_is(confidence: float | None) -> None:
    result = Executed(work=work(), claim=WorkClaim(confidence=confidence))
    record = Story().planned().step("execute", result, commit="c1").record

    assert after_task.GATE.decide(record) == Advance(to="mini_verify")


def test_pvrf_01c_the_reviewer_answers_in_the_rules_own_fields() -> None:
    answer = (
        b'{"task_id": "01-01", "pass": false, "concerns": ["thin"], "commands_run": ["ls"], "criteria_results":'
        b' [{"criterion": "c", "status": "fail", "evidence": "a.py:1", "command": "ls", "command_output": "x"}]}'
    )
    opinion = msgspec.json.decode(answer, type=TaskOpinion)

    assert (opinion.task_id, opinion.passed, opinion.commands_run) == ("01-01", False, ("ls",))
    assert opinion.criteria_results[0].failed


def test_pvrf_01f_a_failed_task_is_an_issue_of_the_phase_and_verification_follows() -> None:
    told = Story().planned()
    told.step(
        "execute", Executed(work=work(passed=False)), Advance(to="verify", because=f"task FAILED: {DONE}"), "base"
    )
    record = told.verified(passed=False).record

    assert outcome_of(record, Finish("failed", "why")).issues == ("task 01-01 FAILED", "why")
