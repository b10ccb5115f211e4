"""What each role is asked to answer with: every field a rule names is asked for, and kept whole when it comes."""

import json
from importlib.resources import files
from typing import Any

import msgspec
import pytest

from autopilot.domain.answers import (
    DivergenceOpinion,
    FixClaim,
    JudgeOpinion,
    PlanClaim,
    PlanOpinion,
    RateOpinion,
    ResearchClaim,
    TaskOpinion,
    VerifyOpinion,
    WorkClaim,
)

CATEGORISED = [{"failure": "no date", "category": "lint_failure"}]
RAN = {"criterion": "c", "command": "ls", "exit_code": 1, "output": "x", "assessment": "FAILED"}
ANSWERS: dict[str, tuple[str, type[msgspec.Struct], dict[str, Any]]] = {
    "RSCH-02": ("research", ResearchClaim, {
        "key_findings": ["a"], "recommended_approach": "b", "risks": ["c"], "open_questions": ["d"]}),
    "PLAN-08": ("plan", PlanClaim, {
        "plans_created": 1, "waves": 2, "total_tasks": 3, "complexity": "simple", "dependencies": ["a"],
        "concerns": ["b"]}),
    "PCHK-11": ("plan_check", PlanOpinion, {
        "pass": True, "confidence": 8.5, "blocker_count": 1, "warning_count": 2, "issues": [{
            "plan": "p", "dimension": "d", "severity": "blocker", "description": "x", "fix_hint": "y"}]}),
    "EXEC-R1": ("execute", WorkClaim, {
        "tasks_completed": "1/1", "tasks_failed": "0/1", "commit_shas": ["abc"], "deviations": ["d"], "confidence": 8,
        "evidence": [{"task_id": "01-01", "criteria_met": ["a"], "commands_run": ["ls"]}]}),
    "PVRF-01c": ("mini_verify", TaskOpinion, {
        "pass": False, "task_id": "01-01", "concerns": ["thin"], "commands_run": ["ls"], "criteria_results": [{
            "criterion": "c", "status": "fail", "evidence": "a:1", "command": "ls", "command_output": "x"}]}),
    "VRFY-10": ("verify", VerifyOpinion, {
        "pass": False, "automated_checks": {"compile": {"status": True, "detail": "ok"}},
        "criteria_results": [{
            "criterion": "c", "status": "verified", "evidence": "a:1", "command": "ls", "command_output": "x"}],
        "verification_duration_seconds": 130.0, "commands_run": ["ls"], "failures": ["no date"],
        "failure_categories": CATEGORISED, "scope_creep": ["s"], "execution_results": [RAN],
        "autonomous_resolution_attempted": True, "autonomous_confidence": 7.0,
        "deferral_evidence": [{"criterion": "c", "methods_attempted": ["m"], "why_insufficient": "w"}]}),
    "JUDG-08": ("judge", JudgeOpinion, {
        "recommendation": "debug", "concerns": ["a"], "independent_evidence": ["b:1"], "verifier_agreement": True,
        "verifier_missed": ["c"], "scope_creep": ["d"], "missing_requirements": ["e"], "notes": "f"}),
    "JUDG-05": ("judge_divergence", DivergenceOpinion, {
        "recommendation": "proceed", "agreements": ["a"], "disagreements": ["b"], "verifier_missed": ["c"],
        "judge_missed": ["d"], "concerns": ["e"]}),
    "RATE-12": ("rate", RateOpinion, {
        "alignment_score": 9.1, "aggregate_justification": "j", "side_effects": ["s"], "commands_run": ["ls"],
        "scorecard": [{
            "criterion": "c", "score": 9.1, "max_score": 10.0, "verification_command": "ls", "command_output": "x",
            "evidence": "a:1", "justification": "y", "execution_result": RAN}],
        "test_coverage": {
            "tasks_with_tests": 1, "tasks_total": 2, "assertions_passed": 3, "assertions_total": 4},
        "score_band": "good"}),
    "DBG-03": ("debug", FixClaim, {
        "fixed": True, "changes": ["a"], "commits": ["b"], "remaining_issues": ["c"],
        "failure_categories": CATEGORISED}),
}  # fmt: skip


@pytest.mark.parametrize(("role", "kind", "answer"), ANSWERS.values(), ids=ANSWERS)
def test_every_field_of_an_answer_is_kept(role: str, kind: type[msgspec.Struct], answer: dict[str, Any]) -> None:
    kept = msgspec.to_builtins(msgspec.json.decode(json.dumps(answer).encode(), type=kind))

    assert {name: json.loads(json.dumps(kept[name])) for name in answer} == answer


@pytest.mark.parametrize(("role", "kind", "answer"), ANSWERS.values(), ids=ANSWERS)
def test_every_field_of_an_answer_is_asked_for(role: str, kind: type[msgspec.Struct], answer: dict[str, Any]) -> None:
    prompt = (files("autopilot.steps") / "prompts" / f"{role}.md").read_text(encoding="utf-8")

    asked = prompt.partition("Answer with JSON:")[2]
    assert [name for name in answer if name not in asked] == []


def test_judg_08_a_judge_s_score_is_not_even_read() -> None:
    answer = msgspec.json.decode(b'{"recommendation": "halt", "score": 10, "alignment_score": 10}', type=JudgeOpinion)

    assert not [name for name in answer.__struct_fields__ if "score" in name]
