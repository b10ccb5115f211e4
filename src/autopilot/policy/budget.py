"""What a phase is expected to cost in tokens, before it runs (MTRC-02), and what is said of it. Pure."""

from collections import Counter
from collections.abc import Mapping

from autopilot.domain.phase import Phase, Plan

PASS_TOKENS = 50_000
TASK_TOKENS = {"simple": 15_000, "medium": 30_000, "complex": 60_000}
TYPE_TOKENS = {"protocol": 150_000, "ui": 250_000, "data": 100_000, "mixed": 200_000}
SESSION_TOKENS, RETURN_TOKENS = 180_000, 10_000
WARN_SHARE = 80
SEVERAL = 3


def task_tokens(phase: Phase, plan: Plan | None) -> int:
    """AMB-43: a task of unknown size counts as medium. Without a plan, what is not the pass's own is its tasks'."""
    if plan is None:
        return TYPE_TOKENS[phase.type] - PASS_TOKENS
    return sum(TASK_TOKENS[task.complexity or "medium"] for task in plan.tasks)


def with_margin(tokens: int) -> int:
    return tokens * 6 // 5


def estimated_tokens(phase: Phase, plan: Plan | None) -> int:
    """MTRC-02a with a plan, MTRC-02b without one."""
    return with_margin(PASS_TOKENS + task_tokens(phase, plan))


def cost_line(phase: str, tokens: int, plan: Plan | None) -> str:
    """MTRC-02d."""
    sizes = Counter[str](task.complexity or "medium" for task in plan.tasks) if plan else Counter[str]()
    told = ", ".join(f"{sizes[size]} {size}" for size in TASK_TOKENS)
    return f"Phase {phase} cost estimate: {tokens} tokens ({sizes.total()} tasks: {told})"


def cap_warning(phase: str, tokens: int, cap: int) -> str:
    """MTRC-02c, where the user set a cap in tokens: empty up to 80 % of it."""
    return _over(phase, f"{tokens} tokens", tokens, cap)


def usd_warning(phase: str, usd: float, cap: float) -> str:
    """MTRC-02c for the cap in dollars: empty up to 80 % of it."""
    return _over(phase, f"${usd:,.2f}", usd, cap)


def _over(phase: str, said: str, expected: float, cap: float) -> str:
    if expected * 100 <= cap * WARN_SHARE:
        return ""
    share = f"{int(expected * 100 // max(cap, 0.01))}%"
    return f"Phase {phase} estimated at {said} ({share} of budget cap). Consider splitting complex tasks."


def session_warning(estimates: Mapping[str, int], budget: int = SESSION_TOKENS) -> str:
    """
    CTX-05, for phases that are done over or refined: empty for fewer than three, or up to 80 % of the budget.

    It only tells; nothing is held back by it.
    """
    cost = sum(estimates.values()) + RETURN_TOKENS * len(estimates)
    if len(estimates) < SEVERAL or cost * 100 <= budget * WARN_SHARE:
        return ""
    second_half = " ".join(list(estimates)[(len(estimates) + 1) // 2 :])
    return (
        f"Estimated cost ({cost} tokens) exceeds 80% of session budget. Consider splitting into smaller batches. "
        f"If context runs out mid-session, run `autopilot {second_half}`."
    )
