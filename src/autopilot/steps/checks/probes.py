"""Probes whether the checks notice a failing test, reverted sources or chance."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from autopilot.domain.evidence import Change, CommandRun, Finding, Severity, Work
from autopilot.domain.phase import Criterion, Task
from autopilot.domain.results import Executed, Verified
from autopilot.domain.settings import Limits
from autopilot.domain.value import Value
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import auto_tasks, debugs, since_plan
from autopilot.ports.agents import Tools
from autopilot.steps.checks.gate_facts import GateFacts
from autopilot.steps.checks.test_specs import frozen_tests

MOST_FILES, MOST_SECONDS = 3, 10.0


def spot_check(tools: Tools, task: Task, work: Work, judged: Change, files: Mapping[str, str]) -> Work:
    """
    Only where it is cheap, and where the plan named sources that the task did change.

    With all of them put back some criterion must fail; with one of them put back it should.
    """
    proving = tuple(c for c in task.criteria if _proves(c, work))
    quick = sum(run.seconds for run in work.after) < MOST_SECONDS
    if not proving or not quick or task.kind != "feature" or any(not run.passed for run in work.after):
        return work
    bare = tools.facts.variant("sources", judged, ())
    if not set(bare.paths).intersection(task.files):
        return work
    runs = tools.facts.check(bare.commit, proving, files)
    work = msgspec.structs.replace(work, extra=(*work.extra, *_marked(runs, "the sources")))
    if all(run.passed for run in runs):
        what = f"every criterion of task {task.id} that failed before holds without this change"
        found = tuple(Finding(rule="vacuous", where=path, what=what) for path in bare.paths)
        return msgspec.structs.replace(work, findings=(*work.findings, *found))
    return one_by_one(tools, work, judged, (proving, bare.paths, files))


def one_by_one(
    tools: Tools, work: Work, judged: Change, subject: tuple[tuple[Criterion, ...], tuple[str, ...], Mapping[str, str]]
) -> Work:
    proving, paths, files = subject
    if not 1 < len(paths) <= MOST_FILES:
        return work
    for path in paths:
        single = tools.facts.variant("sources", judged, tuple(other for other in paths if other != path))
        runs = tools.facts.check(single.commit, proving, files)
        work = msgspec.structs.replace(
            work,
            extra=(*work.extra, *_marked(runs, path)),
            findings=(*work.findings, *_unnoticed(path, runs)),
        )
    return work


def hollow_tasks(record: PhaseRecord, tools: Tools, change: Change, found: Verified) -> tuple[Finding, ...]:
    """The same question about the whole phase, once a debugger has done work that no task's own look has seen."""
    plan = record.plan
    if not debugs(record) or plan is None or plan.existed_before or record.brief.cycle:
        return ()
    bare = tools.facts.variant("sources", change, ())
    tries = {s.result.work.task: s.result.work for s in reversed(since_plan(record)) if isinstance(s.result, Executed)}
    gone: list[Finding] = []
    for task in auto_tasks(record):
        if task.id not in tries or task.kind != "feature" or not set(bare.paths).intersection(task.files):
            continue
        failed = {run.command for run in tries[task.id].before if not run.passed}
        failed -= {run.command for run in found.gates}
        proving = tuple(c for c in task.criteria if c.command in failed)
        runs = tools.facts.check(bare.commit, proving, frozen_tests(record, plan))
        if runs and all(run.passed for run in runs):
            what = "every criterion of it that failed before holds without the sources of this phase"
            gone.append(Finding(rule="vacuous", where=f"task {task.id}", what=what))
    return tuple(gone)


def _proves(criterion: Criterion, work: Work) -> bool:
    """It failed before and holds now. The gates' own commands are too dear to be run again and again."""
    gates = {run.command for run in work.gates_after}
    failed = {run.check for run in work.before if not run.passed}
    held = {run.check for run in work.after if run.passed}
    return criterion.id in failed & held and criterion.command not in gates


def _unnoticed(path: str, runs: tuple[CommandRun, ...]) -> Iterator[Finding]:
    if runs and all(run.passed for run in runs):
        what = "no criterion of the task notices when this file is put back"
        yield Finding(rule="unnoticed", where=path, what=what, severity="warning")


def _marked(runs: tuple[CommandRun, ...], what: str) -> Iterator[CommandRun]:
    for run in runs:
        yield msgspec.structs.replace(run, check=f"{run.check}.without", what=f"{run.what} (without {what})")


class Sung(Value, frozen=True, kw_only=True):
    findings: tuple[Finding, ...] = ()
    runs: tuple[CommandRun, ...] = ()


def canary(tools: Tools, change: Change, gates: GateFacts) -> Sung:
    """
    Only a green command can be put to the test.

    One that stays green though it went red before the work blocks; one that never did is the user's own, and told.
    """
    green = next((run for run in gates.after if run.check == "test" and run.passed), None)
    if green is None:
        return Sung()
    seen = tools.facts.canary(change.commit, green.command)
    if seen is None:
        return Sung(findings=(_finding(green, "canary: not possible, no form of test is known for it", "info"),))
    if seen.run.passed:
        return Sung(runs=(seen.run,))
    was_green = any(run.check == "test" and run.passed for run in gates.before)
    first = tools.facts.canary(change.base, green.command) if was_green else None
    runs = (seen.run, *((first.run,) if first else ()))
    if first.run.passed if first else seen.direct:
        what = f"stays green beside a test that must fail ({seen.run.what})"
        return Sung(findings=(_finding(green, what, "blocker"),), runs=runs)
    what = "does not notice a failing test, and did not before the work either: look at the command itself"
    return Sung(findings=(_finding(green, what, "warning"),), runs=runs)


def _finding(run: CommandRun, what: str, severity: Severity) -> Finding:
    return Finding(rule="canary", where=run.command, what=what, severity=severity)


# How often a criterion is run again at most, and which share of a phase's time all of that may take at worst.
MOST, SHARE = 5, 0.1
# A look at a file says the same each time.
_LOOKS = re.compile(
    r"(?:!\s*)?(?:test|\[|grep|egrep|fgrep|cat|ls|diff|cmp|wc|head|tail|sort|cut|echo|printf|true|stat)(?=\s|$)"
)
_JOINTS = re.compile(r"\|\|?|&&|;|\n")


def steadied(record: PhaseRecord, tools: Tools, found: Verified, commit: str) -> Verified:
    """Those that start a program are run a few times more; one that fails then is a blocker."""
    held = {run.command for run in found.checks if run.passed}
    wanted = tuple(c for c in record.phase.criteria if c.command in held and runs_something(c))
    times = repeats(len(wanted), record.start.settings.limits) if wanted else 0
    runs = tools.facts.repeated(commit, wanted, frozen_tests(record, record.plan), times) if wanted else ()
    return msgspec.structs.replace(
        found,
        findings=(*found.findings, *(_unsteady(run) for run in runs if not run.passed)),
        extra=(*found.extra, *map(_steadiness_marked, runs)),
    )


def repeats(criteria: int, limits: Limits) -> int:
    """
    How many times more each of so many criteria is run: once at least.

    By the limits alone and never by how long a run took: a slow machine has to look as closely as a fast one.
    """
    runs = SHARE * limits.minutes_per_phase * 60 / max(1, limits.command_seconds)
    return max(1, int(min(MOST, runs / criteria)))


def runs_something(criterion: Criterion) -> bool:
    """Whether the command starts a program of the project's, as far as one can see."""
    parts = (part.strip() for part in _JOINTS.split(criterion.command or ""))
    return any(part and not _LOOKS.match(part) for part in parts) or "$(" in (criterion.command or "")


def _steadiness_marked(run: CommandRun) -> CommandRun:
    return msgspec.structs.replace(run, check=f"{run.check}.again", what=f"{run.what} (run several times more)")


def _unsteady(run: CommandRun) -> Finding:
    what = "it held, and did not when it was run again on the same tree: it passes by chance"
    return Finding(rule="unsteady", where=run.command, what=what)
