"""How well a phase is described before anybody works on it: the context sufficiency score (CMAP-01, CMAP-05)."""

import re
from collections.abc import Sequence
from typing import Literal

from autopilot.domain.forecast import Confidence, Sufficiency
from autopilot.domain.phase import Phase
from autopilot.domain.value import Value
from autopilot.planning.roadmap import project_md as project

WEIGHTS = {"criteria": 35, "requirements": 35, "docs": 15, "deps": 15}
FULL, SOME, NONE = 10, 6, 2
DOCS_FULL = 9
TOLD = 9
LIFTS = {
    "criteria": "criteria",
    "requirements": "requirements",
    "domain": "requirements",
    "architecture": "docs",
    "build_config": "docs",
    "dependencies": "docs",
}
SUFFICIENT = 8
_ANSWERS_OF_A_STUB = 2
DEPENDENCIES = {"met": 10, "pending": 5, "missing": 1}
ENOUGH = 5
STUB, UNMAPPED, UNVERIFIABLE = 1, 3, 4
_LOWEST, _HIGHEST = 1, 10
_STUB_GOAL = re.compile(r"\[to be (?:planned|defined)\]|\btbd\b", re.IGNORECASE)
_VAGUE = re.compile(r"\b(?:tbd|todo|to be (?:planned|defined|decided))\b", re.IGNORECASE)
_SPECIFIC_WORDS = 4


class Context(Value, frozen=True, kw_only=True):
    """
    What there is to go by.

    `requirements` are the phase's own as `ID: text`, the text empty when the specification does not have it; `about` is
    PROJECT.md. `dependencies` is `missing` when one is not in the roadmap at all.
    """

    phase: Phase
    requirements: Sequence[str] = ()
    about: str | None = None
    dependencies: Literal["met", "pending", "missing"] = "met"


def sufficiency(context: Context) -> Sufficiency:
    """Rounded half up, 1 to 10 (AMB-07); a stub scores 1 whatever else is there."""
    if is_stub(context.phase.goal):
        return Sufficiency(score=STUB)
    factors = _factors(context)
    return Sufficiency(score=weighted(factors), **factors)


def _factors(context: Context) -> dict[str, int]:
    return {
        "criteria": criteria_factor(context.phase),
        "requirements": requirements_factor(context.requirements),
        "docs": docs_factor(context.about),
        "deps": DEPENDENCIES[context.dependencies],
    }


def rescored(context: Context, answers: Sequence[tuple[str, bool]]) -> Sufficiency:
    """
    CMAP-03e: the score with what people answered; each question is its category and whether it was answered.

    A factor whose questions are all answered counts as told in words, one with some of them as vague. A stub stays one
    until two questions are answered.
    """
    answered = [category for category, is_answered in answers if is_answered]
    if not answered or (is_stub(context.phase.goal) and len(answered) < _ANSWERS_OF_A_STUB):
        return sufficiency(context)
    factors = _factors(context)
    for category in set(answered) & LIFTS.keys():
        whole = all(is_answered for other, is_answered in answers if LIFTS.get(other) == LIFTS[category])
        factors[LIFTS[category]] = max(factors[LIFTS[category]], TOLD if whole else SOME)
    return Sufficiency(score=weighted(factors), **factors)


def weighted(factors: dict[str, int]) -> int:
    hundredths = sum(weight * factors[name] for name, weight in WEIGHTS.items())
    return min(_HIGHEST, max(_LOWEST, (hundredths + 50) // 100))


def is_stub(goal: str) -> bool:
    return not goal.strip() or _STUB_GOAL.search(goal) is not None


def criteria_factor(phase: Phase) -> int:
    verified = [criterion.command is not None for criterion in phase.criteria]
    if not any(verified):
        return NONE
    return FULL if all(verified) else SOME


def requirements_factor(requirements: Sequence[str]) -> int:
    """Unmapped, mapped but vague, or mapped and specific."""
    if not requirements or all(_VAGUE.search(requirement) for requirement in requirements):
        return NONE
    return FULL if all(_is_specific(requirement) for requirement in requirements) else SOME


def _is_specific(requirement: str) -> bool:
    text = requirement.partition(":")[2]
    return len(text.split()) >= _SPECIFIC_WORDS and not _VAGUE.search(text)


def docs_factor(about: str | None) -> int:
    """PROJECT.md says what the project is and what it must never lose, only one of them, or is missing."""
    if about is None or not about.strip():
        return NONE
    told = project.read(about)
    return DOCS_FULL if told.what and told.core_value else SOME


def quick(context: Context) -> Confidence:
    """CMAP-05 with the fixed values of AMB-08: the first thing that is missing decides."""
    phase = context.phase
    if is_stub(phase.goal):
        return Confidence(score=STUB, reason="the goal is a stub")
    if not context.requirements:
        return Confidence(score=UNMAPPED, reason="no requirements are mapped")
    if not any(criterion.command for criterion in phase.criteria):
        return Confidence(score=UNVERIFIABLE, reason="no criterion has a verification command")
    return Confidence(score=max(ENOUGH, sufficiency(context).score))


def log_line(phase_id: str, found: Sufficiency) -> str:
    """CMAP-01g."""
    return f"Phase {phase_id}: context sufficiency {found.score}/10 ({factors_text(found)})"


def factors_text(found: Sufficiency) -> str:
    return f"{found.criteria} criteria, {found.requirements} requirements, {found.docs} docs, {found.deps} deps"


def low_line(phase_id: str, found: Confidence) -> str:
    """CMAP-05b: says what to type in the shell (INV-17). Empty when it is enough."""
    if found.score >= ENOUGH:
        return ""
    told = f"Phase {phase_id} has low context confidence ({found.score}/10): {found.reason}."
    return f"{told} Consider running `autopilot map {phase_id}` first."


def low_summary(found: dict[str, Confidence]) -> str:
    """AMB-08: once for all phases, those that lack the same named together; for one phase it is its own line."""
    by_reason: dict[tuple[int, str], list[str]] = {}
    for phase_id, confidence in found.items():
        if confidence.score < ENOUGH:
            by_reason.setdefault((confidence.score, confidence.reason), []).append(phase_id)
    names = [name for group in by_reason.values() for name in group]
    if len(names) <= 1:
        return "".join(low_line(name, found[name]) for name in names)
    parts = [
        f"phase{'s' if len(group) > 1 else ''} {', '.join(group)} ({score}/10: {reason})"
        for (score, reason), group in sorted(by_reason.items())
    ]
    chosen = ",".join(name for name in found if name in names)
    return f"Low context confidence: {'; '.join(parts)}. Consider running `autopilot map {chosen}` first."
