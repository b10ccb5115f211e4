"""Whole runs in which a reviewer leaves out a criterion that has no command: what no one looked at is not met."""

from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.events import PhaseFinished
from support.project import LOOKED, plan_answer, rate_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, driven

COMMAND, PROSE = "The letter is there", "A reader understands the letter"
ROADMAP = f"""# Roadmap: Letters

### Phase 1: Letter 1
**Goal**: Write letter 1.
**Success Criteria** (what must be TRUE):
  1. {COMMAND} -- verified by: `grep -q done letter1.txt`
  2. {PROSE}
"""
PLAN = plan_answer("1", [("letter1.txt", "done")])
WORK = work_answer("1", "01-01", "letter1.txt", "done 1\n")


def verified(*criteria: str) -> dict[str, Any]:
    rows = [{"criterion": c, "status": "verified", "evidence": "letter1.txt:1"} for c in criteria]
    return {"pass": True, "autonomous_confidence": 9, "criteria_results": rows, **LOOKED}


def rated(*criteria: str) -> dict[str, Any]:
    (row,) = rate_answer(9.4)["result"]["scorecard"]
    return {**rate_answer(9.4)["result"], "scorecard": [{**row, "criterion": c} for c in criteria]}


def letters(place: Path, verify: dict[str, Any], rate: dict[str, Any], *first: dict[str, Any]) -> Drive:
    others = [answer for answer in reviews() if answer["role"] not in {"verify", "rate"}]
    given = [*first, *others, {"role": "verify", "result": verify}, {"role": "rate", "result": rate}, PLAN, WORK]
    project = driven(place, given, "1")
    write(project.root, {".planning/ROADMAP.md": ROADMAP})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "by hand")
    return project


def test_vrfy_08_a_criterion_without_a_command_that_the_verifier_leaves_out_is_not_met(place: Path) -> None:
    project = letters(place, verified(COMMAND), rated(COMMAND, PROSE))

    end = project.run()

    assert end.exit == 10
    assert f"not met: no reviewer looked at it: {PROSE}" in end.phases["1"].reason
    assert project.calls[-4:] == ["1/verify/1", "1/verify/1.2", "1/verify/2", "1/verify/2.2"]
    assert project.of(PhaseFinished)[-1].outcome.status == "failed"


def test_a_criterion_that_the_rater_leaves_out_is_not_met(place: Path) -> None:
    project = letters(place, verified(COMMAND, PROSE), rated(COMMAND))

    end = project.run()

    assert end.exit == 10
    assert f"not met: no reviewer looked at it: {PROSE}" in end.phases["1"].reason


def test_a_reviewer_that_completes_its_rows_when_asked_again_is_heard(place: Path) -> None:
    short = {"role": "verify", "attempt": 1, "result": verified(COMMAND)}
    project = letters(place, verified(COMMAND, PROSE), rated(COMMAND, PROSE), short)

    assert project.run().exit == 0
    assert [call for call in project.calls if "verify/" in call][-3:] == ["1/verify/1", "1/verify/1.2", "1/verify/2"]


@pytest.mark.parametrize("row", [PROSE.upper(), f"2. {PROSE}", "SC-2", "Criterion 2", "2", f"{PROSE} (by reading it)"])
def test_other_words_for_the_same_criterion_count(place: Path, row: str) -> None:
    project = letters(place, verified(row), rated(COMMAND, row))

    assert project.run().exit == 0, "the command decides the other criterion, whether it has a row or not"


def test_a_verifier_that_objects_need_not_list_everything(place: Path) -> None:
    no = {**verified(COMMAND), "pass": False, "failures": ["too short"]}
    project = letters(place, no, rated(COMMAND, PROSE), {"role": "debug", "result": {"fixed": True}})

    project.run()

    assert "1/verify/1.2" not in project.calls
