"""Tests counted from the report a runner writes for us."""

import sys
from pathlib import Path

from autopilot.domain.evidence import Counts
from autopilot.domain.settings import Commands, Limits
from autopilot.evidence.facts import CommandFacts
from autopilot.evidence.junit_reports import counts_of, read_report, report_path
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.unconfined import PlainProcess
from autopilot.sandbox.toolchain import look
from support.workspaces import ENV, make_bench

CASES = (
    '<testcase classname="t.A" name="a" time="0"/><testcase classname="t.A" name="b&quot;"><failure message="x">'
    '&lt;testcase name="made up"/&gt;</failure></testcase><testcase name="c"><skipped/></testcase>'
)
QUIET = f"{sys.executable} -m pytest -qq --no-header --no-summary -p no:randomly -p no:cacheprovider"
TESTS = "def test_a():\n    pass\n\n\ndef test_b():\n    assert False\n"


def test_cases_are_counted_and_failing_ones_named() -> None:
    assert counts_of(f"<testsuite>{CASES}</testsuite>") == Counts(passed=1, failed=1, failing=('t.A::b"',))


def test_a_report_without_cases_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")

    assert counts_of("<testsuite/>") is None
    assert read_report(tmp_path / "missing") is None
    assert read_report(tmp_path / "link") is None


def test_only_a_command_that_may_start_pytest_gets_a_report() -> None:
    assert report_path("node --test", "/x") is None
    assert report_path("make test", "/x") != report_path("make test", "/x")


def facts_about(tmp_path: Path, test: str, **files: str) -> Counts | None:
    bench = make_bench(tmp_path, {"test_a.py": TESTS, **files})
    sandbox = PlainProcess(ChildProcesses(), look(ENV))
    made = CommandFacts(workspace=bench.workspace, sandbox=sandbox, limits=Limits())
    (run,) = made.gates(bench.base, Commands(test=test))
    assert run.command == test
    return run.tests


def test_a_quiet_pytest_is_counted_by_its_report(tmp_path: Path) -> None:
    assert facts_about(tmp_path, QUIET) == Counts(passed=1, failed=1, failing=("test_a::test_b",))


def test_a_pytest_without_reports_is_run_all_the_same(tmp_path: Path) -> None:
    counts = facts_about(tmp_path, f"{QUIET} -p no:junitxml")

    assert counts is not None
    assert counts.failing == ()
