"""Estimates the tokens of a phase and bounds what a call may cost and say."""

from collections import Counter
from collections.abc import Iterable, Mapping

from autopilot.domain.phase import Phase, Plan
from autopilot.domain.value import Value
from autopilot.history.digest import PassDigest, Spent
from autopilot.history.totals import Sums, tallied

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


class Budget(Value, frozen=True, kw_only=True):
    """`response`: lines an answer may have before it is cut; `summary`: lines that are read where there is no JSON."""

    response: int
    summary: int


BUDGETS: dict[str, Budget] = {
    "preflight":        Budget(response=15,  summary=5),
    "triage":           Budget(response=30,  summary=5),
    "research":         Budget(response=200, summary=10),
    "plan":             Budget(response=300, summary=10),
    "plan_check":       Budget(response=50,  summary=5),
    "execute":          Budget(response=500, summary=15),
    "mini_verify":      Budget(response=30,  summary=5),
    "verify":           Budget(response=200, summary=10),
    "judge":            Budget(response=100, summary=5),
    "judge_divergence": Budget(response=100, summary=5),
    "rate":             Budget(response=150, summary=5),
    "debug":            Budget(response=200, summary=10),
}  # fmt: skip
# Roles that no rule names answer briefly: as much as a debugger is enough for each.
OTHERS = BUDGETS["debug"]


def budget_of(role: str) -> Budget:
    return BUDGETS.get(role, OTHERS)


class Ingested(Value, frozen=True, kw_only=True):
    """What of an answer's text is read, and what is to be told about it."""

    text: str
    issues: tuple[str, ...] = ()


def ingest(role: str, step: str, text: str, printed: int, *, answered: bool) -> Ingested:
    """
    BUD-02: the text as it is, or what is left of one over its budget: nothing beside its JSON, or its last lines.

    `printed` counts the lines of the whole response, of which `text` may be only the end.
    """
    budget, lines = budget_of(role), max(printed, len(text.splitlines()))
    if lines <= budget.response:
        return Ingested(text=text)
    warning = f"Agent {step} exceeded budget ({lines} > {budget.response} lines). Truncating to JSON/SUMMARY only."
    return Ingested(text="" if answered else summary(role, text), issues=(warning,))


def summary(role: str, text: str) -> str:
    """The last lines of a text, as many as the role's budget lets in."""
    return "\n".join(text.splitlines()[-budget_of(role).summary :])


LETTERS_A_TOKEN = 4
TOKENS_A_LINE = 12


def answers(passes: Iterable[PassDigest]) -> Sums:
    """What the calls so far have cost."""
    return tallied(passes).whole


def spent(passes: Iterable[PassDigest]) -> Spent:
    """Summed over the passes."""
    return tallied(passes).whole.figures.spent


class Debit(Value, frozen=True, kw_only=True):
    """What a call is reckoned to cost before it is made. `tokens` are those that do not come from a cache."""

    tokens: int = 0
    usd: float = 0.0


def debit(role: str, prompt: str, made: Sums) -> Debit:
    """
    The worst case: the prompt and as much as the role may answer, or what such a call has cost in this run, if more.

    A role that was asked before may cost as much as its dearest call, another one as much as calls do on average.
    Dollars that nobody told are unknown, and nothing is set aside for them.
    """
    own, told = made.dearest.get(role), made.figures
    tokens = own.tokens if own else _mean(told.fresh, told.calls - told.untold_tokens)
    usd = own.usd if own else _mean(made.call_usd, told.calls - told.untold_usd)
    least = -(-len(prompt) // LETTERS_A_TOKEN) + budget_of(role).response * TOKENS_A_LINE
    return Debit(tokens=max(least, int(tokens)), usd=usd)


def _mean(total: float, count: int) -> float:
    return total / count if count else 0.0
