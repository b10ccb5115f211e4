"""Work that bends the project's checks does not pass, and passes once they are put right."""

from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.events import PhaseFinished
from support.project import plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, driven

TEST = "def test_letter():\n    assert open('letter1.txt').read() == 'done 1\\n'\n"
SKIPPED = f"import pytest\n\n\n@pytest.mark.skip\n{TEST}"
PLAN = plan_answer("1", [("letter1.txt", "done")])
FIXED = {"fixed": True, "changes": ["put right"]}
WORK = work_answer("1", "01-01", "letter1.txt", "done 1\n")


def project(place: Path, answers: list[dict[str, Any]], config: str = "{}") -> Drive:
    made = driven(place, [*reviews(), PLAN, *answers])
    write(made.root, {"tests/test_letter.py": TEST, ".planning/config.json": config})
    git(made.root, "add", "-A")
    git(made.root, "commit", "-q", "--amend", "-m", "start")
    return made


def cheating() -> dict[str, Any]:
    return {**WORK, "write": {"letter1.txt": "done 1\n", "tests/test_letter.py": SKIPPED}}


def test_a_phase_whose_tests_were_skipped_never_passes(place: Path) -> None:
    made = project(place, [cheating(), {"role": "debug", "result": FIXED}])

    assert made.run().exit == 10
    assert made.log() == ["start"]
    assert "FAILED" in made.reads(".planning/phases/01-letter-1/EXECUTION-LOG.md")
    assert made.of(PhaseFinished)[-1].outcome.status == "failed"


def test_the_phase_passes_once_the_test_is_put_right(place: Path) -> None:
    mended = {"role": "debug", "result": FIXED, "write": {"tests/test_letter.py": TEST}}
    made = project(place, [cheating(), mended])

    assert made.run().exit == 0
    assert "fix" in made.steps


@pytest.mark.parametrize("weight", ["concern", "note"])
def test_the_user_may_let_it_pass_and_it_is_still_listed(place: Path, weight: str) -> None:
    made = project(place, [cheating()], f'{{"honesty": {{"test-skipped": "{weight}"}}}}')

    assert made.run().exit == 0
    told = made.reads(".planning/phases/01-letter-1/VERIFICATION.md")
    assert f"- {weight} test-skipped: tests/test_letter.py:4" in told


def test_a_plan_that_announces_the_change_makes_it_a_concern(place: Path) -> None:
    text = PLAN["write"]["{dir}/PLAN.md"]
    announced = text.replace("**Done:**", "**Changes tests:** tests/test_letter.py -- the letter moves\n**Done:**")
    made = project(place, [cheating()])
    made.rewrite([*reviews(), {**PLAN, "write": {**PLAN["write"], "{dir}/PLAN.md": announced}}, cheating()])

    assert made.run().exit == 0
    assert "the plan declares" in made.reads(".planning/phases/01-letter-1/EXECUTION-LOG.md")


def test_the_finding_is_the_phase_s_reason_and_says_what_would_have_covered_it(place: Path) -> None:
    made = project(place, [cheating(), {"role": "debug", "result": {"fixed": False}}])

    assert made.run().exit == 10
    reason = made.of(PhaseFinished)[-1].outcome.reason
    assert "task 01-01 was set aside: tests/test_letter.py:4: `@pytest.mark.skip`" in reason
    assert "**Changes tests:** tests/test_letter.py -- why" in reason
    assert reason.index("@pytest.mark.skip") < reason.index("grep -q done letter1.txt")
