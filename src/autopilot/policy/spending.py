"""What agents' calls cost, as far as they say, and what the next one may cost at worst. Unknown is never zero. Pure."""

from collections.abc import Iterable

from autopilot.domain.value import Value
from autopilot.history.digest import PassDigest, Spent
from autopilot.history.totals import Sums, tallied
from autopilot.policy.budgets import budget_of

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
