"""Runs the plan's frozen test files like any criterion (TSPC-01)."""

import re
import shlex
from collections.abc import Iterable

from autopilot.domain.evidence import CommandRun
from autopilot.domain.phase import Criterion, Plan, TaskTest
from autopilot.domain.value import Value
from autopilot.history.record import PhaseRecord

NONE = "No test specifications found. Falling back to grep-based verification only."
# Only what a shell takes for a plain word: the file's name becomes part of a command.
_NAME = re.compile(r"tests/task-(?P<task>[A-Za-z0-9_.-]+)\.sh")


class SpecRun(Value, frozen=True, kw_only=True):
    """One test file and our run of it. An assertion is a line that begins with PASS or FAIL."""

    task: str
    file: str
    passed: int
    failed: int
    exit_code: int | None
    holds: bool

    @property
    def status(self) -> str:
        return "ALL PASS" if self.holds and not self.failed else "FAILED"


def specs(record: PhaseRecord) -> tuple[tuple[str, TaskTest], ...]:
    """Each test file of the plan in force with the task it belongs to."""
    return _named(record.plan.tests if record.plan else ())


def _named(tests: Iterable[TaskTest]) -> tuple[tuple[str, TaskTest], ...]:
    return tuple((found["task"], test) for test in tests if (found := _NAME.fullmatch(test.path)))


def spec_criteria(record: PhaseRecord, criteria: Iterable[Criterion]) -> tuple[Criterion, ...]:
    """A criterion for every test file that none of the given ones runs."""
    return unrun_specs(record.plan.tests if record.plan else (), record.brief.dir, criteria)


def unrun_specs(tests: Iterable[TaskTest], folder: str, criteria: Iterable[Criterion]) -> tuple[Criterion, ...]:
    commands = tuple(c.command for c in criteria if c.command)
    return tuple(
        Criterion(
            id=f"{task}.test",
            text=f"the test of task {task} passes",
            command=f"bash {shlex.quote(f'{folder}/{t.path}')}",
        )
        for task, t in _named(tests)
        if not any(t.path in command for command in commands)
    )


def spec_runs(record: PhaseRecord, checks: Iterable[CommandRun]) -> tuple[SpecRun, ...]:
    runs = tuple(checks)
    found = ((task, test, next((r for r in runs if test.path in r.command), None)) for task, test in specs(record))
    return tuple(_run(task, test, run) for task, test, run in found if run)


def _run(task: str, test: TaskTest, run: CommandRun) -> SpecRun:
    words = [line.strip() for line in run.output.splitlines()]
    return SpecRun(
        task=task,
        file=test.path,
        passed=sum(word.startswith("PASS") for word in words),
        failed=sum(word.startswith("FAIL") for word in words),
        exit_code=run.exit_code,
        holds=run.passed,
    )


def frozen_tests(record: PhaseRecord, plan: Plan | None) -> dict[str, str]:
    own = {f"{record.brief.dir}/{test.path}": test.text for test in plan.tests} if plan else {}
    return {path: text for path, text in record.shown.items() if "/tests/" in path} | own
