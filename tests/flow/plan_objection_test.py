"""A plan that is never accepted: the end of the phase says what was wrong with it, and so does every try before."""

from pathlib import Path
from typing import Any

from support.project import plan_answer, reviews
from support.runs import Drive, driven, roadmap_of

OBJECTION = "Requirement REQ-01 has no task"
REQUIREMENTS = "# Requirements\n\n- [ ] **REQ-01**: The letter is polite.\n\n"
TABLE = "| Requirement | Phase | Status |\n|---|---|---|\n| REQ-01 | Phase 1 | Pending |\n"


def stubborn(place: Path) -> Drive:
    """The planner's plan serves no requirement, and it writes the same plan again when it is sent back."""
    other: dict[str, Any] = {"role": "plan", "result": {"total_tasks": 1}}
    project = driven(place, [*reviews(), {**plan_answer("1", [("letter1.txt", "done")]), "attempt": 1}, other])
    planning = project.root / ".planning"
    text = roadmap_of("1").replace("**Depends on**", "**Requirements**: REQ-01\n**Depends on**")
    (planning / "ROADMAP.md").write_text(text, encoding="utf-8")
    (planning / "REQUIREMENTS.md").write_text(REQUIREMENTS + TABLE, encoding="utf-8")
    return project


def test_the_end_names_the_last_objection_of_the_plan_check(place: Path) -> None:
    project = stubborn(place)

    end = project.run()

    assert end.exit == 10
    assert project.steps[-4:] == ["plan", "plan_check", "plan", "plan"]
    assert OBJECTION in end.phases["1"].reason
    assert "no new .planning/phases/01-letter-1/PLAN.md was written" in end.phases["1"].reason


def test_the_planner_hears_the_objection_at_every_try(place: Path) -> None:
    project = stubborn(place)
    project.run()

    retries = [line for line in project.told() if "REVISION REQUIRED" in line]
    assert len(retries) == 2, retries
    assert all(OBJECTION in line for line in retries), retries


def test_a_plan_step_that_ran_is_not_shown_as_skipped(place: Path) -> None:
    project = stubborn(place)
    project.run()

    [line] = [line for line in project.told() if line.startswith("  Step: PLAN ...")]
    assert line.startswith("  Step: PLAN ... failed (no usable plan after 3 tries)")
