"""The project's gates before and after a change, and what the tests say beyond red and green."""

from collections.abc import Iterator
from pathlib import PurePosixPath

import msgspec

from autopilot.domain.evidence import Change, CommandRun, Finding
from autopilot.domain.settings import Commands
from autopilot.domain.value import Value
from autopilot.policy.facts.tamper_rules import UNDECLARED
from autopilot.policy.task_progress import new_failures
from autopilot.ports.agents import Tools

# A baseline shorter than this says nothing about how long the tests should take.
LONG_ENOUGH_S, LEAST_SHARE = 2.0, 0.1
# A run that takes longer is tried once more and not again and again.
QUICK_S, MOST_TRIES = 20.0, 4


class GateFacts(Value, frozen=True, kw_only=True):
    """`extra` are runs beside the gates' own: a first try that failed, the old tests."""

    before: tuple[CommandRun, ...]
    after: tuple[CommandRun, ...]
    findings: tuple[Finding, ...] = ()
    extra: tuple[CommandRun, ...] = ()

    @property
    def new(self) -> tuple[CommandRun, ...]:
        return new_failures(self.before, self.after)

    def adding(self, *findings: Finding, extra: tuple[CommandRun, ...] = ()) -> "GateFacts":
        return msgspec.structs.replace(self, findings=(*self.findings, *findings), extra=(*self.extra, *extra))


def gate_facts(tools: Tools, commands: Commands, change: Change, declared: tuple[str, ...]) -> GateFacts:
    """`declared` are the tests the plan says it changes."""
    made = GateFacts(before=tools.facts.gates(change.base, commands), after=tools.facts.gates(change.commit, commands))
    made = second_try(tools, change, made)
    before, after = _test_run(made.before), _test_run(made.after)
    if before is None or after is None or after in made.new:
        return made
    made = old_tests(tools, change, made, declared)
    return made.adding(*fewer_tests(before, after, declared), *too_quick(before, after))


def _test_run(runs: tuple[CommandRun, ...]) -> CommandRun | None:
    return next((run for run in runs if run.check == "test"), None)


def second_try(tools: Tools, change: Change, made: GateFacts) -> GateFacts:
    """A test the change does not touch that passes or fails by chance is told, and not held against it."""
    failed = _test_run(made.new)
    again = tried_again(tools, change, failed, change.commit) if failed else None
    if failed is None or again is None:
        return made
    if not again.passed:
        before = tuple(again if run.check == failed.check else run for run in made.before)
        return msgspec.structs.replace(made, before=before).adding(
            flaky(failed, "fails now and then without the change")
        )
    after = tuple(again if run == failed else run for run in made.after)
    first = msgspec.structs.replace(failed, check="test.first")
    told = flaky(failed, "failed once and passed when run again")
    return msgspec.structs.replace(made, after=after).adding(told, extra=(first,))


def flaky(failed: CommandRun, how: str) -> Finding:
    names = ", ".join(failed.tests.failing[:5]) if failed.tests else ""
    return Finding(rule="flaky-test", where=failed.command, what=f"{how}: {names}", severity="warning")


def tried_again(tools: Tools, change: Change, failed: CommandRun, commit: str) -> CommandRun | None:
    """
    The run that shows a failure to be chance: the same tree passes, or the tree before the change fails likewise.

    None when the tests are the change's own, or when each of a few tries on both trees ends as the first did.
    """
    if not perhaps_flaky(failed, change):
        return None
    for _ in range(MOST_TRIES if failed.seconds < QUICK_S else 1):
        again = tools.facts.again(commit, failed.command)
        if again.passed:
            return again
        before = tools.facts.again(change.base, failed.command)
        if not before.passed and fails_likewise(before, failed):
            return before
    return None


def fails_likewise(before: CommandRun, failed: CommandRun) -> bool:
    """In every test in which the other failed."""
    known, new = (set(run.tests.failing) if run.tests else set() for run in (before, failed))
    return bool(new) and new <= known


def perhaps_flaky(run: CommandRun, change: Change) -> bool:
    """It ended by itself, says which tests failed, and none of them lies in a file of the change."""
    names = run.tests.failing if run.tests else ()
    stems = {PurePosixPath(file.path).stem for file in change.files}
    return run.exit_code is not None and bool(names) and not any(stem in name for stem in stems for name in names)


def old_tests(tools: Tools, change: Change, made: GateFacts, declared: tuple[str, ...]) -> GateFacts:
    """The new code under the tests as they were: a test made weaker does not hide what it used to catch."""
    now = _test_run(made.after)
    old = tools.facts.variant("tests", change, declared)
    if now is None or not old.paths:
        return made
    (run,) = tools.facts.gates(old.commit, Commands(test=now.command))
    chance = tried_again(tools, change, run, old.commit) if new_failures(made.before, (run,)) else None
    run = chance if chance is not None and chance.passed else run
    if chance is None and new_failures(made.before, (run,)):
        run = without_new_tests(tools, change, made, (run, declared, old.paths))
    kept = msgspec.structs.replace(run, check="test.old", what="test gate, with the tests as they were before")
    if chance is not None or not new_failures(made.before, (run,)):
        return made.adding(extra=(kept,))
    named = f" ({run.tests})" if run.tests and str(run.tests) else ""
    what = f"`{run.command}` fails on the new code with this test as it was before{named}"
    told = (
        Finding(rule="old-tests", where=path, what=f"{what} ({UNDECLARED.format(path=path)})") for path in old.paths
    )
    return made.adding(*told, extra=(kept,))


def without_new_tests(
    tools: Tools, change: Change, made: GateFacts, failed: tuple[CommandRun, tuple[str, ...], tuple[str, ...]]
) -> CommandRun:
    """A new test may need what the work added to an old helper: then the old tests are asked alone."""
    run, declared, restored = failed
    suite = tools.facts.variant("suite", change, declared)
    if set(suite.paths) == set(restored):
        return run
    (alone,) = tools.facts.gates(suite.commit, Commands(test=run.command))
    return run if new_failures(made.before, (alone,)) else alone


def fewer_tests(before: CommandRun, after: CommandRun, declared: tuple[str, ...]) -> Iterator[Finding]:
    """Also when nothing is said of the tests any more: what is not known is no pass."""
    had = before.tests.executed if before.tests else None
    has = after.tests.executed if after.tests else None
    if had and (has is None or has < had) and not declared:
        what = f"{had} tests were run before the change, {'an unknown number' if has is None else has} after it"
        advice = UNDECLARED.format(path="path/of/test")
        yield Finding(rule="fewer-tests", where=after.command, what=f"{what} ({advice})")


def too_quick(before: CommandRun, after: CommandRun) -> Iterator[Finding]:
    if before.passed and before.seconds >= LONG_ENOUGH_S and after.seconds < LEAST_SHARE * before.seconds:
        what = f"took {after.seconds:.1f} s, and {before.seconds:.1f} s before the change"
        yield Finding(rule="too-quick", where=after.command, what=what, severity="warning")
