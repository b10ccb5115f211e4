"""Defines how an attempt at a phase begins and how it ends."""

import re
from typing import Literal

from autopilot.domain.answers import Deferral
from autopilot.domain.evidence import CommandRun
from autopilot.domain.phase import Phase, Plan, PlanOnDisk, padded, task_types
from autopilot.domain.rework import Deficiency, Mode
from autopilot.domain.user_answers import UserContext
from autopilot.domain.value import Value


class Justification(Value, frozen=True, kw_only=True):
    """RET-06, HUM-05: the task that waits for a person, what it is about, and which criteria nobody could settle."""

    checkpoint_task_id: str
    task_description: str
    auto_tasks_passed: int
    auto_tasks_total: int
    unresolved_criteria: tuple[str, ...] = ()


class PassEvidence(Value, frozen=True, kw_only=True):
    """RSLT-01: what a pass rests on: files it changed, commands that were run on it, and the size of its diff."""

    files_checked: tuple[str, ...] = ()
    commands_run: tuple[str, ...] = ()
    git_diff_summary: str = ""


class SubPhase(Value, frozen=True, kw_only=True):
    """A part of a phase that is too big. `after` are the parts whose work it needs."""

    sub_phase_id: str
    name: str
    scope: str
    issues: tuple[str, ...] = ()
    estimated_complexity: Literal["simple", "medium", "complex"] = "medium"
    after: tuple[str, ...] = ()


class SubEnd(Value, frozen=True, kw_only=True):
    """SPLT-07: how one part of a split phase ended."""

    sub_phase_id: str
    status: str
    alignment_score: float | None = None


class SplitDetails(Value, frozen=True, kw_only=True):
    """SPLT-11."""

    reason: str
    recommended_sub_phases: tuple[SubPhase, ...]
    total_sub_phases: int
    original_issue_count: int = 0


class Spec(Value, frozen=True, kw_only=True):
    """The frozen specification: INV-11..13."""

    path: str
    sha256: str


class Continuation(Value, frozen=True, kw_only=True):
    """Where a pass continues an earlier one of its phase, whose finished steps count as its own."""

    number: int
    """The pass that is continued."""
    steps: int
    """How many of its finished steps are kept."""
    step: str
    """The step to start with."""
    unusable: str = ""
    """What was wrong with the last answer to that step."""
    because: str = ""
    """Why the gate of that step gave up."""
    done: tuple[str, ...] = ()
    """The tasks that the kept steps finished."""
    tasks: int = 0
    """How many tasks for agents the plan has."""
    handed_over: bool = False
    """The executor had run out of context (CTXE-01r)."""
    fresh: bool = False
    """A person asked for it: limits on tries count from here."""


class Brief(Value, frozen=True, kw_only=True):
    """
    All a pass of a phase starts from. SPWN-01: summaries and paths, never another phase's content.

    `number` counts the phase's passes in this run from 0; `cycle` is 0 unless the pass is a remediation. `done` are
    tasks of the plan that an earlier pass finished and handed over (CTXE-01r), `held` the criteria the phase's first
    pass held out, `found` what a person found wrong with the pass before, `context` what people said about the phase
    before the run. `slot` numbers the clone it works in, `parent` is the phase this one is a part of (SPLT-03).
    `rejected` counts the answers that were not accepted in the passes this one mends; `enhanced` asks for a harder
    look, since scores before it were too much alike. `completed_dirs` are the folders of finished phases,
    the newest of them where there are many, and `completed_more` counts the others.

    `mode` is the flag the pass is made under and `turn` its number in that flag's own loop. A pass that closes gaps
    has the one `deficiency` it is about; `deficiencies` are those left for passes after it. `repo_map` is what became
    of the map of the code it starts from, and `repo_map_path` where that is; empty without one (RMAP-01..05).

    `first_base` is set where the pass continues earlier ones of this run: the commit the first of them began on.
    The end of a run has the phases it `covers` and the `steps` that are due; None and empty in runs of versions that
    covered all targets.
    `continues` names the pass that this one continues. `accepted`: plan-check let `plan` through in an earlier pass, so
    every task of it has to be carried out. `accepted_before` are plans of this phase that a later one replaced: what
    they ask for must still hold.
    `plan_files` are the plan files in the phase's folder when the run started. `research` is the research the user
    brought, as `03-RESEARCH.md`.
    """

    phase: Phase
    dir: str
    base: str
    position: int
    total: int
    number: int = 0
    cycle: int = 0
    feedback: tuple[str, ...] = ()
    plan: Plan | None = None
    skip_research: bool = False
    pass_threshold: float = 9.0
    requirements: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    earlier: dict[str, int] = {}
    done: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    context: UserContext | None = None
    found: tuple[str, ...] = ()
    slot: int = 0
    parent: str = ""
    rejected: int = 0
    enhanced: bool = False
    completed_dirs: tuple[str, ...] = ()
    completed_more: int = 0
    estimated_tokens: int = 0
    prior_execution: bool = False
    stale_verification: bool = False
    mode: Mode = "initial"
    turn: int = 0
    deficiency: Deficiency | None = None
    deficiencies: tuple[Deficiency, ...] = ()
    repo_map: str = ""
    repo_map_path: str = ""
    first_base: str = ""
    covers: tuple[str, ...] | None = None
    steps: tuple[str, ...] = ()
    continues: Continuation | None = None
    accepted: bool = False
    accepted_before: tuple[Plan, ...] = ()
    plan_files: tuple[PlanOnDisk, ...] = ()
    research: str = ""

    @property
    def began_on(self) -> str:
        """The commit the phase's work began on."""
        return self.first_base or self.base

    @property
    def is_promised(self) -> bool:
        """Whether the plan was accepted before this pass, so that no task of it may be dropped."""
        return self.plan is not None and (self.accepted or bool(self.done))

    def done_under(self, plan: Plan) -> tuple[str, ...]:
        """The tasks of the plan that an earlier pass finished; those of another plan may have the same ids."""
        return self.done if self.plan is not None and self.plan.sha256 == plan.sha256 else ()

    @property
    def task_types(self) -> str:
        return task_types(self.plan)


class StepDigest(Value, frozen=True, kw_only=True):
    """RET-04: one entry of `pipeline_steps`."""

    status: str
    agent_spawned: bool = False
    confidence: float | None = None
    skip_reason: str | None = None
    pass_ratio: float | None = None
    alignment_score: float | None = None
    score_band: str | None = None


class PhaseOutcome(Value, frozen=True, kw_only=True):
    """
    RET-01: how a pass ended. `commit` is the tip of its work, the line's next base when it counts.

    `autonomous_confidence` is the verifier's, `human_tasks` how many tasks of the plan ask a person to verify.
    `sub_phases` are the parts a split phase came together from, `checks` what was run on all of them together.
    `satisfied`: every criterion held before any work, so nothing was built. `caveats`: what the pass does not show.
    """

    phase: str
    status: Literal["completed", "failed", "needs_human_verification", "split_request"]
    reason: str
    commit: str
    alignment_score: float | None = None
    tasks_completed: str = "0/0"
    tasks_failed: str = "0/0"
    commit_shas: tuple[str, ...] = ()
    automated_checks: dict[str, bool | str] = {}
    issues: tuple[str, ...] = ()
    debug_attempts: int = 0
    replan_attempts: int = 0
    recommendation: str = "proceed"
    summary: str = ""
    verification_duration_seconds: float = 0.0
    unanchored: bool = False
    rollback: bool = False
    rollback_from: str | None = None
    rollback_to: str | None = None
    diagnostic_branch: str | None = None
    pipeline_steps: dict[str, StepDigest] = {}
    human_verify_justification: Justification | None = None
    deferral_evidence: tuple[Deferral, ...] = ()
    split_details: SplitDetails | None = None
    evidence: PassEvidence = PassEvidence()
    sub_phases: tuple[SubEnd, ...] = ()
    checks: tuple[CommandRun, ...] = ()
    autonomous_confidence: float | None = None
    human_tasks: int = 0
    satisfied: bool = False
    caveats: tuple[str, ...] = ()

    @property
    def checkpoint_sha(self) -> str:
        return self.commit

    @property
    def rollback_performed(self) -> bool:
        return self.rollback


class DoneBefore(Value, frozen=True, kw_only=True):
    """A phase that need not run: completed in `run` at `at`, or, where both are empty, marked so in the roadmap."""

    phase: str
    run: str = ""
    at: str = ""


PLAN, SUMMARY = "PLAN.md", "SUMMARY.md"
_NUMBERED = re.compile(r"(?P<lead>.+?)-(?P<number>\d+)[A-Z]?-(?:.*-)?PLAN\.md")


def numbered(brief: Brief) -> tuple[PlanOnDisk, ...]:
    """The user's plan files that have a number."""
    return tuple(plan for plan in brief.plan_files if plan.file != PLAN)


def plan_name(brief: Brief, plan: Plan) -> str:
    """What the plan is called in the user's folder; empty where the user's own files are the plan."""
    there = numbered(brief)
    if not there:
        return PLAN
    if plan.existed_before:
        return ""
    if any(not one.done for one in there):
        return f"{padded(brief.phase.id)}-REVISED.md"
    return f"{_next(there, brief.phase.id)}-{PLAN}"


def summary_names(brief: Brief, plan: Plan | None) -> dict[str, tuple[str, ...] | None]:
    """
    The summaries a phase that passed gets, each with the tasks it is about; None for all of them.

    Every numbered plan that was carried out gets one of its own. Where a revised plan took their place, all do.
    """
    there = numbered(brief)
    if not there:
        return {SUMMARY: None}
    parts = {part.file: part.tasks for part in plan.parts} if plan else {}
    found = {one.file: parts.get(one.file) for one in there if not one.done}
    own = plan_name(brief, plan) if plan else ""
    if own.endswith(PLAN):
        found[own] = None
    return {f"{file.removesuffix(PLAN)}{SUMMARY}": tasks for file, tasks in found.items()}


def _next(there: tuple[PlanOnDisk, ...], phase: str) -> str:
    found = [match for one in there if (match := _NUMBERED.fullmatch(one.file))]
    lead = found[-1]["lead"] if found else padded(phase)
    return f"{lead}-{1 + max((int(match['number']) for match in found), default=len(there)):02}"
