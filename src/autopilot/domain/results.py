"""Defines the result of each step: everything one step hands to the next."""

from typing import Literal

from msgspec import UNSET, UnsetType

from autopilot.domain.answers import (
    AuditOpinion,
    CriterionScore,
    DivergenceOpinion,
    FixClaim,
    IntegrationOpinion,
    JudgeOpinion,
    PlanClaim,
    PlanOpinion,
    RateOpinion,
    ResearchClaim,
    TaskOpinion,
    VerifyOpinion,
    WorkClaim,
)
from autopilot.domain.evidence import Change, CommandRun, Fact, Finding, Work, all_about
from autopilot.domain.phase import Plan
from autopilot.domain.value import Tagged, Value
from autopilot.domain.visual import VisualResults

COMPLETION = "completion"
"""Stands where a phase's id stands in streams, calls and landings of the run's end."""

Size = Literal["small", "large"]
Integration = Literal["pass", "fail", "not_run"]


class Requirement(Value, frozen=True, kw_only=True):
    """Something the specification asks of a phase."""

    id: str
    phase: str
    text: str


class Gap(Value, frozen=True, kw_only=True):
    """AUDT-06. `mendable` False: nobody looked at the requirement, so there is nothing to give to a fixer."""

    requirement_id: str
    phase_id: str
    gap_description: str
    fix_complexity: Size = "large"
    suggested_fix: str = ""
    mendable: bool = True


class RemainingGap(Value, frozen=True, kw_only=True):
    requirement_id: str
    description: str


class FixedGap(Value, frozen=True, kw_only=True):
    """AUDT-09: a gap that a later audit found closed, and the commits that were made for it."""

    requirement_id: str
    phase_id: str
    fix_commits: tuple[str, ...] = ()


class SelfAudit(Value, frozen=True, kw_only=True):
    """AUDT-12. `found` and `fixed` say which; `answered` False: the auditor gave no usable answer."""

    total_requirements_checked: int = 0
    passed_on_first_check: int = 0
    gaps_found: int = 0
    gaps_fixed: int = 0
    gaps_remaining: int = 0
    remaining_gap_details: tuple[RemainingGap, ...] = ()
    audit_cycles: int = 0
    fix_commits: tuple[str, ...] = ()
    found: tuple[Gap, ...] = ()
    fixed: tuple[FixedGap, ...] = ()
    answered: bool = True


# Ends the name of a check that was run as it was before the work.
OLD = ".old"
# Follows the name of a check that a plan asked for which a later one replaced.
REPLACED = ".plan-"


class Preflighted(Tagged, frozen=True, kw_only=True):
    """PREF-05."""

    spec_hash_match: bool
    working_tree_clean: bool
    dependencies_met: bool
    unresolved_debug: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def all_clear(self) -> bool:
        return not self.issues


class Triaged(Tagged, frozen=True, kw_only=True):
    """TRGE-05: what already holds on the tree, and so which way to go."""

    routing: Literal["full_pipeline", "verify_only"]
    source: Literal["plan", "roadmap", "none"]
    checks: tuple[CommandRun, ...] = ()
    note: str = ""

    @property
    def pass_ratio(self) -> float:
        return sum(c.passed for c in self.checks) / len(self.checks) if self.checks else 0.0


class Researched(Tagged, frozen=True, kw_only=True):
    claim: ResearchClaim
    text: str = ""


class Planned(Tagged, frozen=True, kw_only=True):
    """The plan as parsed from PLAN.md; None with `problem` when it could not be read."""

    plan: Plan | None
    problem: str = ""
    claim: PlanClaim = PlanClaim()


class PlanChecked(Tagged, frozen=True, kw_only=True):
    """Our own findings about the plan first; the checker is asked only when there are no blockers among them."""

    plan: Plan
    findings: tuple[Finding, ...] = ()
    opinion: PlanOpinion | None = None


class Batch(Value, frozen=True, kw_only=True):
    """PVRF-01h: what one call did that carried out all tasks, and what it says of them."""

    change: Change
    claim: WorkClaim = WorkClaim()


class Primed(Fact, frozen=True, kw_only=True):
    """EXEC-06: what the executor of a first task was told to read, and how things stood before it."""

    files: tuple[str, ...] = ()
    baseline: str = ""
    learnings: str = ""
    repo_map: str = ""
    known: tuple[str, ...] = ()


class Executed(Tagged, frozen=True, kw_only=True):
    """
    One task carried out; `batch` is there when it was only part of what was carried out in one call.

    `primed` is there for the first task of a plan.
    """

    work: Work
    claim: WorkClaim = WorkClaim()
    batch: Batch | None = None
    primed: Primed | None = None


class Fixed(Tagged, frozen=True, kw_only=True):
    """One debugging attempt at one task."""

    work: Work
    claim: FixClaim = FixClaim()


class MiniVerified(Tagged, frozen=True, kw_only=True):
    task: str
    opinion: TaskOpinion


class Verified(Tagged, frozen=True, kw_only=True):
    """
    Every runnable criterion and gate on a fresh checkout of `commit`, and the blind verifier's opinion of it.

    `observed` counts the commands we saw the verifier run; None where it cannot be watched. `content` is what was wrong
    with the changed files by the phase's type, `handlers` what a user touches in the change. `findings` is what our own
    looks at the whole phase brought up, `extra` the runs behind them, `judged` the tree that checks and gates ran on.
    `absent` are places the verifier points to that are not there, looked up where they are all that is shown.
    `built`: the phase's work, from its first base on, changes something; None in entries of older versions.
    `visual_test_results` is left out of the JSON altogether where pages were not looked at (VIST-05).
    """

    commit: str
    tree: str
    checks: tuple[CommandRun, ...] = ()
    gates: tuple[CommandRun, ...] = ()
    old_failures: tuple[str, ...] = ()
    opinion: VerifyOpinion | None = None
    seconds: float = 0.0
    observed: int | None = None
    orphans: tuple[Finding, ...] = ()
    issues: tuple[str, ...] = ()
    content: tuple[Finding, ...] = ()
    handlers: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    extra: tuple[CommandRun, ...] = ()
    judged: str = ""
    tampering: tuple[Finding, ...] = ()
    absent: tuple[str, ...] = ()
    built: bool | None = None
    visual_test_results: VisualResults | UnsetType = UNSET

    @property
    def broken(self) -> tuple[Finding, ...]:
        """What our own looks at the phase found that keeps it from passing."""
        found = (*self.content, *self.findings, *self.tampering)
        return tuple(finding for finding in found if finding.severity == "blocker")

    @property
    def on_its_tree(self) -> bool:
        """An old check runs on a tree of its own: the work's, with the check as it was."""
        own = (run for run in self.checks if not run.check.endswith(OLD))
        return all_about(self.judged or self.tree, (*own, *self.gates))

    @property
    def visual(self) -> VisualResults | None:
        """None where nobody looked."""
        return None if isinstance(self.visual_test_results, UnsetType) else self.visual_test_results


class Judged(Tagged, frozen=True, kw_only=True):
    opinion: JudgeOpinion
    issues: tuple[str, ...] = ()


class Compared(Tagged, frozen=True, kw_only=True):
    """The judge again, now beside the verifier's report. `added` are concerns Autopilot has to add (JUDG-06)."""

    opinion: DivergenceOpinion
    added: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()

    @property
    def concerns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.opinion.concerns, *self.added)))


class Lowered(Value, frozen=True, kw_only=True):
    """A row of the scorecard that counts for less than the rater said, and the caps it ran into."""

    criterion: str
    said: float
    counted: float
    because: tuple[str, ...]


class Rated(Tagged, frozen=True, kw_only=True):
    """
    `score` is ours: the mean of the scorecard, floored, never above what the rater said or the facts allow.

    The rows of the opinion are those that count; `lowered` tells which the rater had higher.
    """

    opinion: RateOpinion
    score: float
    issues: tuple[str, ...] = ()
    lowered: tuple[Lowered, ...] = ()

    def why(self, row: CriterionScore) -> str:
        """Why the row is not 10.0: the rater's words, and ours where we brought it down."""
        caps = (f"held at {low.counted:.1f}: {'; '.join(low.because)}" for low in self.lowered if _same(low, row))
        return "; ".join(words for words in (row.justification.strip(), *caps) if words)


def _same(low: Lowered, row: CriterionScore) -> bool:
    return (low.criterion, low.counted) == (row.criterion, row.score)


class Debugged(Tagged, frozen=True, kw_only=True):
    """One debugging attempt at the phase as a whole."""

    work: Work
    claim: FixClaim = FixClaim()


class Unanswered(Tagged, frozen=True, kw_only=True):
    """An agent was asked and gave no usable answer, also not after one repair."""

    role: str
    outcome: str
    detail: str


class Integrated(Tagged, frozen=True, kw_only=True):
    """COMP-01: every criterion of the run's phases and every gate on the finished tree, and a reviewer's opinion."""

    commit: str
    tree: str
    opinion: IntegrationOpinion
    checks: tuple[CommandRun, ...] = ()
    gates: tuple[CommandRun, ...] = ()
    old_failures: tuple[str, ...] = ()

    @property
    def broken(self) -> tuple[CommandRun, ...]:
        """What we ran ourselves and what does not hold; a gate that was red before the run is not held against it."""
        gates = (run for run in self.gates if run.check not in self.old_failures)
        return tuple(run for run in (*self.checks, *gates) if not run.passed)


class Audited(Tagged, frozen=True, kw_only=True):
    """
    AUDT-02: what was asked for in `scope`, requirement by requirement, and which of it has a gap.

    `gaps` is ours: every requirement that the auditor did not find met, in one place or another of its answer.
    """

    commit: str
    opinion: AuditOpinion
    scope: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    issues: tuple[str, ...] = ()


class Mended(Tagged, frozen=True, kw_only=True):
    """AUDT-07, AUDT-08: one try at one gap: by a fixer, or as a task of its own by an executor."""

    gap: Gap
    route: Literal["fix", "execute"]
    work: Work
    claim: FixClaim = FixClaim()
    work_claim: WorkClaim = WorkClaim()


class Bumped(Tagged, frozen=True, kw_only=True):
    """VERS-01. Without a change `note` says why there is none."""

    version: str = ""
    change: Change | None = None
    gates_before: tuple[CommandRun, ...] = ()
    gates_after: tuple[CommandRun, ...] = ()
    note: str = ""


StepResult = (
    Preflighted
    | Triaged
    | Researched
    | Planned
    | PlanChecked
    | Executed
    | MiniVerified
    | Fixed
    | Verified
    | Judged
    | Compared
    | Rated
    | Debugged
    | Unanswered
    | Integrated
    | Audited
    | Mended
    | Bumped
)


HEADINGS: tuple[str, ...] = (
    "PREFLIGHT", "TRIAGE", "RESEARCH", "PLAN", "PLAN-CHECK", "EXECUTE", "VERIFY", "JUDGE", "RATE",
)  # fmt: skip
EXECUTE = "EXECUTE"
_SHARED = {"mini_verify": EXECUTE, "fix": EXECUTE, "judge_divergence": "JUDGE"}


def heading_of(step: str) -> str | None:
    """The heading a step is shown under; None for debugging, which stands between VERIFY and the next VERIFY."""
    own = step.upper().replace("_", "-")
    return _SHARED.get(step) or (own if own in HEADINGS else None)


def number_of(heading: str) -> int:
    return HEADINGS.index(heading) + 1


def skipped_between(done: str | None, target: str) -> tuple[str, ...]:
    """The headings passed over on the way forward; None as `done` means from the very start."""
    first = number_of(done) if done else 0
    return HEADINGS[first : number_of(target) - 1]
