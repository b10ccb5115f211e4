"""What each step hands to the next. One class a step; the list below is the whole hand-over."""

from typing import Literal

from msgspec import UNSET, UnsetType

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
from autopilot.domain.evidence import Change, CommandRun, Finding, Work
from autopilot.domain.phase import Plan
from autopilot.domain.value import Tagged, Value
from autopilot.domain.visual import VisualResults


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


class Executed(Tagged, frozen=True, kw_only=True):
    """One task carried out; `batch` is there when it was only part of what was carried out in one call."""

    work: Work
    claim: WorkClaim = WorkClaim()
    batch: Batch | None = None


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

    `observed` counts the commands we saw the verifier run; None where it cannot be watched. `visual_test_results` is
    left out of the JSON altogether where pages were not looked at (VIST-05).
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
    visual_test_results: VisualResults | UnsetType = UNSET

    @property
    def visual(self) -> VisualResults | None:
        """None where nobody looked."""
        return None if isinstance(self.visual_test_results, UnsetType) else self.visual_test_results


class Judged(Tagged, frozen=True, kw_only=True):
    opinion: JudgeOpinion
    issues: tuple[str, ...] = ()


class Compared(Tagged, frozen=True, kw_only=True):
    """The judge again, now beside the verifier's report."""

    opinion: DivergenceOpinion


class Rated(Tagged, frozen=True, kw_only=True):
    """`score` is ours: the mean of the scorecard, floored, never above what the rater said or the facts allow."""

    opinion: RateOpinion
    score: float
    issues: tuple[str, ...] = ()


class Debugged(Tagged, frozen=True, kw_only=True):
    """One debugging attempt at the phase as a whole."""

    work: Work
    claim: FixClaim = FixClaim()


class Unanswered(Tagged, frozen=True, kw_only=True):
    """An agent was asked and gave no usable answer, also not after one repair."""

    role: str
    outcome: str
    detail: str


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
)
