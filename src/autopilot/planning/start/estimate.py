"""
What a phase may cost, before it runs (MTRC-02).

    expected = 1.20 * (50,000 + tasks)                 with a plan; a task is 15,000, 30,000 or 60,000 by complexity
    expected = 1.20 * (100,000 to 250,000 by type)     without one
    low      = 0.70 * expected                         one clean pass
    worst    = 1.20 * (50,000 * plans + tasks * tries * executions + 30,000 * debugs + cycles * remediation)

`plans` is every round of planning the limits allow, `tries` a task and all its fixes, `executions` one more than the
re-plans. A remediation is checked like a pass (50,000) and does one complex task with all its fixes. Without a plan,
what is not the pass's own 50,000 counts as tasks. `--quality` and `--gaps` have their own number of cycles; a phase
that is only to be mended is expected to take one of them.

These are the tokens of the work. A program adds its own instructions and tools to every turn, most of them read from a
cache, so a forecast scales them: by what phases with this program took in earlier runs here, or before the first run by
what the program adds to a turn.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any

from msgspec.structs import replace

from autopilot.domain.forecast import Dollars, Habits, TaskCounts, Tokens
from autopilot.domain.phase import Phase, Plan
from autopilot.domain.rework import GAP_ITERATIONS, QUALITY_CYCLES, refines
from autopilot.domain.settings import Limits, Settings
from autopilot.planning.start.prices import OUTPUT_SHARE, REQUEST_TOKENS, TokenMix
from autopilot.policy.budget import PASS_TOKENS, TASK_TOKENS, estimated_tokens, task_tokens, with_margin

# What one turn of a conversation adds of its own: a tool's result and a few words.
TURN_TOKENS = 2_500
# The first turn of a call reads nothing from a cache.
CACHED_SHARE = 0.9
LEAST, MOST = 0.1, 50.0


def scale(habits: Habits) -> float:
    """What the plain estimate is multiplied by."""
    if habits.ratio is not None:
        return min(MOST, max(LEAST, habits.ratio))
    return 1 + habits.own_prompt / TURN_TOKENS


def scaled(tokens: Tokens, by: float) -> Tokens:
    return Tokens(low=round(tokens.low * by), expected=round(tokens.expected * by), worst=round(tokens.worst * by))


def mix(habits: Habits) -> TokenMix:
    """What an ordinary request of the program consists of."""
    whole = habits.own_prompt + TURN_TOKENS
    return TokenMix(
        written=REQUEST_TOKENS * TURN_TOKENS // whole // OUTPUT_SHARE,
        cached=int(REQUEST_TOKENS * CACHED_SHARE * habits.own_prompt / whole),
    )


def learned(habits: Habits, runs: Iterable[Mapping[str, Any]], model: str | None) -> Habits:
    """The habits with what the earlier runs of this program show; rows without figures say nothing."""
    own = [run for run in runs if run.get("agent") == habits.program]
    rows = [row for run in own for row in run.get("per_phase_summary") or () if isinstance(row, Mapping)]
    pairs = [(_count(row.get("estimated_tokens")), _count(row.get("tokens_used"))) for row in rows]
    known = [(expected, used) for expected, used in pairs if expected and used]
    costs = [
        (paid, float(usd))
        for run in own
        if run.get("model") == model
        and (paid := _count(run.get("paid_tokens")))
        and isinstance(usd := run.get("total_usd"), int | float)
        and usd > 0
    ]
    tokens = sum(used for used, _ in costs)
    return replace(
        habits,
        phases=len(known),
        ratio=sum(used for _, used in known) / sum(expected for expected, _ in known) if known else None,
        usd_per_million=sum(usd for _, usd in costs) * 1_000_000 / tokens if tokens else None,
    )


def token_note(habits: Habits) -> str:
    if habits.ratio is not None:
        count = f"{habits.phases} phase{'' if habits.phases == 1 else 's'}"
        return f"Tokens: {scale(habits):.1f} times the plain estimate, as {count} with {habits.program} took here."
    if habits.own_prompt:
        return (
            f"Tokens: with about {habits.own_prompt:,} a turn that {habits.program} adds itself, most of them cached."
        )
    return ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def task_counts(plan: Plan | None) -> TaskCounts:
    counts = Counter(task.complexity or "medium" for task in plan.tasks) if plan else Counter[str]()
    return TaskCounts(simple=counts["simple"], medium=counts["medium"], complex=counts["complex"])


def estimate(phase: Phase, plan: Plan | None, settings: Settings) -> Tokens:
    expected, worst = estimated_tokens(phase, plan), _worst(task_tokens(phase, plan), settings)
    return Tokens(low=expected * 7 // 10, expected=expected, worst=max(expected, worst))


def of_mending(settings: Settings) -> Tokens:
    """For a phase whose work is there: one cycle is expected, and at most every one the flags allow."""
    once = with_margin(PASS_TOKENS + TASK_TOKENS["complex"])
    worst = with_margin(_remediation(settings.limits) * _cycles(settings))
    return Tokens(low=once * 7 // 10, expected=once, worst=max(once, worst))


def _cycles(settings: Settings) -> int:
    modes = settings.modes
    if refines(modes):
        return (QUALITY_CYCLES if modes.quality is not None else 0) + (GAP_ITERATIONS if modes.gaps is not None else 0)
    return 0 if settings.lenient else settings.limits.remediation_cycles


def _remediation(limits: Limits) -> int:
    return PASS_TOKENS + TASK_TOKENS["complex"] * (1 + limits.task_fixes)


def _worst(tasks: int, settings: Settings) -> int:
    limits = settings.limits
    executions, tries = 1 + limits.replans, 1 + limits.task_fixes
    return with_margin(
        PASS_TOKENS * _plan_rounds(limits)
        + tasks * tries * executions
        + TASK_TOKENS["medium"] * limits.debug_attempts
        + _remediation(limits) * _cycles(settings)
    )


def _plan_rounds(limits: Limits) -> int:
    return max(1, limits.plan_checks) * (1 + limits.replans)


def total(parts: list[Tokens]) -> Tokens:
    return Tokens(
        low=sum(part.low for part in parts),
        expected=sum(part.expected for part in parts),
        worst=sum(part.worst for part in parts),
    )


def priced(tokens: Tokens, per_million: float | None) -> Dollars | None:
    """Cents, rounded up. None when the price is not known: unknown is never nothing."""
    if per_million is None:
        return None
    low, expected, worst = (
        ceil(round(count * per_million / 10_000, 6)) / 100 for count in (tokens.low, tokens.expected, tokens.worst)
    )
    return Dollars(low=low, expected=expected, worst=worst)
