"""Phases worked on again: what an earlier run left of one, what it lacks, and how far it is to be brought."""

from typing import Literal

from autopilot.domain.phase import Plan
from autopilot.domain.settings import Modes
from autopilot.domain.value import Value

Mode = Literal["initial", "force", "quality", "gaps", "debug"]
Source = Literal["scorecard", "diagnostic", "judge_report", "verification"]

LEAST = 7.0
QUALITY, NEGLIGIBLE = 9.5, 9.8
QUALITY_CYCLES, GAP_ITERATIONS = 3, 5
QUALITY_EXHAUSTED, GAPS_EXHAUSTED = "quality_exhausted", "gaps_exhausted"
# How far below its target a shortcoming without a score is taken to be.
_ESTIMATES = {"high": 1.0, "medium": 0.5, "low": 0.1}


class Deficiency(Value, frozen=True, kw_only=True):
    """GAPS-07: one thing that keeps a phase from its target. Without a score `expected_impact` is an estimate."""

    criterion: str
    deficiency: str
    target_file: str
    current_score: float | None = None
    target_score: float = QUALITY
    expected_impact: str = "medium"
    source: Source = "scorecard"

    @property
    def shortfall(self) -> float:
        if self.current_score is None:
            return _ESTIMATES.get(self.expected_impact, _ESTIMATES["medium"])
        return self.target_score - self.current_score

    @property
    def feedback(self) -> str:
        """What an agent is told: where to look, what is wrong there, what mending it is worth."""
        return f"{self.target_file}: {self.deficiency} ({self.expected_impact}, resolves {self.criterion})"


class Scored(Value, frozen=True, kw_only=True):
    """HIST-01: a score, when it was given, and under which flag and in which cycle the work had been done."""

    score: float
    timestamp: str
    flag: Mode = "initial"
    cycle: int = 0


class Standing(Value, frozen=True, kw_only=True):
    """
    How a phase was left: `status` as in state.json, or `already_satisfied` while nobody has accepted that, `score` of
    the pass it stands on, `history` of all of them.

    `run` is the journal's newest run that knows of it; empty when only an archived state or the roadmap does, in which
    case `archived` is that state's run. `at` is when it came to that.
    """

    status: str
    score: float | None = None
    history: tuple[Scored, ...] = ()
    run: str = ""
    archived: str = ""
    at: str = ""


class Before(Value, frozen=True, kw_only=True):
    """
    What a run knew of a target when it began. `plan` is the one it was carried out by.

    `feedback` is what kept it from a higher score, in words for an agent; `deficiencies` are the same one by one.
    """

    status: str
    score: float | None = None
    history: tuple[Scored, ...] = ()
    plan: Plan | None = None
    feedback: tuple[str, ...] = ()
    deficiencies: tuple[Deficiency, ...] = ()

    @property
    def stands(self) -> bool:
        """Whether there is a result that a pass can add to: completed, with a score that lets a phase pass."""
        return self.status == "completed" and self.score is not None and self.score >= LEAST


def sorted_by_shortfall(found: tuple[Deficiency, ...]) -> tuple[Deficiency, ...]:
    """GAPS-08: the biggest first; what is equal keeps its order."""
    return tuple(sorted(found, key=lambda one: -round(one.shortfall, 3)))


def gap_target(score: float | None) -> float:
    """AMB-05: 9.5, and for a phase that is there already the bound from which on a gap is negligible."""
    return NEGLIGIBLE if score is not None and score >= QUALITY else QUALITY


def refines(modes: Modes) -> bool:
    """Whether phases are mended beyond the usual bar; then `--lenient` has no effect (FLAG-07, FLAG-08)."""
    return modes.quality is not None or modes.gaps is not None


def redoes(modes: Modes) -> bool:
    """Whether phases that are completed are worked on again."""
    return modes.force is not None or refines(modes)


def again_flags(modes: Modes) -> tuple[bool, ...]:
    """Which of the flags are given that say what is done to phases; where phases are named does not matter."""
    return modes.force is not None, modes.quality is not None, modes.gaps is not None


def first_mode(modes: Modes, before: Before | None) -> Mode:
    """
    In which mode a target's first pass runs.

    Only a result that stands can be mended, by the plan it was made by: any other phase is run as usual first.
    """
    if modes.debug:
        return "debug"
    if before is None:
        return "initial"
    if modes.force is not None and before.status == "completed":
        return "force"
    if not before.stands or before.plan is None:
        return "initial"
    assert before.score is not None
    if modes.quality is not None and before.score < QUALITY and before.feedback:
        return "quality"
    return "gaps" if modes.gaps is not None and before.deficiencies else "initial"
