"""Targets for what is read out of the project itself: test output, changes, git's own words, source code."""

import json
from collections.abc import Callable

import msgspec

from autopilot.codemap.bare_io import encoded
from autopilot.codemap.extract import WALKS, outline
from autopilot.domain.evidence import FileTexts, FileVersion
from autopilot.domain.phase import Expectation
from autopilot.evidence.content.data_files import READERS, findings
from autopilot.evidence.content.tree_files import TreeFiles
from autopilot.evidence.junit_reports import counts_of
from autopilot.evidence.tamper.detectors import detect
from autopilot.policy.facts.test_counts import counts_in
from autopilot.policy.score_caps import place_in
from autopilot.steps.checks.executor_context import error_count
from autopilot.workspace.own_repository import parse_difference, shown
from fuzz.places import scratch

Target = Callable[[bytes], None]
PATHS = (
    "tests/test_a.py", "a/b.py", "conftest.py", "src/a.test.ts", "a_test.go", "src/a.rs", "src/test/ATest.java",
    "tests/check.sh", "Makefile", "package.json", "pyproject.toml", "tox.ini", ".github/workflows/ci.yml",
    ".gitattributes", ".eslintrc.json", "jest.config.js",
)  # fmt: skip


def fuzz_test_counts(data: bytes) -> None:
    """Numbers that can be stored, none of them negative."""
    found = counts_in(data.decode(errors="replace"))
    assert min(found.passed or 0, found.failed or 0) >= 0
    msgspec.json.encode(found)


def fuzz_junit(data: bytes) -> None:
    found = counts_of(data.decode(errors="replace"))
    if found is not None:
        assert (found.passed or 0) >= 0
        assert len(found.failing) == found.failed


def fuzz_changes(data: bytes) -> None:
    """A change from one text to another, in a file of any kind: findings name their place."""
    old, _, new = data.partition(b"\0\0")
    path = PATHS[(data[0] if data else 0) % len(PATHS)]
    sides = [FileVersion(mode="100644", text=side.decode(errors="replace"), size=len(side)) for side in (old, new)]
    for finding in detect([FileTexts(path=path, before=sides[0], after=sides[1])]):
        assert finding.where
        assert finding.what


def fuzz_data_files(data: bytes) -> None:
    """A data file of any kind can be read as what it is called, or is found to be something else."""
    tree = TreeFiles(str(scratch()))
    for suffix in READERS:
        path = f"data{suffix}"
        (scratch() / path).write_bytes(data)
        assert all(finding.what for finding in findings(path, tree, ()))


def fuzz_expectations(data: bytes) -> None:
    """What a command printed meets what was expected or does not."""
    output = data.decode(errors="replace")
    for form in ("exit", "count", "at_least", "text"):
        expect = Expectation(form=form, number=2, text="x")
        assert not expect.met(None, output)
        expect.met(0, output)
    error_count(output)
    place_in(output)


def fuzz_differences(data: bytes) -> None:
    """Git's words on a change, whatever the files in it are called."""
    paths = [path for path in data.split(b"\0") if path]
    raw = b"".join(b":100644 100755 %b %b M\0%b\0" % (b"1" * 40, b"2" * 40, path) for path in paths)
    found = parse_difference(raw + b"".join(b"3\t-\t%b\0" % path for path in paths))
    assert (len(found.touched), found.added, found.removed) == (len(paths), 3 * len(paths), 0)
    msgspec.json.encode([shown(touched.path) for touched in found.touched])


def source(grammar: str) -> Target:
    """Any text has an outline, and that is written as JSON which says the same."""

    def fuzz(data: bytes) -> None:
        found = outline(grammar, data)
        assert json.loads(encoded(found)) == json.loads(json.dumps(found))

    return fuzz


TARGETS: dict[str, Target] = {
    "test_counts": fuzz_test_counts,
    "junit": fuzz_junit,
    "changes": fuzz_changes,
    "data_files": fuzz_data_files,
    "expectations": fuzz_expectations,
    "differences": fuzz_differences,
    **{f"source_{grammar}": source(grammar) for grammar in WALKS},
}
