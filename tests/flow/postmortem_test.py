"""What is written about a phase that failed, for each way in which one can end: the cause, and what others learn of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.project import plan_answer, rate_answer, reviews, work_answer
from support.repos import write
from support.runs import driven

PLAN, WORK = plan_answer("1", [("letter1.txt", "done")]), work_answer("1", "01-01", "letter1.txt", "done\n")
LAZY = {"role": "execute", "result": {"tasks_completed": "1/1"}, "write": {"letter1.txt": "not yet\n"}}
NO_FIX = {"role": "debug", "result": {"fixed": True}, "write": {"letter1.txt": "still not\n"}}
BLOCKER = {"pass": False, "confidence": 3, "issues": [{"severity": "blocker", "description": "no rollback plan"}]}
CRITERION = "grep -q done letter1.txt"


def says(role: str, **result: Any) -> dict[str, Any]:
    return {"role": role, "result": result}


def silent(role: str) -> dict[str, Any]:
    return {"role": role, "text": "I would rather not."}


ENDINGS: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "the executor does not do it": ([LAZY, NO_FIX], "acceptance_criteria_unmet", CRITERION),
    "the executor does not answer": ([silent("execute")], "tool_failure", "no usable answer in execute"),
    "the planner does not answer": ([silent("plan")], "tool_failure", "no usable answer in plan"),
    "the plan is rejected": ([says("plan_check", **BLOCKER)], "plan_rejected", "no rollback plan"),
    "the verifier does not answer": ([silent("verify")], "reviewer_no_answer", "no usable answer in verify"),
    "the verifier runs nothing": (
        [says("verify", **{"pass": True})], "reviewer_without_evidence", "empty commands_run"),
    "the verifier objects": (
        [says("verify", **{"pass": False, "commands_run": ["cat"], "failures": ["no greeting"]}), NO_FIX | {
            "write": {"note.txt": "x\n"}}], "acceptance_criteria_unmet", "no greeting"),
    "the judge does not answer": ([silent("judge")], "reviewer_no_answer", "no usable answer in judge"),
    "the judge shows nothing": (
        [says("judge", recommendation="proceed")], "reviewer_without_evidence", "no concern or no evidence"),
    "the judge wants it undone": (
        [says("judge", recommendation="rollback", concerns=["wrong letter"], independent_evidence=["letter1.txt:1"])],
        "executor_wrong_approach", "wrong letter"),
    "the comparison does not answer": (
        [silent("judge_divergence")], "reviewer_no_answer", "no usable answer in judge_divergence"),
    "the rater does not answer": ([silent("rate")], "reviewer_no_answer", "no usable answer in rate"),
    "the score is low": ([rate_answer(4.0)], "acceptance_criteria_unmet", "alignment too low"),
    "the reviewer of a task runs nothing": (
        [says("mini_verify", **{"pass": True}), NO_FIX | {"write": {"note.txt": "x\n"}}],
        "reviewer_without_evidence", "the reviewer ran nothing"),
}  # fmt: skip


@pytest.mark.parametrize(("answers", "category", "shown"), ENDINGS.values(), ids=ENDINGS)
def test_obsv_03b_the_cause_is_what_ended_the_phase(
    place: Path, answers: list[dict[str, Any]], category: str, shown: str
) -> None:
    """OBSV-03b, LRNG-01. Before the work the criterion fails in each of them: that is nobody's fault."""
    roles = {answer["role"] for answer in answers}
    usual = [answer for answer in (*reviews(), PLAN, WORK) if answer["role"] not in roles]
    project = driven(place, [*usual, *answers])
    once = {"workflow": {"research": False}, "limits": {"plan_checks": 1, "replans": 0}}
    write(project.root, {".planning/config.json": json.dumps(once)})
    end = project.run()

    home = project.root / ".autopilot"
    told = json.loads((home / "diagnostics" / "phase-1-postmortem.json").read_text(encoding="utf-8"))
    learned = (home / "learnings.md").read_text(encoding="utf-8")
    assert (end.exit, told["root_cause"]["category"]) == (10, category)
    assert shown in told["prevention_rule"]
    assert f"### Phase 1 failure -- {category}" in learned
    assert told["prevention_rule"] in learned
    if shown != CRITERION:
        assert CRITERION not in learned
