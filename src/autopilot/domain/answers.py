"""What each role is asked to return. Field names are the rules'; a missing optional field has its default."""

import re
from typing import Literal, get_args

from autopilot.domain.evidence import Claim, Opinion
from autopilot.domain.value import Value

Category = Literal[
    "executor_incomplete", "executor_wrong_approach", "compilation_failure", "lint_failure", "build_failure",
    "acceptance_criteria_unmet", "scope_creep", "context_exhaustion", "tool_failure", "coordination_failure",
]  # fmt: skip


class Categorised(Value, frozen=True, kw_only=True):
    failure: str = ""
    category: str = ""


class ResearchClaim(Claim, frozen=True, kw_only=True):
    """RSCH-02."""

    key_findings: tuple[str, ...] = ()
    recommended_approach: str = ""
    risks: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()


class PlanClaim(Claim, frozen=True, kw_only=True):
    """PLAN-08. The plan itself is the file PLAN.md; this is only talk about it."""

    plans_created: int = 0
    waves: int = 0
    total_tasks: int = 0
    complexity: str = ""
    dependencies: tuple[str, ...] = ()
    concerns: tuple[str, ...] = ()


class PlanIssue(Value, frozen=True, kw_only=True):
    plan: str = ""
    dimension: str = ""
    severity: Literal["blocker", "warning", "info"] = "warning"
    description: str = ""
    fix_hint: str = ""


class PlanOpinion(Opinion, frozen=True, kw_only=True, rename={"passed": "pass"}):
    """PCHK-11."""

    passed: bool
    confidence: float
    issues: tuple[PlanIssue, ...] = ()
    blocker_count: int = 0
    warning_count: int = 0


class TaskEvidence(Value, frozen=True, kw_only=True):
    task_id: str = ""
    criteria_met: tuple[str, ...] = ()
    commands_run: tuple[str, ...] = ()


class WorkClaim(Claim, frozen=True, kw_only=True):
    """
    EXEC-R1: what an executor says it did. EXEC-S1: for code that was there already its commit is null.

    `context_exhausted`: it had to stop before it was done, because its context was used up.
    """

    tasks_completed: str = ""
    tasks_failed: str = ""
    commit_shas: tuple[str | None, ...] | None = ()
    evidence: tuple[TaskEvidence, ...] = ()
    deviations: tuple[str, ...] = ()
    confidence: float | None = None
    context_exhausted: bool = False


class FixClaim(Claim, frozen=True, kw_only=True):
    """DBG-03: what a debugger says it did."""

    fixed: bool | None = None
    changes: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    remaining_issues: tuple[str, ...] = ()
    failure_categories: tuple[Categorised, ...] = ()
    context_exhausted: bool = False


_HOLDS = frozenset({"pass", "passed", "passes", "passing", "met", "ok", "okay", "yes", "true", "verified", "satisfied",
                    "success", "successful", "succeeded", "confirmed", "done", "complete", "completed"})  # fmt: skip
_FAILS = frozenset({"fail", "failed", "fails", "failing", "unmet", "not", "false", "no", "contradicted", "unsatisfied",
                    "unverified", "error", "missing", "incomplete", "partial", "partially"})  # fmt: skip
_DEFERS = frozenset({"deferred", "defer", "human", "manual", "needs_human", "needs_human_verification", "unverifiable",
                     "behavioral_unverifiable"})  # fmt: skip


class CriterionResult(Value, frozen=True, kw_only=True):
    criterion: str = ""
    status: str = ""
    evidence: str = ""
    command: str = ""
    command_output: str = ""

    @property
    def failed(self) -> bool:
        """Whether the reviewer does not say that the criterion holds. What only a person can see is no failure."""
        return self._word not in _HOLDS | _DEFERS

    @property
    def unclear(self) -> bool:
        """Whether the status is missing or says nothing: then it is asked for once more, and counts as failed."""
        return self._word not in _HOLDS | _FAILS | _DEFERS

    @property
    def _word(self) -> str:
        """The first word of the status; a check mark stands for one."""
        found = re.search(r"[a-z_]+", self.status.lower().replace("needs human", "needs_human"))
        marked = self.status.strip()[:1] in {"\u2713", "\u2714", "\u2705"}
        return found[0] if found else "pass" if marked else ""


class TaskOpinion(Opinion, frozen=True, kw_only=True, rename={"passed": "pass"}):
    """PVRF-01c: the mini-verifier on one task."""

    passed: bool
    task_id: str = ""
    criteria_results: tuple[CriterionResult, ...] = ()
    concerns: tuple[str, ...] = ()
    commands_run: tuple[str, ...] = ()


class Checked(Value, frozen=True, kw_only=True):
    status: bool | str = "n/a"
    detail: str = ""


class ExecutionResult(Value, frozen=True, kw_only=True):
    criterion: str = ""
    command: str = ""
    exit_code: int | None = None
    output: str = ""
    assessment: str = ""


class Deferral(Value, frozen=True, kw_only=True):
    criterion: str = ""
    methods_attempted: tuple[str, ...] = ()
    why_insufficient: str = ""


class Trace(Value, frozen=True, kw_only=True):
    """BTRC-01: a handler followed to the action it ends in."""

    handler: str = ""
    file_line: str = ""
    chain: str = ""
    terminal_action: str = ""
    criterion_match: str = ""
    status: str = ""


class VerifyOpinion(Opinion, frozen=True, kw_only=True, rename={"passed": "pass"}):
    """VRFY-10."""

    passed: bool
    automated_checks: dict[str, Checked] = {}
    criteria_results: tuple[CriterionResult, ...] = ()
    verification_duration_seconds: float = 0
    commands_run: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    failure_categories: tuple[Categorised, ...] = ()
    scope_creep: tuple[str, ...] = ()
    execution_results: tuple[ExecutionResult, ...] = ()
    behavioral_traces: tuple[Trace, ...] = ()
    autonomous_resolution_attempted: bool = True
    autonomous_confidence: float = 0
    deferral_evidence: tuple[Deferral, ...] = ()
    files_checked: tuple[str, ...] = ()


Recommendation = Literal["proceed", "debug", "rollback", "halt"]
SEVERITY: tuple[Recommendation, ...] = ("proceed", "debug", "rollback", "halt")


class JudgeOpinion(Opinion, frozen=True, kw_only=True):
    """JUDG-08."""

    recommendation: Recommendation
    concerns: tuple[str, ...] = ()
    independent_evidence: tuple[str, ...] = ()
    verifier_agreement: bool = False
    verifier_missed: tuple[str, ...] = ()
    scope_creep: tuple[str, ...] = ()
    missing_requirements: tuple[str, ...] = ()
    notes: str = ""


class DivergenceOpinion(Opinion, frozen=True, kw_only=True):
    """JUDG-05, JUDG-06: the judge's second call, after it has seen the verifier's report."""

    recommendation: Recommendation | None = None
    agreements: tuple[str, ...] = ()
    disagreements: tuple[str, ...] = ()
    verifier_missed: tuple[str, ...] = ()
    judge_missed: tuple[str, ...] = ()
    concerns: tuple[str, ...] = ()
    retraced: tuple[Trace, ...] = ()

    @property
    def differences(self) -> tuple[str, ...]:
        return (*self.disagreements, *self.verifier_missed, *self.judge_missed)

    @property
    def word(self) -> Recommendation | None:
        """
        What the comparison amounts to. Without a recommendation agreement leaves the judge's first word as it is.

        Differences that nobody resolved ask for debugging; None when nothing was compared.
        """
        if self.recommendation is not None:
            return self.recommendation
        return "debug" if self.differences else "proceed" if self.agreements else None


class CriterionScore(Value, frozen=True, kw_only=True):
    criterion: str = ""
    score: float = 0.0
    max_score: float = 10.0
    verification_command: str = ""
    command_output: str = ""
    evidence: str = ""
    justification: str = ""
    execution_result: ExecutionResult | None = None


class Coverage(Value, frozen=True, kw_only=True):
    tasks_with_tests: int = 0
    tasks_total: int = 0
    assertions_passed: int = 0
    assertions_total: int = 0


class RateOpinion(Opinion, frozen=True, kw_only=True):
    """RATE-12."""

    alignment_score: float | None = None
    scorecard: tuple[CriterionScore, ...] = ()
    aggregate_justification: str = ""
    side_effects: tuple[str, ...] = ()
    commands_run: tuple[str, ...] = ()
    test_coverage: Coverage = Coverage()
    score_band: str = ""


class IntegrationOpinion(Opinion, frozen=True, kw_only=True, rename={"passed": "pass"}):
    """COMP-01: whether the phases hold together. What is listed as broken counts, whatever `pass` says."""

    passed: bool
    broken_imports: tuple[str, ...] = ()
    orphaned_code: tuple[str, ...] = ()
    broken_flows: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    commands_run: tuple[str, ...] = ()

    @property
    def complaints(self) -> tuple[str, ...]:
        return (*self.broken_imports, *self.orphaned_code, *self.broken_flows)


class RequirementCheck(Value, frozen=True, kw_only=True):
    requirement_id: str = ""
    expected: str | None = ""
    actual_found: str | None = ""
    file_line_evidence: str | None = ""
    status: str = ""
    gap_description: str | None = None
    fix_complexity: str | None = None


class PhaseAudit(Value, frozen=True, kw_only=True):
    phase_id: str | int = ""
    requirements_checked: tuple[RequirementCheck, ...] = ()


class GapDetail(Value, frozen=True, kw_only=True):
    requirement_id: str = ""
    phase_id: str | int = ""
    gap_description: str | None = ""
    fix_complexity: str | None = None
    suggested_fix: str | None = ""


class AuditAggregate(Value, frozen=True, kw_only=True):
    total_requirements_checked: int = 0
    passed_on_first_check: int = 0
    gaps_found: int = 0
    gap_details: tuple[GapDetail, ...] = ()


class AuditOpinion(Opinion, frozen=True, kw_only=True):
    """AUDT-04. What counts is the rows; the totals beside them are the auditor's own and are kept for comparison."""

    audit_results: tuple[PhaseAudit, ...]
    aggregate: AuditAggregate = AuditAggregate()


MapCategory = Literal["build_config", "architecture", "requirements", "criteria", "dependencies", "domain"]
MAP_CATEGORIES: tuple[str, ...] = get_args(MapCategory)
TalkCategory = Literal["edge_case", "preference", "threshold", "trade_off", "scope"]
TALK_CATEGORIES: tuple[str, ...] = get_args(TalkCategory)
DOMAINS = ("SEE", "CALL", "RUN", "READ", "ORGANIZE")


class OpenQuestion(Value, frozen=True, kw_only=True):
    question: str = ""
    category: str = ""
    why_needed: str = ""


class QuestionsClaim(Claim, frozen=True, kw_only=True):
    """CMAP-02d."""

    questions: tuple[OpenQuestion, ...]
    phase_id: str | int = ""
    current_score: float = 0
    estimated_score_after: float = 0


class AreaQuestion(Value, frozen=True, kw_only=True):
    """`options` are a few words each; without any it is answered in words."""

    question: str = ""
    options: tuple[str, ...] = ()
    category: str = ""


class GrayArea(Value, frozen=True, kw_only=True):
    area: str = ""
    description: str = ""
    sample_questions: tuple[AreaQuestion | str, ...] = ()

    @property
    def questions(self) -> tuple[AreaQuestion, ...]:
        return tuple(AreaQuestion(question=q) if isinstance(q, str) else q for q in self.sample_questions)


class GrayAreasClaim(Claim, frozen=True, kw_only=True):
    """DISC-01."""

    gray_areas: tuple[GrayArea, ...]
    phase_id: str | int = ""
    domain: str = ""
    domain_description: str = ""


class FollowUpClaim(Claim, frozen=True, kw_only=True):
    """More questions about an area, and what the answers so far hold beside decisions."""

    questions: tuple[AreaQuestion | str, ...] = ()
    deferred_ideas: tuple[str, ...] = ()
    specific_ideas: tuple[str, ...] = ()

    @property
    def asked(self) -> tuple[AreaQuestion, ...]:
        return tuple(AreaQuestion(question=q) if isinstance(q, str) else q for q in self.questions)
