"""What the execution log tells of each task (EXEC-04, EXEC-C0, EXEC-R1, PVRF-01g, CORR-01..04)."""

from typing import Any

import msgspec
import pytest

from autopilot.domain.answers import FixClaim, TaskEvidence, WorkClaim
from autopilot.domain.evidence import Counts, Finding
from autopilot.domain.results import Executed, Fixed
from autopilot.domain.settings import Commands
from autopilot.domain.verdict import Advance, Retry
from autopilot.policy.facts.test_counts import counts_in
from autopilot.steps import fix
from autopilot.steps.artifacts.execution_log import artifacts
from autopilot.steps.checks.claim_differences import claim_differences
from support.records import DONE, RUN, Story, plan, ran, started, task, whole, work

GAVE_UP = Advance(to="verify", because="task FAILED: x")


def log_of(story: Story) -> str:
    return artifacts(story.record)["EXECUTION-LOG.md"]


def sized(size: int, commit: str, **more: Any) -> Any:
    tried = work(commit=commit, passed=False, **more)
    return msgspec.structs.replace(tried, change=msgspec.structs.replace(tried.change, added=size))


def test_exec_04_an_entry_names_status_commit_files_evidence_tests_and_confidence() -> None:
    told = Story().planned()
    told.step("execute", Executed(work=work(), claim=WorkClaim(confidence=8)), Advance(to="mini_verify"), "c1")
    log = log_of(told)

    for line in (
        "- **Status:** NEEDS_REVIEW", "- **Commit SHA:** c1", "- **Pre-task checkpoint:** base",
        "- **Files modified:** letter.txt", "- **Evidence:**\n  - PASS", "- **Test results:** 1/1",
        "- **Confidence:** 8/10",
    ):  # fmt: skip
        assert line in log


def test_exec_c0_a_gate_without_a_command_is_told_as_skipped() -> None:
    log = artifacts(whole())["EXECUTION-LOG.md"]

    assert "  - **Compile:** SKIPPED (Compile command not configured -- compile gate skipped.)" in log
    assert "  - **Lint:** SKIPPED (Lint command not configured -- lint gate skipped.)" in log
    assert "  - **Test:** SKIPPED (Test command not configured -- test gate skipped.)" in log


def test_a_test_gate_is_told_with_its_counts() -> None:
    gates = (ran("test", passed=False, command="make t", output="FAIL: test_a\n11 passed, 1 failed\n"),)
    told = Story(start=started(commands=Commands(test="make t"))).planned()
    told.step("execute", Executed(work=work(gates_after=gates)), Retry(step="fix", because="x"), "c1")

    assert "  - **Test:** FAIL -- `make t` (exit 1, 11/12 tests; failing: test_a)" in log_of(told)


@pytest.mark.parametrize(
    ("output", "counts"),
    [
        ("12 passing (3s)\n1 failing\n", Counts(passed=12, failed=1)),
        ("Test Suites: 1 failed, 1 total\nTests:       2 failed, 5 passed, 7 total\n", Counts(passed=5, failed=2)),
        ("test result: ok. 5 passed; 0 failed; 0 ignored\n", Counts(passed=5, failed=0)),
        ("--- FAIL: TestLetter (0.00s)\nFAIL\n", Counts(failing=("TestLetter",))),
        ("3 failed\n", Counts(passed=0, failed=3)),
        (
            "ERROR: test_a (t.T.test_a)\nRan 5 tests in 0.1s\n\nFAILED (errors=1, skipped=1)\n",
            Counts(passed=3, failed=1, failing=("test_a (t.T.test_a)",)),
        ),
        ("not ok 2 - adds\n# pass 4\n# fail 1\n", Counts(passed=4, failed=1, failing=("adds",))),
        (
            "test a::b ... FAILED\ntest result: FAILED. 1 passed; 1 failed\ntest result: ok. 2 passed; 0 failed\n",
            Counts(passed=3, failed=1, failing=("a::b",)),
        ),
        ("all good", Counts()),
    ],
    ids=["mocha", "jest", "cargo", "go", "only failures", "unittest", "node", "suites", "nothing to read"],
)
def test_tests_are_counted_as_far_as_the_output_tells(output: str, counts: Counts) -> None:
    assert counts_in(output) == counts


def test_exec_06_the_gates_before_the_first_task_head_the_log() -> None:
    tried = work(gates_before=(ran("compile"), ran("lint", passed=False)))
    told = Story().planned().step("execute", Executed(work=tried), commit="c1")

    assert "\nBefore the first task: compile PASS, lint FAIL, test not configured\n" in log_of(told)


def test_a_fixer_is_told_how_the_gates_went() -> None:
    gates = (ran("lint", passed=False), ran("compile"))
    failed = Executed(work=work(gates_before=(ran("lint", passed=False),), gates_after=gates, passed=False))
    told = Story().planned().step("execute", failed, Retry(step="fix", because="x"), "c1")

    assert "Gates: compile pass, lint fail (as before the task), test skipped" in fix.failures(told.record)


def test_pvrf_01g_a_reviewed_task_has_its_block() -> None:
    log = artifacts(whole())["EXECUTION-LOG.md"]

    assert (
        "- **Mini-Verification:**\n  - **Result:** PASS\n  - **Criteria checked:** 1\n  - **Criteria passed:** 1" in log
    )
    assert "  - **Debug attempts:** 0\n  - **Circuit breaker status:** open\n  - **Convergence check:** n/a" in log


@pytest.mark.parametrize(
    ("sizes", "status", "check"),
    [
        ((5, 6), "tripped (diff_growing); rolled back to base", "total_delta 5 -> 6, diff_growing true, aborted"),
        ((5, 5, 5), "tripped (max_attempts); rolled back to base", "total_delta 5 -> 5, diff_growing false, continued"),
    ],
    ids=["grew", "used up"],
)
def test_corr_04_a_tripped_breaker_is_logged_with_its_reason(sizes: tuple[int, ...], status: str, check: str) -> None:
    told = Story().planned().step("execute", Executed(work=sized(sizes[0], "c0")), Retry(step="fix", because="x"))
    for at, size in enumerate(sizes[1:], start=1):
        last = at == len(sizes) - 1
        told.step("fix", Fixed(work=sized(size, f"c{at}")), GAVE_UP if last else Retry(step="fix", because="x"))
    log = log_of(told)

    assert f"  - **Circuit breaker status:** {status}" in log
    assert f"  - **Convergence check:** {check}" in log


def test_findings_are_listed() -> None:
    finding = Finding(rule="scope", where="a.py", what="not among the task's files", severity="warning")
    told = Story().planned().step("execute", Executed(work=work(findings=(finding,))), commit="c1")

    assert "- **Findings:**\n  - warning scope: a.py: not among the task's files" in log_of(told)


@pytest.mark.parametrize(
    ("claim", "passed", "said"),
    [
        (WorkClaim(tasks_completed="1/1"), False, f"says it is done, but `{DONE}` exited 1"),
        (WorkClaim(evidence=(TaskEvidence(criteria_met=("01-01.1",)),)), False, "says the criterion is met, but"),
        (WorkClaim(commit_shas=("abcdef1234",)), True, "names the commit abcdef1234, which is not part of the work"),
    ],
    ids=["completed", "criterion met", "commit"],
)
def test_exec_r1_a_claim_that_differs_from_the_facts_is_logged(claim: WorkClaim, passed: bool, said: str) -> None:
    told = Story().planned().answer(f"{RUN}/1/execute/1", role="execute", task="01-01", commands=("ls", DONE))
    told.step("execute", Executed(work=work(passed=passed), claim=claim), commit="c1")
    found = claim_differences(told.record, "01-01")

    assert [(f.rule, f.severity) for f in found] == [("claim-differs", "info")]
    assert said in found[0].what
    assert f"info claim-differs: 01-01: {found[0].what}" in log_of(told)


def test_exec_r1_a_claim_that_agrees_with_the_facts_is_no_finding() -> None:
    evidence = (TaskEvidence(criteria_met=("01-01.1",), commands_run=(f"`{DONE}` -> found",)),)
    claim = WorkClaim(tasks_completed="1/1", commit_shas=("c123456",), evidence=evidence)
    told = Story().planned().answer(f"{RUN}/1/execute/1", role="execute", task="01-01", commands=(DONE,))
    told.step("execute", Executed(work=work(commit="c1234567"), claim=claim), commit="c1234567")

    assert claim_differences(told.record, "01-01") == ()


@pytest.mark.parametrize("written", ['{"commit_shas": null}', '{"commit_shas": [null]}'])
def test_exec_s1_an_executor_may_answer_null_for_its_commit(written: str) -> None:
    claim = msgspec.json.decode(written, type=WorkClaim)
    told = Story().planned().step("execute", Executed(work=work(), claim=claim), Advance(to="mini_verify"), "c1")

    assert claim_differences(told.record, "01-01") == ()


def test_a_fix_that_is_none_is_logged_as_a_difference() -> None:
    told = Story().planned().step("execute", Executed(work=work(passed=False)), Retry(step="fix", because="x"), "c1")
    told.step("fix", Fixed(work=work(commit="c2", passed=False), claim=FixClaim(fixed=True)), GAVE_UP)

    assert [f.what for f in claim_differences(told.record, "01-01")] == [f"says it is done, but `{DONE}` exited 1"]


def test_tasks_are_logged_in_the_order_they_were_carried_out() -> None:
    told = Story().planned(plan(task("01-01", wave=2), task("01-02")))
    log = log_of(told.executed("01-02", "c1", then="execute").executed("01-01", "c2"))

    assert log.index("## Task 01-02") < log.index("## Task 01-01")


@pytest.mark.parametrize(
    ("observes", "ran_it", "told_on"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_a_reported_command_that_a_watched_agent_never_ran_is_a_warning(
    observes: bool, ran_it: bool, told_on: bool
) -> None:
    """EXEC-R1: what is reported is compared with what was seen, where anything could be seen."""
    seen = ("cd src && make test",) if ran_it else ()
    claim = WorkClaim(evidence=(TaskEvidence(commands_run=("make test -> ok",)),))
    told = Story().planned().answer(f"{RUN}/1/execute/1", role="execute", commands=seen, observes=observes)
    told.step("execute", Executed(work=work(), claim=claim), commit="c1")

    found = [(f.rule, f.severity) for f in claim_differences(told.record, "01-01")]
    assert found == ([("not-seen-to-run", "warning")] if told_on else [])
