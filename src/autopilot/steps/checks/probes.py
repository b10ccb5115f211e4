"""Do a task's criteria notice when its sources are put back? Those that do not prove nothing about them."""

from collections.abc import Iterator, Mapping

import msgspec

from autopilot.domain.evidence import Change, CommandRun, Finding, Work
from autopilot.domain.phase import Criterion, Task
from autopilot.domain.results import Executed, Verified
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import auto_tasks, debugs, since_plan
from autopilot.ports.agents import Tools
from autopilot.steps.checks.frozen import frozen_tests

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
