"""Old checks on new code: a script that a criterion runs is also run as it was before the work touched it."""

import re
from collections.abc import Iterator

import msgspec

from autopilot.domain.evidence import Change, CommandRun
from autopilot.domain.phase import Criterion
from autopilot.domain.protocols import Tools
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import OLD
from autopilot.steps.frozen import frozen_tests

_RUNNERS = r"(?:bash|sh|dash|zsh|ksh|source|\.|python3?(?:\.\d+)?|node|ruby|perl|php|deno\s+run|bun(?:\s+run)?)"
_RUN = re.compile(rf"(?:^|[;&|(!]|\s(?:then|do)\s)\s*(?:{_RUNNERS}\s+(?:-\w+\s+)*)?(?P<path>[\w./@+-]+)")
_NAMES = r"(?:^|[/_.-])(?:tests?|checks?|verif\w*|specs?|ci|lint|smoke|accept\w*)(?:[/_.-]|$)"
_LIKE_A_CHECK = re.compile(rf"{_NAMES}|\.(?:sh|bats)$")


def old_checks(
    record: PhaseRecord, tools: Tools, change: Change, criteria: tuple[Criterion, ...]
) -> tuple[CommandRun, ...]:
    """The criteria whose scripts the work changed or removed, on the new tree with those scripts as they were."""
    altered = {file.path for file in change.files if file.status != "A"}
    concerned = tuple(c for c in criteria if altered.intersection(scripts(c.command or "")))
    if not concerned:
        return ()
    paths = {path for criterion in concerned for path in scripts(criterion.command or "")} & altered
    back = tools.workspace.change(change.commit, change.base)
    mixed = tools.workspace.portion(back, paths, change.commit, "the checks as they were before\n")
    runs = tools.facts.check(mixed.commit, tuple(map(_as_it_was, concerned)), frozen_tests(record, record.plan))
    return tuple(msgspec.structs.replace(run, restored=tuple(sorted(paths))) for run in runs)


def scripts(command: str) -> Iterator[str]:
    """The files a command runs that look like checks; a program under construction is none."""
    for found in _RUN.finditer(command):
        path = found["path"].removeprefix("./")
        if _LIKE_A_CHECK.search(path):
            yield path


def _as_it_was(criterion: Criterion) -> Criterion:
    what = f"{criterion.text} (with the check as it was before the work)"
    return msgspec.structs.replace(criterion, id=f"{criterion.id}{OLD}", text=what)
