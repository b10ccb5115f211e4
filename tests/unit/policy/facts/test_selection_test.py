"""The part of a command that a test file could run before the work, and commands that name tests."""

from types import EllipsisType

import pytest

from autopilot.domain.phase import Criterion
from autopilot.policy.facts.criteria import is_met
from autopilot.policy.facts.test_counts import ran_none
from autopilot.policy.facts.test_selection import Version, selects_tests, within

OLD = (
    "class SlicedTests(TestCase):\n    def test_negative(self): ...\n\ndef test_plain(): ...\n\n"
    "class TailTests(TestCase):\n    def test_even(self): ...\n\n\n# the end\nEND = 1\n"
)
NEW = f"{OLD}\nclass ChunkedTests(TestCase):\n    def test_new(self): ...\n\n    def test_other(self): ...\n".replace(
    "    def test_even(self): ...\n", "    def test_even(self): ...\n\n    def test_negative(self): ...\n"
)
FILES = {
    "tests/test_more.py": Version(OLD, NEW),
    "pkg/x_test.go": Version("func TestOld(", "func TestOld( func TestNew("),
}


@pytest.mark.parametrize(
    ("command", "left"),
    [
        ("python3 -m unittest tests.test_more.ChunkedTests.test_new", None),
        ("python3 -m unittest tests.test_more.ChunkedTests", None),
        ("python3 -m unittest tests.test_more.TailTests.test_negative", None),
        ("pytest tests/test_more.py::TailTests::test_negative", None),
        ("python3 -m unittest tests.test_more.TailTests.test_even", ...),
        ("python3 -m unittest tests.test_more.TailTests", ...),
        ("python3 -m unittest -v tests.test_more.SlicedTests.test_new", None),
        ("python3 -m unittest tests.test_more.SlicedTests.test_negative", ...),
        ("python3 -m unittest tests.test_more", ...),
        (
            "python3 -m unittest tests.test_more.ChunkedTests tests.test_more.SlicedTests",
            "python3 -m unittest tests.test_more.SlicedTests",
        ),
        ("python3 -m unittest discover -s tests", ...),
        ("cd src && PYTHONPATH=. python3 -m unittest tests.test_more.ChunkedTests.test_new", None),
        ("python3 tests/test_more.py ChunkedTests.test_new", None),
        ("python3 tests/test_more.py SlicedTests", ...),
        ("pytest tests/test_more.py::ChunkedTests::test_new", None),
        ("pytest -q ./tests/test_more.py::ChunkedTests", None),
        ("pytest 'tests/test_more.py::test_plain[a-b]'", ...),
        ("pytest tests/test_more.py::test_plain", ...),
        (
            "pytest tests/test_more.py::test_new tests/test_more.py::test_plain -q",
            "pytest tests/test_more.py::test_plain -q",
        ),
        ("pytest tests/other_test.py::test_new", ...),
        ("pytest -k test_new", None),
        ("pytest -k 'test_new or test_other'", None),
        ("pytest -k 'test_new or test_plain'", ...),
        ("pytest -k 'not test_new'", ...),
        ("pytest -k nowhere", ...),
        ("go test -run TestNew ./...", None),
        ("go test -run '^TestNew$|TestOld' ./pkg", ...),
        ("go test ./...", ...),
        ("cargo test test_new", None),
        ("cargo test --features test_new", ...),
        ("npx jest -t 'test_new'", None),
        ("npx vitest run -t test_new", None),
        ("node --test --test-name-pattern=test_new", None),
        ("pytest tests/test_more.py::test_new && pytest tests/test_more.py", "pytest tests/test_more.py"),
        ("pytest tests/test_more.py && pytest tests/test_more.py::test_new", "pytest tests/test_more.py"),
        ("python3 -c 'import a; test_new()'", ...),
    ],
)
def test_what_an_old_test_file_can_run(command: str, left: str | EllipsisType | None) -> None:
    """Three dots: all of it."""
    assert within(command, FILES) == (command if left is ... else left)


@pytest.mark.parametrize("version", [Version(OLD, None), Version(OLD, OLD), Version(NEW, NEW), Version(NEW, OLD)])
def test_a_test_that_was_there_or_is_in_no_file_is_not_excused(version: Version) -> None:
    command = "pytest tests/test_more.py::ChunkedTests::test_new"
    assert within(command, {"tests/test_more.py": version}) == command


NONE = {
    "go": "ok  \tx\t0.002s [no tests to run]\n",
    "cargo": "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 12 filtered out\n",
    "jest": "Test Suites: 1 skipped, 0 of 1 total\nTests:       1 skipped, 1 total\n",
    "vitest": " Test Files  1 skipped (1)\n      Tests  1 skipped (1)\n",
    "vitest in color": "\x1b[2m      Tests \x1b[22m \x1b[33m1 skipped\x1b[39m\x1b[90m (1)\x1b[39m\n",
    "mocha": "\n  0 passing (9ms)\n",
    "node": "# tests 1\n# pass 0\n# fail 0\n# skipped 1\n",
    "unittest": "\n-----\nRan 0 tests in 0.000s\n\nOK\n",
    "rspec": "0 examples, 0 failures\n",
}
SOME = {
    "go": "ok  \tx\t0.002s [no tests to run]\nok  \ty\t0.1s\n",
    "cargo": "test result: ok. 2 passed; 0 failed\n\ntest result: ok. 0 passed; 0 failed\n",
    "jest": "Tests:       1 skipped, 2 passed, 3 total\n",
    "vitest": "      Tests  1 passed | 1 skipped (2)\n",
    "two runs": "2 passed in 0.1s\n0 passing\n",
    "unittest": "Ran 2 tests in 0.1s\n\nOK\nRan 0 tests in 0.000s\n\nOK\n",
    "no runner": "hello\n",
    "nothing": "",
}


@pytest.mark.parametrize("runner", NONE)
def test_a_run_without_a_test_is_known(runner: str) -> None:
    assert ran_none(NONE[runner])


@pytest.mark.parametrize("runner", SOME)
def test_a_run_with_a_test_or_without_a_word_is_not_taken_for_one(runner: str) -> None:
    assert not ran_none(SOME[runner])


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("go test -run TestNew ./...", True),
        ("cargo test train", True),
        ("npm test -- -t new", True),
        ("pytest tests/test_a.py::test_b", True),
        ("python3 -m unittest tests.test_more.ChunkedTests", True),
        ("python3 -m unittest tests.test_more", False),
        ("cargo test", False),
        ("cargo test --release -- --test-threads 1", False),
        ("go test ./...", False),
        ("node -e 'require(\"./x\")'", False),
        ("grep -q done letter.txt", False),
    ],
)
def test_commands_that_name_tests_are_known(command: str, named: bool) -> None:
    assert selects_tests(command) is named


def test_a_criterion_that_names_tests_and_runs_none_is_not_met() -> None:
    named = Criterion(id="C1", text="trains", command="cargo test train")
    assert not is_met(named, 0, NONE["cargo"])
    assert is_met(named, 0, SOME["cargo"])
    assert not is_met(named, 101, SOME["cargo"])
    assert is_met(Criterion(id="C1", text="all", command="cargo test"), 0, NONE["cargo"])
