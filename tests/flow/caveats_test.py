"""Whole runs whose facts are thin: what a pass does not show is said wherever the pass is, or a person is asked."""

import json
from pathlib import Path
from typing import Any

import pytest

from autopilot.app import prepare as app
from autopilot.cli.verbs import status
from autopilot.policy.caveats import HELD_BEFORE
from autopilot.views.lines.announcement import announcement
from autopilot.views.lines.run_lines import Narrator
from support.project import plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, driven

READS = "A reader understands the letter."
HELD = f"  1. It is there -- verified by: `grep -q done letter1.txt`\n  2. {READS}\n"
NEW = "  1. It is signed -- verified by: `grep -q signed letter1.txt`\n"
GREEN, RED = "test -e notes.txt\n", "echo 'error: could not fetch packages' >&2\nexit 2\n"
NEVER = "the test command never passed here (exit 2 before and after: no test was seen to run), so no test proves it"
WORK = work_answer("1", "01-01", "letter1.txt", "done\nsigned\n")


def plan(word: str, kind: str = "") -> dict[str, Any]:
    made = plan_answer("1", [("letter1.txt", word)])
    text = made["write"]["{dir}/PLAN.md"].replace(
        'type="auto"', f'type="auto" kind="{kind}"' if kind else 'type="auto"'
    )
    return {**made, "write": {**made["write"], "{dir}/PLAN.md": text}}


def letters(place: Path, criteria: str, given: dict[str, Any], *, kind: str = "", tests: str = GREEN) -> Drive:
    """One phase, whose letter is there but not signed."""
    project = driven(place, [*reviews(9.4, [READS]), given, WORK], "1")
    declared = f"**Kind**: {kind}\n" if kind else ""
    head = f"# Roadmap: Letters\n\n### Phase 1: Letter 1\n**Goal**: Write letter 1.\n{declared}"
    files = {
        ".planning/ROADMAP.md": f"{head}**Success Criteria** (what must be TRUE):\n{criteria}",
        ".planning/config.json": json.dumps({"project": {"commands": {"test": "bash check.sh"}}}),
        "check.sh": tests,
        "letter1.txt": "done\n",
    }
    write(project.root, files)
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "by hand")
    return project


def assert_every_view_says(project: Drive, end: Any, caveat: str) -> None:
    narrator = Narrator()
    for stream, entry in project.entries:
        list(narrator.tell(stream, entry))
    (closing,) = (line for line in project.told() if line.startswith("--- [PHASE 1/1] Complete"))
    assert caveat in closing
    assert f"Phase 1 passed; {caveat}." in list(announcement(end, narrator))
    assert end.phases["1"].reason == f"passed; {caveat}"
    assert caveat[:30] in status.show(as_json=False, folder=str(project.root))
    receipt = json.loads(project.reads(".planning/phases/01-letter-1/RECEIPT.json"))["predicate"]
    assert receipt["result"] == "WARNED"
    assert caveat in receipt["autopilot"]["warnings"]
    assert "every gate passed" not in json.dumps(receipt)
    page = Path(app.reports(str(project.root)).page(None, None)).read_text(encoding="utf-8")
    headline = page.partition('class="headline">')[2].partition("</p>")[0]
    assert headline == f"1 of 1 phases passed; phase 1: {caveat}"


@pytest.mark.parametrize("kind", ["refactor", "docs"])
def test_a_plan_that_calls_itself_a_refactoring_does_not_pass_on_what_held_before(place: Path, kind: str) -> None:
    """The exemption of a whole phase is the user's to give: the plan is an agent's."""
    project = letters(place, HELD, plan("done", kind))
    if kind == "docs":
        project.rewrite([*reviews(9.4, [READS]), plan("done", kind), work_answer("1", "01-01", "guide.md", "Guide.\n")])

    end = project.run()

    assert (end.exit, end.phases["1"].status) == (11, "needs_human_verification")
    assert "held before the work" in end.phases["1"].reason


def test_a_refactoring_that_the_roadmap_declares_passes_and_every_view_says_what_is_not_shown(place: Path) -> None:
    project = letters(place, HELD, plan("done", "refactor"), kind="refactor")

    end = project.run()

    assert end.exit == 0
    assert_every_view_says(project, end, HELD_BEFORE)


def test_a_declared_refactoring_whose_tests_fail_waits_for_a_person(place: Path) -> None:
    """The tests are what guards a refactoring."""
    project = letters(place, HELD, plan("done", "refactor"), kind="refactor", tests=RED)

    end = project.run()

    assert (end.exit, end.phases["1"].status) == (11, "needs_human_verification")
    assert "the test command fails here" in end.phases["1"].reason


def test_a_test_command_that_never_passed_is_no_part_of_a_plain_pass(place: Path) -> None:
    project = letters(place, NEW, plan("signed"), tests=RED)

    end = project.run()

    assert end.exit == 0
    assert_every_view_says(project, end, NEVER)
    assert project.state()["phases"]["1"]["automated_checks"]["test"] == "failed before too"


@pytest.mark.parametrize("command", ["python3 -m pytest -q", "python3 -m unittest -q tests.test_letter"])
def test_tests_that_cannot_be_loaded_were_not_run(place: Path, command: str) -> None:
    project = letters(place, NEW, plan("signed"))
    test = "import unittest\nimport not_installed_anywhere\n\n\nclass Letter(unittest.TestCase):\n    pass\n"
    config = {"project": {"commands": {"test": command}}}
    write(project.root, {".planning/config.json": json.dumps(config), "tests/test_letter.py": test})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "tests")

    end = project.run()

    assert end.exit == 0
    assert "before and after: no test was seen to run), so no test proves it" in end.phases["1"].reason


def test_a_plain_pass_has_no_caveat(place: Path) -> None:
    project = letters(place, NEW, plan("signed"))

    end = project.run()

    assert (end.exit, end.phases["1"].caveats, end.phases["1"].reason) == (0, (), "every gate passed")
