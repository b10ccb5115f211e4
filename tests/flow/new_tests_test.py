"""Criteria that name a test which the work is to write into a test file that is there already."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.events import PhaseFinished, StepFinished
from autopilot.domain.evidence import CommandRun
from autopilot.domain.results import Verified
from support.calculator import CALC, DOUBLE, GOOD, TESTS, plan, project, worker
from support.project import reviews
from support.repos import write
from support.runs import Drive

NEW = "    def test_double(self):\n        self.assertEqual(calc.double(2), 4)\n"
BOTH = {**GOOD, "tests/test_calc.py": f"{TESTS}\n{NEW}"}
WRONG = "def add(a, b):\n    return 0\n\n\ndef double(a):\n    return a * 2\n"
WEAKER = TESTS.replace("calc.add(1, 2), 3", "calc.add(1, 2), calc.add(1, 2)")
UNITTEST = "python3 -m unittest tests.test_calc.CalcTest.test_double"
FORMS = (
    UNITTEST,
    "python3 -m unittest -k test_double tests.test_calc",
    "python3 -m pytest -q -p no:cacheprovider tests/test_calc.py::CalcTest::test_double",
    "python3 -m pytest -q -p no:cacheprovider tests -k test_double",
    "cd tests && PYTHONPATH=.. python3 -m unittest test_calc.CalcTest.test_double",
)
# The gate would notice most of it by itself; here the criteria are asked.
NO_GATE = "true"


def asked(drive: Drive, criterion: str) -> Drive:
    """The roadmap asks for it, with or without a command."""
    line = f"  1. Two becomes four -- verified by: `{DOUBLE}`"
    write(drive.root, {".planning/ROADMAP.md": drive.reads(".planning/ROADMAP.md").replace(line, f"  1. {criterion}")})
    return drive


def checks(drive: Drive) -> tuple[CommandRun, ...]:
    return [s.result for s in drive.of(StepFinished) if isinstance(s.result, Verified)][-1].checks


def why(drive: Drive) -> str:
    return drive.of(PhaseFinished)[-1].outcome.reason


@pytest.mark.parametrize("command", FORMS)
def test_a_criterion_may_name_a_test_that_is_to_be_written(place: Path, command: str) -> None:
    made = project(place, plan(files="calc.py, tests/test_calc.py"), *worker(BOTH))
    drive = asked(made, f"Two becomes four -- verified by: `{command}`")

    assert drive.run().exit == 0
    assert [run.restored for run in checks(drive) if run.command == command] == [()]


def test_another_class_may_have_a_test_of_that_name(place: Path) -> None:
    new = f"{TESTS}\n\nclass DoubleTest(unittest.TestCase):\n{NEW.replace('test_double', 'test_add')}"
    made = project(place, plan(files="calc.py, tests/test_calc.py"), *worker({**GOOD, "tests/test_calc.py": new}))
    command = "python3 -m unittest tests.test_calc.DoubleTest.test_add"

    assert asked(made, f"Two becomes four -- verified by: `{command}`").run().exit == 0


def test_the_plan_may_name_one_where_the_roadmap_has_no_command(place: Path) -> None:
    seen = [{**answer, "phase": "1"} for answer in reviews(10.0, prose=["Two becomes four"])]
    made = project(place, *seen, plan(files="calc.py, tests/test_calc.py", command=UNITTEST), *worker(BOTH))

    assert asked(made, "Two becomes four").run().exit == 0


def test_a_new_file_may_need_what_the_work_adds_to_an_old_one(place: Path) -> None:
    helper = {"tests/helper.py": "ONE = 1\n"}
    new = (
        "import unittest, calc\nfrom tests.helper import TWO\n\n\nclass DoubleTest(unittest.TestCase):\n"
        + NEW.replace("calc.double(2)", "calc.double(TWO)")
    )
    work = {**GOOD, "tests/helper.py": "ONE = 1\nTWO = 2\n", "tests/test_double.py": new}
    made = project(place, plan(files="calc.py, tests/"), *worker(work), files=helper)
    drive = asked(made, "Two becomes four -- verified by: `python3 -m unittest tests.test_double`")

    assert drive.run().exit == 0


def test_the_old_tests_that_a_criterion_names_beside_it_are_run_as_they_were(place: Path) -> None:
    work = {"calc.py": WRONG, "tests/test_calc.py": f"{WEAKER}\n{NEW}"}
    allowed: dict[str, Any] = {"assertion-tautology": "note", "assertion-removed": "note"}
    made = project(place, plan(files="calc.py, tests/test_calc.py"), *worker(work), test=NO_GATE, **allowed)
    both = f"{UNITTEST} tests.test_calc.CalcTest.test_add"
    drive = asked(made, f"It adds and doubles -- verified by: `{both}`")

    assert drive.run().exit == 10
    (failed,) = (run for run in checks(drive) if not run.passed)
    assert failed.command == "python3 -m unittest tests.test_calc.CalcTest.test_add"
    assert failed.restored == ("tests/test_calc.py",)


@pytest.mark.parametrize("body", ["pass", "self.assertEqual(calc.add(1, 1), 2)"])
def test_a_new_test_that_holds_without_the_work_proves_nothing(place: Path, body: str) -> None:
    hollow = f"{TESTS}\n    def test_double(self):\n        {body}\n"
    made = project(place, plan(files="calc.py"), *worker({**GOOD, "tests/test_calc.py": hollow}), test=NO_GATE)
    drive = asked(made, f"Two becomes four -- verified by: `{UNITTEST}`")

    assert drive.run().exit == 10
    assert "holds without the sources of this phase" in why(drive)


CALC_JS = "exports.add = (a, b) => a + b\n"
TEST_JS = (
    "const test = require('node:test'); const assert = require('node:assert'); const calc = require('../calc.js')\n"
    "test('adds', () => assert.equal(calc.add(1, 2), 3))\n"
)


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_a_run_that_found_no_test_of_that_name_has_not_held(place: Path) -> None:
    """Most runners end with 0 when nothing matches: the criterion would seem to hold before the work."""
    work = {
        "calc.js": f"{CALC_JS}exports.double = (a) => a * 2\n",
        "test/calc.test.js": f"{TEST_JS}test('doubles', () => assert.equal(calc.double(2), 4))\n",
    }
    named = "node --test --test-name-pattern doubles test/"
    files = {"calc.js": CALC_JS, "test/calc.test.js": TEST_JS, "calc.py": CALC}
    made = project(place, plan(files="calc.js, test/calc.test.js", command=named), *worker(work), files=files)
    drive = asked(made, f"Two becomes four -- verified by: `{named}`")

    assert drive.run().exit == 0
    assert "execute" in drive.steps
