"""Old checks on new code: a script that a criterion runs is also run as it was before the work touched it."""

import re
from collections.abc import Iterator

import msgspec

from autopilot.domain.evidence import Change, CommandRun, FileVersion, Finding
from autopilot.domain.phase import Criterion
from autopilot.domain.results import OLD
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts.test_selection import Version, selects_tests, within
from autopilot.ports.agents import Tools
from autopilot.steps.checks.exemptions import changed_tests, users_word
from autopilot.steps.checks.test_specs import frozen_tests
from autopilot.steps.prompt import all_criteria

_RUNNERS = r"(?:bash|sh|dash|zsh|ksh|source|\.|python3?(?:\.\d+)?|node|ruby|perl|php|deno\s+run|bun(?:\s+run)?)"
_RUN = re.compile(rf"(?:^|[;&|(!]|\s(?:then|do)\s)\s*(?:{_RUNNERS}\s+(?:-\w+\s+)*)?(?P<path>[\w./@+-]+)")
_NAMES = r"(?:^|[/_.-])(?:tests?|checks?|verif\w*|specs?|ci|lint|smoke|accept\w*)(?:[/_.-]|$)"
_LIKE_A_CHECK = re.compile(rf"{_NAMES}|\.(?:sh|bats)$")


def old_checks(
    record: PhaseRecord, tools: Tools, change: Change, criteria: tuple[Criterion, ...]
) -> tuple[CommandRun, ...]:
    """
    The criteria on the new tree with their checks as they were before the work changed or removed them.

    For the user's criteria every test and whatever check they come to run is put back, for the plan's the scripts they
    name; where the user has given none, the plan's stand in for them. A test that is new is not looked for in a file as
    it was.
    """
    if all(file.status == "A" for file in change.files):
        return ()
    users = tuple(c for c in criteria if c in record.phase.criteria)
    planned = tuple(c for c in criteria if c not in users)
    strict, guards = apart(record, tools, change, users or planned)
    word = users_word(record)
    runs = _with_old_tests(record, tools, change, (strict, word))
    runs += _with_old_tests(record, tools, change, (guards, (*word, *changed_tests(record))))
    return runs + _with_old_scripts(record, tools, change, (criteria, runs))


def apart(
    record: PhaseRecord, tools: Tools, change: Change, criteria: tuple[Criterion, ...]
) -> tuple[tuple[Criterion, ...], tuple[Criterion, ...]]:
    """
    Those whose checks no plan may change, and the others.

    A criterion of the user's that failed before asks for the work, and its checks say what the work is. One that held
    before guards what was there, and a plan may say that this changes.
    """
    if not changed_tests(record):
        return criteria, ()
    own = tuple(c for c in criteria if c in record.phase.criteria)
    before = tools.facts.check(change.base, own, frozen_tests(record, record.plan))
    asked = {run.command for run in before if not run.passed}
    strict = tuple(c for c in own if c.command in asked)
    return strict, tuple(c for c in criteria if c not in strict)


def _with_old_tests(
    record: PhaseRecord, tools: Tools, change: Change, wanted: tuple[tuple[Criterion, ...], tuple[str, ...]]
) -> tuple[CommandRun, ...]:
    criteria, kept = wanted
    commands = tuple(c.command for c in criteria if c.command)
    old = tools.facts.as_before(change, commands, kept) if commands else None
    return _again(record, tools, change, (criteria, old.commit, old.paths)) if old and old.paths else ()


def _with_old_scripts(
    record: PhaseRecord, tools: Tools, change: Change, wanted: tuple[tuple[Criterion, ...], tuple[CommandRun, ...]]
) -> tuple[CommandRun, ...]:
    """What is a script by the way it is called is a check of the criterion that calls it, if not put back already."""
    criteria, runs = wanted
    done = {run.check: set(run.restored) for run in runs}
    altered = {file.path for file in change.files if file.status != "A"}
    own = {c.id: altered.intersection(scripts(c.command or "")) - done.get(f"{c.id}{OLD}", set()) for c in criteria}
    concerned = tuple(c for c in criteria if own[c.id])
    if not concerned:
        return ()
    paths = {path for criterion in concerned for path in own[criterion.id]}
    back = tools.workspace.change(change.commit, change.base)
    mixed = tools.workspace.portion(back, paths, change.commit, "the checks as they were before\n")
    return _again(record, tools, change, (concerned, mixed.commit, tuple(paths)))


def _again(
    record: PhaseRecord, tools: Tools, change: Change, wanted: tuple[tuple[Criterion, ...], str, tuple[str, ...]]
) -> tuple[CommandRun, ...]:
    criteria, commit, restored = wanted
    known = tuple(map(_as_it_was, _known(tools, change, criteria)))
    runs = tools.facts.check(commit, known, frozen_tests(record, record.plan)) if known else ()
    # The old file has no such test after all: that is no failure.
    told = (run for run in runs if run.passed or run.exit_code != 0 or not selects_tests(run.command))
    return tuple(msgspec.structs.replace(run, restored=tuple(sorted(restored))) for run in told)


def _known(tools: Tools, change: Change, criteria: tuple[Criterion, ...]) -> Iterator[Criterion]:
    """The criteria, each as far as the tests had what it runs before the work."""
    touched = any(_is_a_check(file.path) for file in change.files)
    changed = tools.workspace.texts(change.base, change.commit) if touched else ()
    tests = {file.path: Version(_text(file.before), _text(file.after)) for file in changed if _is_a_check(file.path)}
    for criterion in criteria:
        if (command := within(criterion.command or "", tests)) is not None:
            yield msgspec.structs.replace(criterion, command=command)


def _text(version: FileVersion | None) -> str | None:
    return None if version is None else version.text or ""


def hollow_criteria(record: PhaseRecord, tools: Tools, change: Change) -> tuple[Finding, ...]:
    """
    Where the work wrote the tests that the criteria name: do they notice when its sources are put back?

    Such tests cannot be run as they were. One of them, or another criterion that failed before, has to fail without the
    work; else they prove nothing.
    """
    if record.phase.kind != "feature" or record.brief.cycle:
        return ()
    runnable = tuple(c for c in all_criteria(record) if c.command)
    users = tuple(c for c in runnable if c in record.phase.criteria) or runnable
    if tuple(_known(tools, change, users)) == users:
        return ()
    files = frozen_tests(record, record.plan)
    failed = {run.command for run in tools.facts.check(change.base, users, files) if not run.passed}
    bare = tools.facts.variant("sources", change, ())
    asked = tuple(c for c in users if c.command in failed)
    runs = tools.facts.check(bare.commit, asked, files) if bare.paths and asked else ()
    if not runs or not all(run.passed for run in runs):
        return ()
    what = "it failed before the work, and holds without the sources of this phase: its test proves nothing of them"
    return tuple(Finding(rule="vacuous", where=run.command, what=what) for run in runs)


def scripts(command: str) -> Iterator[str]:
    """The files a command runs that look like checks; a program under construction is none."""
    for found in _RUN.finditer(command):
        path = found["path"].removeprefix("./")
        if _LIKE_A_CHECK.search(path):
            yield path


def _is_a_check(path: str) -> bool:
    return re.search(_NAMES, path) is not None


def _as_it_was(criterion: Criterion) -> Criterion:
    what = f"{criterion.text} (with the check as it was before the work)"
    return msgspec.structs.replace(criterion, id=f"{criterion.id}{OLD}", text=what)
