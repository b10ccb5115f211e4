"""What a model's tokens cost, from the optional library genai-prices and the list it carries; no network."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from importlib import import_module
from typing import Any, Protocol

from autopilot.domain.evidence import Usage
from autopilot.domain.value import Value
from autopilot.text.distribution import how_to_install

# An agent reads far more than it writes.
OUTPUT_SHARE = 10
# Prices may rise with the size of a request; this is the size of an ordinary one.
REQUEST_TOKENS = 100_000

NO_LIBRARY = f"Prices are not known. For dollars, install the extra `prices`: {how_to_install('prices')}."


class TokenMix(Value, frozen=True, kw_only=True):
    """Of an ordinary request: the tokens it writes, and those of its input that come from a cache."""

    written: int = REQUEST_TOKENS // OUTPUT_SHARE
    cached: int = 0


class PriceList(Protocol):
    """The part of `genai_prices` we use."""

    Usage: Any

    def calc_price(self, usage: Any, model_ref: str) -> Any: ...


def installed() -> PriceList | None:
    try:
        library: Any = import_module("genai_prices")
    except ImportError:
        return None
    found: PriceList = library
    return found


def cost_of(model: str, usage: Usage, find: Callable[[], PriceList | None] = installed) -> float | None:
    """What a call cost by the list; None where the list, the model in it or the number of tokens is not known."""
    if usage.input_tokens is None or usage.output_tokens is None or (prices := find()) is None:
        return None
    cached = min(usage.cached_tokens or 0, usage.input_tokens)
    counted = prices.Usage(input_tokens=usage.input_tokens, cache_read_tokens=cached, output_tokens=usage.output_tokens)
    try:
        price = float(prices.calc_price(counted, model_ref=model).total_price)
    except LookupError:
        return None
    # A list that knows a model and no price of it says nothing: calls are not free.
    return round(price, 6) if price > 0 else None


def per_million(
    names: Sequence[str], prices: PriceList | None, mix: TokenMix | None = None
) -> tuple[float | None, str]:
    """Dollars for a million tokens of the first of these models that the list knows; or None and why it does not."""
    if prices is None:
        return None, NO_LIBRARY
    if not names:
        return None, "Prices are not known: the agent chooses its own model. Name one with --model."
    mix = mix or TokenMix()
    usage = prices.Usage(
        input_tokens=REQUEST_TOKENS - mix.written, cache_read_tokens=mix.cached, output_tokens=mix.written
    )
    for name in names:
        try:
            price = Decimal(prices.calc_price(usage, model_ref=name).total_price)
        except LookupError:
            continue
        if price > 0:
            return float(price * 1_000_000 / REQUEST_TOKENS), f"Priced as {name}, list prices."
    return None, f"The price of {names[0]!r} is not known. Give the model's full name with --model."
