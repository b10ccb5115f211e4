"""What agents' calls cost, as far as they say, and what the next one may cost at worst. Unknown is never zero. Pure."""

from collections.abc import Iterable

from autopilot.domain.budgets import budget_of
from autopilot.domain.digest import CallDigest, PassDigest, Spent, tokens_of
from autopilot.domain.value import Value

LETTERS_A_TOKEN = 4
TOKENS_A_LINE = 12


def answers(passes: Iterable[PassDigest]) -> tuple[CallDigest, ...]:
    return tuple(call for digest in passes for call in digest.calls)


def spent(passes: Iterable[PassDigest]) -> Spent:
    """Summed over the passes."""
    every = [digest.spent for digest in passes]
    tokens = [one.tokens for one in every if one.tokens is not None]
    dollars = [one.usd for one in every if one.usd is not None]
    return Spent(
        calls=sum(one.calls for one in every),
        tokens=sum(tokens) if tokens else None,
        usd=round(sum(dollars), 6) if dollars else None,
        untold_tokens=sum(one.untold_tokens for one in every),
        untold_usd=sum(one.untold_usd for one in every),
    )


class Debit(Value, frozen=True, kw_only=True):
    """What a call is reckoned to cost before it is made."""

    tokens: int = 0
    usd: float = 0.0


def debit(role: str, prompt: str, made: Iterable[CallDigest]) -> Debit:
    """
    The worst case: the prompt and as much as the role may answer, or what such a call has cost in this run, if more.

    A role that was asked before may cost as much as its dearest call, another one as much as calls do on average.
    Dollars that nobody told are unknown, and nothing is set aside for them.
    """
    calls = tuple(made)
    own = [call.usage for call in calls if call.role == role]
    known = own or [call.usage for call in calls]
    reckon = max if own else _mean
    tokens = reckon([told for usage in known if (told := tokens_of(usage)) is not None] or [0])
    usd = reckon([usage.cost_usd for usage in known if usage.cost_usd is not None] or [0.0])
    least = -(-len(prompt) // LETTERS_A_TOKEN) + budget_of(role).response * TOKENS_A_LINE
    return Debit(tokens=max(least, int(tokens)), usd=usd)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
