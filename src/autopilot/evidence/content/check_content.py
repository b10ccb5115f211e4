"""What is wrong inside changed files, by the kind of phase they belong to (PTV-01..03): read by us, never executed."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

import msgspec

from autopilot.domain.evidence import Finding
from autopilot.domain.phase import PhaseType
from autopilot.evidence.content import data_files, imports, prose
from autopilot.evidence.content.tree_files import TreeFiles

Check = Callable[[str, TreeFiles, Collection[str]], Iterator[Finding]]

CHECKS: Mapping[PhaseType, tuple[Check, ...]] = {
    "protocol": (prose.findings,),
    "data": (data_files.findings,),
    "ui": (imports.findings,),
    "mixed": (prose.findings, data_files.findings, imports.findings),
}
# A test may need a file that cannot be read; only its place and its name together say so.
_FIXTURE = re.compile(r"(?:^|/)(?:tests?|__tests__|specs?|fixtures?|testdata|test-data)/", re.IGNORECASE)
_BROKEN_ON_PURPOSE = re.compile(
    r"(?:^|[/_.-])(?:invalid|broken|malformed|corrupt(?:ed)?|bad|garbage|truncated)(?:[/_.-]|$)", re.IGNORECASE
)


READABLE: Mapping[PhaseType, frozenset[str]] = {
    "protocol": prose.MARKDOWN,
    "data": frozenset(data_files.READERS),
    "ui": imports.SCRIPTS | imports.STYLES | imports.PAGES,
    "mixed": prose.MARKDOWN | frozenset(data_files.READERS) | imports.SCRIPTS | imports.STYLES | imports.PAGES,
}


def relevant(paths: Iterable[str], kind: PhaseType) -> tuple[str, ...]:
    """Those of the paths that some check of the kind reads."""
    return tuple(path for path in paths if PurePosixPath(path).suffix.lower() in READABLE[kind])


def findings(folder: str, paths: Sequence[str], kind: PhaseType, claimed: Collection[str]) -> tuple[Finding, ...]:
    """Each problem of the named files below the folder; `claimed` are files the work was to bring."""
    tree = TreeFiles(folder)
    found = (finding for path in paths for check in CHECKS[kind] for finding in check(path, tree, claimed))
    return tuple(_excused(finding) for finding in found)


def _excused(finding: Finding) -> Finding:
    path = finding.where.partition(":")[0]
    if finding.severity != "blocker" or not (_FIXTURE.search(path) and _BROKEN_ON_PURPOSE.search(path)):
        return finding
    what = f"{finding.what} (a test's own broken file)"
    return msgspec.structs.replace(finding, severity="warning", what=what)


def softened(now: Sequence[Finding], before: Sequence[Finding]) -> tuple[Finding, ...]:
    """What was broken in the same file before the work does not block it."""
    old = {(finding.rule, finding.where.partition(":")[0]) for finding in before if finding.severity == "blocker"}
    return tuple(
        msgspec.structs.replace(f, severity="warning", what=f"{f.what}; so it was before this phase")
        if f.severity == "blocker" and (f.rule, f.where.partition(":")[0]) in old
        else f
        for f in now
    )
