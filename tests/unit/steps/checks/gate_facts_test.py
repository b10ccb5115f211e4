"""The project's gates before and after a change, and what the tests say beyond red and green."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from autopilot.domain.evidence import Change, CommandRun, Counts, FileChange
from autopilot.domain.settings import Commands
from autopilot.ports.agents import Canary, Part, Variant
from autopilot.steps.checks.gate_facts import GateFacts, gate_facts
from autopilot.steps.checks.probes import canary
from support.records import ran
from support.tools import SaidFacts, tools

TEST = "make t"
CHANGE = Change(base="old", commit="new", tree="t", files=(FileChange(path="src/calc.py", status="M"),))


def run(*failing: str, executed: int = 10, **more: Any) -> CommandRun:
    counts = Counts(passed=executed - len(failing), failed=len(failing), failing=failing)
    return ran("test", command=TEST, **{"passed": not failing, "tests": counts, **more})


@dataclass(slots=True)
class Scripted(SaidFacts):
    """The test gate by commit; a second run, canaries and old tests as told."""

    runs: dict[str, CommandRun] = field(default_factory=dict)
    second: CommandRun | None = None
    later: dict[str, list[CommandRun]] = field(default_factory=dict)
    canaries: dict[str, Canary] = field(default_factory=dict)
    old: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    reruns: int = 0

    def gates(self, commit: str, commands: Commands) -> tuple[CommandRun, ...]:
        return (self.runs[commit],)

    def again(self, commit: str, command: str) -> CommandRun:
        self.reruns += 1
        if self.later.get(commit):
            return self.later[commit].pop(0)
        return self.second or self.runs[commit]

    def canary(self, commit: str, command: str) -> Canary | None:
        return self.canaries.get(commit)

    def variant(self, part: Part, change: Change, kept: Sequence[str]) -> Variant:
        wanted = {"tests": self.old, "suite": (*self.old, *self.added)}.get(part, ())
        paths = tuple(path for path in wanted if path not in kept)
        commit = "old suite" if set(paths) & set(self.added) else "old tests"
        return Variant(commit=commit if paths else change.commit, paths=paths)


def looked(facts: Scripted, *declared: str) -> GateFacts:
    return gate_facts(tools(facts=facts), Commands(test=TEST), CHANGE, declared)


def marks(seen: GateFacts) -> set[tuple[str, str]]:
    return {(f.rule, f.severity) for f in seen.findings}


def test_nothing_is_found_where_all_is_well() -> None:
    seen = looked(Scripted(runs={"old": run(), "new": run(executed=11)}))

    assert (seen.findings, seen.extra, seen.new) == ((), (), ())


@pytest.mark.parametrize(
    ("after", "declared", "found"),
    [
        (run(executed=9, seconds=5.0), (), {("fewer-tests", "blocker")}),
        (run(executed=9, seconds=5.0), ("tests/test_calc.py",), set()),
        (ran("test", command=TEST, tests=Counts(), seconds=5.0), (), {("fewer-tests", "blocker")}),
        (run(seconds=0.2), (), {("too-quick", "warning")}),
    ],
    ids=["a test less", "declared", "no longer told", "far too quick"],
)
def test_what_a_green_run_no_longer_does_is_noticed(
    after: CommandRun, declared: tuple[str, ...], found: set[tuple[str, str]]
) -> None:
    assert marks(looked(Scripted(runs={"old": run(seconds=5.0), "new": after}), *declared)) == found


def test_a_flaky_test_is_run_once_more_and_told() -> None:
    facts = Scripted(runs={"old": run(), "new": run("test_moody")}, second=run())
    seen = looked(facts)

    assert (marks(seen), seen.new, facts.reruns) == ({("flaky-test", "warning")}, (), 1)
    assert [(r.check, r.passed) for r in seen.extra] == [("test.first", False)]


@pytest.mark.parametrize(
    ("after", "reruns"),
    [
        (run("test_moody", seconds=1.0), 8),
        (run("test_moody", seconds=60.0), 2),
        (run("tests.calc::test_a"), 0),
        (run("test_a", exit_code=None), 0),
    ],
    ids=["fails again and again", "slow and fails again", "in a file of the change", "cut off"],
)
def test_a_failure_that_stays_or_is_the_change_s_own_is_a_failure(after: CommandRun, reruns: int) -> None:
    facts = Scripted(runs={"old": run(), "new": after})

    assert len(looked(facts).new) == 1
    assert facts.reruns == reruns


def test_a_test_that_fails_by_chance_is_found_out_by_more_than_one_try() -> None:
    red = run("test_moody", seconds=1.0)
    facts = Scripted(runs={"old": run(), "new": red}, later={"new": [red, red, run()]})
    seen = looked(facts)

    assert (marks(seen), seen.new) == ({("flaky-test", "warning")}, ())


@pytest.mark.parametrize(
    ("base", "blocks"),
    [(run("test_moody", "test_other"), False), (run("test_other"), True)],
    ids=["the same test", "another test"],
)
def test_a_test_that_fails_now_and_then_before_the_change_is_no_new_failure(base: CommandRun, blocks: bool) -> None:
    facts = Scripted(runs={"old": run(), "new": run("test_moody", seconds=1.0)}, later={"old": [run(), base]})

    assert bool(looked(facts).new) is blocks


def test_old_tests_that_fail_by_chance_are_no_finding() -> None:
    red = run("test_moody", seconds=1.0)
    facts = Scripted(runs={"old": run(), "new": run(), "old tests": red}, old=("tests/test_a.py",))
    facts.later = {"old tests": [run()]}

    assert marks(looked(facts)) == set()


@pytest.mark.parametrize(
    ("old_run", "declared", "blocks"),
    [(run("test_a"), (), True), (run(), (), False), (run("test_a"), ("tests/test_a.py",), False)],
    ids=["it fails", "it passes", "declared"],
)
def test_old_tests_that_fail_on_new_code_block(old_run: CommandRun, declared: tuple[str, ...], blocks: bool) -> None:
    facts = Scripted(runs={"old": run(), "new": run(), "old tests": old_run}, old=("tests/test_a.py",))
    seen = looked(facts, *declared)

    assert (("old-tests", "blocker") in marks(seen)) == blocks
    assert bool(seen.extra) == (not declared)


@pytest.mark.parametrize("alone", [run(), run("test_a")], ids=["they hold", "they fail"])
def test_old_tests_are_asked_alone_when_a_new_one_fails_among_them(alone: CommandRun) -> None:
    runs = {"old": run(), "new": run(), "old tests": run("test_new"), "old suite": alone}
    seen = looked(Scripted(runs=runs, old=("tests/helper.py",), added=("tests/test_new.py",)))

    assert (("old-tests", "blocker") in marks(seen)) == (not alone.passed)
    assert [kept.passed for kept in seen.extra] == [alone.passed]


def sung(passed: bool, *, direct: bool) -> Canary:
    return Canary(run=ran("canary", passed=passed, command=TEST), direct=direct)


@pytest.mark.parametrize(
    ("before", "first", "direct", "severity"),
    [
        (run(), True, False, "blocker"),
        (run(), False, True, "warning"),
        (run("test_a"), None, True, "blocker"),
        (run("test_a"), None, False, "warning"),
    ],
    ids=["red before the work", "never red", "red anyway, the runner itself", "red anyway, behind a script"],
)
def test_a_canary_nobody_hears_is_the_work_s_fault_or_the_user_s(
    before: CommandRun, first: bool | None, direct: bool, severity: str
) -> None:
    canaries = {"new": sung(False, direct=direct)}
    if first is not None:
        canaries["old"] = sung(first, direct=direct)
    heard = canary(tools(facts=Scripted(canaries=canaries)), CHANGE, GateFacts(before=(before,), after=(run(),)))

    assert [(f.rule, f.severity) for f in heard.findings] == [("canary", severity)]


def test_a_red_command_is_not_put_to_the_test() -> None:
    heard = canary(tools(facts=Scripted()), CHANGE, GateFacts(before=(), after=(run("test_a"),)))

    assert (heard.findings, heard.runs) == ((), ())
