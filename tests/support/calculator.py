"""A small Python project with tests of its own, and the plan to give it a function more."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.project import ACTION, reviews
from support.repos import git, write
from support.runs import Drive, driven

TEST = "python3 -m unittest discover -s tests -t ."
DOUBLE = 'python3 -c "import calc; assert calc.double(2) == 4"'
CALC = "def add(a, b):\n    return a + b\n"
TESTS = (
    "import unittest\n\nimport calc\n\n\nclass CalcTest(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(calc.add(1, 2), 3)\n\n"
    "    def test_zero(self):\n        self.assertEqual(calc.add(0, 0), 0)\n"
)
FILES = {"calc.py": CALC, "tests/__init__.py": "", "tests/test_calc.py": TESTS}
GOOD = {"calc.py": f"{CALC}\n\ndef double(a):\n    return add(a, a)\n"}
ROADMAP = (
    "# Roadmap\n\n### Phase 1: Double\n**Goal**: Double a number.\n**Success Criteria** (what must be TRUE):\n"
    f"  1. Two becomes four -- verified by: `{DOUBLE}`\n"
)


def plan(*, files: str = "calc.py", command: str = DOUBLE, more: str = "") -> dict[str, Any]:
    """One task that writes the function; `more` are further labelled lines of it."""
    text = (
        '# Plan: Phase 1 -- Double\n\n## Wave 1\n\n<task id="01-01" type="auto" complexity="simple">\n'
        f"### Task 01-01: Double\n**Files:** {files}\n**Action:** {ACTION}\n**Verify:**\n"
        f"- two becomes four -- verified by: `{command}`\n{more}**Done:** It doubles.\n</task>\n"
    )
    return {"role": "plan", "result": {"total_tasks": 1}, "write": {"{dir}/PLAN.md": text}}


def worker(files: Mapping[str, str], **more: Any) -> list[dict[str, Any]]:
    """Whoever is asked to work leaves the same files and praises them."""
    result = {"tasks_completed": "1/1", "tasks_failed": "0/1", "fixed": True}
    return [{"role": role, "result": result, "write": dict(files), **more} for role in ("execute", "debug")]


def project(
    place: Path, *answers: dict[str, Any], test: str = TEST, files: Mapping[str, str] | None = None, **honesty: Any
) -> Drive:
    """The project in git with its test command configured; `files` are there from the start."""
    drive = driven(place, [*reviews(10.0), *answers])
    # Work that does not hold is given up at once: what is asked here is whether it is noticed.
    limits = {"task_fixes": 0, "debug_attempts": 0, "replans": 0}
    config = {
        "project": {"commands": {"test": test}},
        "workflow": {"research": False},
        "honesty": honesty,
        "limits": limits,
    }
    write(drive.root, {".planning/ROADMAP.md": ROADMAP, **FILES, **(files or {})})
    write(drive.root, {".planning/config.json": json.dumps(config)})
    git(drive.root, "add", "-A")
    git(drive.root, "commit", "-q", "--amend", "-m", "start")
    return drive
