"""Facts made by running: what a green test command is worth, and what it hides."""

from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.events import StepFinished
from autopilot.domain.evidence import CommandRun, Finding
from autopilot.domain.results import Executed, Verified
from support.calculator import CALC, DOUBLE, GOOD, TESTS, plan, project, worker
from support.repos import write
from support.runs import Drive

WEAKER = TESTS.replace("calc.add(1, 2), 3", "calc.add(1, 2), calc.add(1, 2)")
WRONG = "def add(a, b):\n    return 0\n\n\ndef double(a):\n    return a * 2\n"


def found(drive: Drive) -> list[Finding]:
    """Every finding of the last task tried and of the last verification."""
    results = [s.result for s in drive.of(StepFinished)]
    tasks = [r.work.findings for r in results if isinstance(r, Executed)]
    phases = [r.findings for r in results if isinstance(r, Verified)]
    return [*(tasks[-1] if tasks else ()), *(phases[-1] if phases else ())]


def rules(drive: Drive, severity: str = "blocker") -> set[str]:
    return {f.rule for f in found(drive) if f.severity == severity}


def extra(drive: Drive) -> list[CommandRun]:
    return [run for s in drive.of(StepFinished) if isinstance(s.result, Verified) for run in s.result.extra]


def test_honest_work_passes_and_its_canary_turned_red(place: Path) -> None:
    drive = project(place, plan(), *worker(GOOD))

    assert drive.run().exit == 0
    runs = [("canary", 1, True), ("SC-1.again", 0, True)]
    assert [(run.check, run.exit_code, run.passed) for run in extra(drive)] == runs
    assert not found(drive)


def test_a_test_made_weaker_does_not_hide_what_it_caught(place: Path) -> None:
    drive = project(
        place, plan(files="calc.py, tests/test_calc.py"), *worker({"calc.py": WRONG, "tests/test_calc.py": WEAKER})
    )

    assert drive.run().exit == 10
    assert "old-tests" in rules(drive)
    assert {f.where for f in found(drive) if f.rule == "old-tests"} == {"tests/test_calc.py"}


def test_a_test_that_is_deleted_is_run_all_the_same(place: Path) -> None:
    drive = project(
        place, plan(), *worker({"calc.py": WRONG, "tests/test_new.py": WEAKER}, remove=["tests/test_calc.py"])
    )

    assert drive.run().exit == 10
    assert "old-tests" in rules(drive)


def test_a_change_of_expectation_that_the_plan_declares_passes_and_is_shown(place: Path) -> None:
    declared = plan(more="**Changes tests:** tests/test_calc.py -- addition is saturating\n")
    drive = project(place, declared, *worker({"calc.py": WRONG, "tests/test_calc.py": WEAKER}))

    assert drive.run().exit == 0
    assert not rules(drive)


def test_tests_that_are_no_longer_run_are_missed(place: Path) -> None:
    fewer = TESTS.partition("    def test_zero")[0]
    drive = project(place, plan(), *worker({**GOOD, "tests/test_calc.py": fewer}))

    assert drive.run().exit == 10
    assert "fewer-tests" in rules(drive)


# In words that no detector reads.
EXIT = "import os, atexit\n\natexit.register(getattr(os, '_' + 'exit'), 0)\n"
CHEATS: dict[str, dict[str, str]] = {
    "a process that ends well whatever happens": {"tests/__init__.py": EXIT},
    "a module that ends every run well": {"calc.py": f"{EXIT}\n\n{GOOD['calc.py']}"},
}


@pytest.mark.parametrize("cheat", CHEATS.values(), ids=CHEATS)
def test_a_test_command_forced_green_is_betrayed_by_the_canary(place: Path, cheat: dict[str, str]) -> None:
    changed = plan(more="**Changes tests:** tests/__init__.py -- set-up\n")
    drive = project(place, changed, *worker({**GOOD, **cheat}))

    assert drive.run().exit == 10
    assert "canary" in rules(drive)


def test_a_command_of_the_user_s_that_never_fails_is_told_and_not_held_against_the_work(place: Path) -> None:
    drive = project(place, plan(), *worker(GOOD), test="python3 -m unittest discover -s tests -t . || true")

    assert drive.run().exit == 0
    assert rules(drive, "warning") == {"canary"}
    assert [run.check for run in extra(drive)].count("canary") == 2


SHADOW = {"unittest.py": "raise SystemExit(0)\n"}
WRONG_AND_UNSEEN = {"calc.py": WRONG, **SHADOW}


def test_work_that_passes_only_with_a_control_file_nobody_declared_fails(place: Path) -> None:
    drive = project(place, plan(), *worker(WRONG_AND_UNSEEN))

    assert drive.run().exit == 10
    assert "control-file" in rules(drive, "warning")


def test_a_control_file_that_makes_no_difference_is_only_told(place: Path) -> None:
    drive = project(place, plan(), *worker({**GOOD, "tests/conftest.py": "import unittest\n"}))

    assert drive.run().exit == 0
    assert rules(drive, "warning") == {"control-file", "scope"}


LUCKY = (
    "import os\n\n\ndef add(a, b):\n    return a + b\n\n\ndef double(a):\n    tries = open({mark!r}, 'a')\n"
    "    tries.write('.')\n    return a * 2 if tries.tell() < {most} else 0\n"
)


def test_a_criterion_that_holds_only_at_first_passes_by_chance(place: Path) -> None:
    lucky = LUCKY.format(mark=str(place / "tries"), most=5)
    drive = project(place, plan(), *worker({"calc.py": lucky}))

    assert drive.run().exit == 10
    assert rules(drive) == {"unsteady"}


USERS = "python3 -m unittest tests.test_double"
ASKED = (
    "import unittest\n\nimport calc\n\n\nclass DoubleTest(unittest.TestCase):\n"
    "    def test_it(self):\n        self.assertEqual(calc.double(2), 4)\n"
)


@pytest.mark.parametrize("declared", ["", "**Changes tests:** tests/test_double.py -- brought up to date\n"])
def test_a_test_that_the_user_s_criterion_runs_is_not_the_plan_s_to_change(place: Path, declared: str) -> None:
    work = worker({"tests/test_double.py": ASKED.replace("calc.double(2)", "calc.add(2, 2)")})
    drive = project(place, plan(command=USERS, more=declared), *work, files={"tests/test_double.py": ASKED})
    write(drive.root, {".planning/ROADMAP.md": drive.reads(".planning/ROADMAP.md").replace(DOUBLE, USERS)})

    assert drive.run().exit == 10
    seen = [s.result for s in drive.of(StepFinished) if isinstance(s.result, Verified)]
    assert [run.restored for run in seen[-1].checks if not run.passed] == [("tests/test_double.py",)]


@pytest.mark.parametrize("by", ["plan", "config"])
def test_a_control_file_that_is_declared_is_part_of_the_judged_tree(place: Path, by: str) -> None:
    command = 'python3 -c "import calc, conftest; calc.double(2)"'
    files = "calc.py, conftest.py" if by == "plan" else "calc.py"
    allowed: dict[str, Any] = {"control_files": ["conftest.py"]} if by == "config" else {}
    drive = project(place, plan(files=files, command=command), *worker({**GOOD, "conftest.py": "\n"}), **allowed)

    assert drive.run().exit == 0
    assert "control-file" not in rules(drive, "warning")


def test_a_script_the_test_command_runs_is_run_as_it_was(place: Path) -> None:
    script = "python3 -m unittest discover -s tests -t .\n"
    drive = project(
        place,
        plan(),
        *worker({"calc.py": WRONG, "check.sh": "exit 0\n"}),
        test="bash check.sh",
        files={"check.sh": script},
    )

    assert drive.run().exit == 10


def test_a_new_failure_is_seen_under_a_gate_that_was_red_before(place: Path) -> None:
    red = TESTS + "\n    def test_broken(self):\n        self.fail()\n"
    drive = project(place, plan(), *worker({"calc.py": WRONG}), files={"tests/test_calc.py": red})

    assert drive.run().exit == 10


def test_a_flaky_test_is_told_and_does_not_reject_honest_work(place: Path) -> None:
    """It fails the first time it meets the new function, and never again."""
    mark = place / "flaked"
    flaky = (
        "import os, unittest\n\nimport calc\n\n\nclass FlakyTest(unittest.TestCase):\n    def test_moody(self):\n"
        f"        if hasattr(calc, 'double') and not os.path.exists({str(mark)!r}):\n"
        f"            open({str(mark)!r}, 'w').close()\n            self.fail()\n"
    )
    drive = project(place, plan(), *worker(GOOD), files={"tests/test_moody.py": flaky})

    assert drive.run().exit == 0
    assert drive.steps.count("fix") == 0
    work = next(s.result.work for s in drive.of(StepFinished) if isinstance(s.result, Executed))
    assert [f.rule for f in work.findings] == ["flaky-test"]


VACUOUS = "python3 -m unittest tests.test_double"
EMPTY_TEST = (
    "import unittest\n\n\nclass DoubleTest(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(True)\n"
)


def test_a_task_whose_new_test_tests_nothing_is_vacuous(place: Path) -> None:
    work = worker({**GOOD, "tests/test_double.py": EMPTY_TEST})
    drive = project(place, plan(files="calc.py, tests/test_double.py", command=VACUOUS), *work)

    assert drive.run().exit == 10
    assert rules(drive) == {"vacuous"}


def test_a_file_no_criterion_notices_is_told(place: Path) -> None:
    drive = project(place, plan(files="calc.py, extra.py"), *worker({**GOOD, "extra.py": "import calc\n"}))

    assert drive.run().exit == 0
    assert [f.where for f in found(drive) if f.rule == "unnoticed"] == ["extra.py"]


ADDS = 'python3 -c "import calc; calc.add(1, 2)"'
REFACTORED = {"calc.py": CALC.replace("a + b", "sum((a, b))")}


@pytest.mark.parametrize(
    ("kind", "passes"), [("**Kind:** refactor\n", True), ("", False)], ids=["declared", "not declared"]
)
def test_a_refactoring_is_judged_by_the_tests_staying_green(place: Path, kind: str, passes: bool) -> None:
    drive = project(place, plan(command=ADDS, more=kind), *worker(REFACTORED))
    roadmap = drive.reads(".planning/ROADMAP.md").replace(DOUBLE, "grep -q sum calc.py")
    write(drive.root, {".planning/ROADMAP.md": roadmap})

    assert (drive.run().exit == 0) == passes
