"""What a pass does not show: sentences that every view puts next to it. Pure."""

import re
from collections.abc import Iterator

from autopilot.domain.evidence import CommandRun, Work
from autopilot.domain.results import Executed, Triaged, Verified
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import declared_kinds, only_checked, since_plan

HELD_BEFORE = "its criteria held before the work too: nothing shows that something new was built"
# pytest and unittest count a file that they cannot load as a test that fails.
_NOT_LOADED = re.compile(r"\berrors? during collection\b|\bunittest\.loader\._FailedTest\b")


def caveats(record: PhaseRecord) -> tuple[str, ...]:
    """Of a pass that built something; what held before all work has a word of its own."""
    if only_checked(record):
        return ()
    held = (HELD_BEFORE,) if nothing_new(record) else ()
    absent = (never_ran(name, why) for name, why in record.start.unused.items())
    return (*held, *(never_passed(record, run) for run in old_failures(record)), *absent)


def nothing_new(record: PhaseRecord) -> bool:
    """
    Whether no command that failed before the phase's work passes now.

    Never where the pass improves or continues work that an earlier one built: that one had to show it.
    """
    seen, brief = record.find(Verified), record.brief
    if seen is None or brief.cycle or brief.done or brief.mode != "initial" or only_checked(record):
        return False
    failed_before = {run.command for run in _before(record) if not run.passed}
    return not any(run.passed and run.command in failed_before for run in seen.checks)


def is_users_word(record: PhaseRecord) -> bool:
    """Whether the user says that nothing new need show: roadmap, config, or a plan of the user's; never an agent."""
    declared = any(kind != "feature" for kind in declared_kinds(record))
    return declared or (record.plan is not None and record.plan.existed_before)


def old_failures(record: PhaseRecord) -> tuple[CommandRun, ...]:
    """The gates that failed before the work and fail now: they do not block, and have not passed either."""
    seen = record.find(Verified)
    return tuple(run for run in seen.gates if run.check in seen.old_failures) if seen else ()


def tests_failed(record: PhaseRecord) -> bool:
    return any(run.check == "test" for run in old_failures(record))


def never_ran(name: str, why: str) -> str:
    """Of a detected command that does not run on this machine, so that its gate is absent."""
    proof = ", so no test proves it" if name == "test" else ""
    return f"the {name} command does not run here ({why}){proof}"


def never_passed(record: PhaseRecord, run: CommandRun) -> str:
    before = next((one.code for one in _gates_before(record) if one.check == run.check), run.code)
    how = f"{run.code} before and after" if before == run.code else f"{before} before, {run.code} after"
    if run.check != "test":
        return f"the {run.check} command never passed here ({how})"
    if run.tests is None or ran_no_test(run):
        return f"the test command never passed here ({how}: no test was seen to run), so no test proves it"
    failing = f"{run.tests.failed} of {run.tests.executed} tests fail"
    return f"the test command never passed here ({how}: {failing}), so the tests do not prove it"


def ran_no_test(run: CommandRun) -> bool:
    """Nothing was counted, or all that was counted are files with tests that could not be loaded."""
    if run.tests is None or not run.tests.executed:
        return True
    return not run.tests.passed and _NOT_LOADED.search(run.output) is not None


def _before(record: PhaseRecord) -> Iterator[CommandRun]:
    triaged = record.find(Triaged)
    yield from triaged.checks if triaged else ()
    yield from (run for work in _first_tries(record) for run in work.before)


def _gates_before(record: PhaseRecord) -> Iterator[CommandRun]:
    yield from (run for work in _first_tries(record) for run in work.gates_before)


def _first_tries(record: PhaseRecord) -> Iterator[Work]:
    yield from (step.result.work for step in since_plan(record) if isinstance(step.result, Executed))
