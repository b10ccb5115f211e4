"""Tests told from sources, by the conventions of many languages."""

import pytest

from autopilot.evidence.test_files import is_source, is_test


@pytest.mark.parametrize(
    "path",
    ["tests/a.py", "test_a.py", "pkg/a_test.py", "a_test.go", "src/a.test.tsx", "src/a.spec.ts", "src/__tests__/a.js",
     "spec/a_spec.rb", "src/test/java/ATest.java", "tests/it.rs", "a.bats", "tests/data/x.json", "src/__snapshots__/a.snap",
     "ATests.cs", "acceptance/a.py", "golden/2024.txt", "report.approved.json"],
)  # fmt: skip
def test_what_is_named_or_lies_like_a_test_is_one(path: str) -> None:
    assert is_test(path)
    assert not is_source(path)


@pytest.mark.parametrize("path", ["calc.py", "src/contest.py", "src/latest.go", "lib/attestation.ts", "run.sh"])
def test_a_source_is_no_test(path: str) -> None:
    assert is_source(path)
    assert not is_test(path)


@pytest.mark.parametrize("path", ["README.md", "tests/README.md", "package.json", "LICENSE", "notes.txt", "Cargo.lock"])
def test_prose_and_data_are_neither(path: str) -> None:
    assert not is_source(path)
    assert not is_test(path)
