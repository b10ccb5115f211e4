"""What a model's tokens cost, from the optional library genai-prices and the list it carries; no network."""

from decimal import Decimal
from importlib import import_module
from typing import Any, Protocol

# An agent reads far more than it writes. Cached input is cheaper, so this leans to the dear side.
OUTPUT_SHARE = 10
# Prices may rise with the size of a request; this is the size of an ordinary one.
REQUEST_TOKENS = 100_000

NO_LIBRARY = "Prices are not known: install autopilot-engine[prices] for dollars."


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


def per_million(model: str | None, prices: PriceList | None) -> tuple[float | None, str]:
    """Dollars for a million tokens, one in ten of them written; or None and why it is not known."""
    if prices is None:
        return None, NO_LIBRARY
    if not model:
        return None, "Prices are not known: the agent chooses its own model. Name one with --model."
    written = REQUEST_TOKENS // OUTPUT_SHARE
    try:
        found = prices.calc_price(
            prices.Usage(input_tokens=REQUEST_TOKENS - written, output_tokens=written), model_ref=model
        )
    except LookupError:
        return None, f"The price of {model!r} is not known. Give the model's full name with --model."
    price = Decimal(found.total_price)
    if price <= 0:
        return None, f"The price of {model!r} is not known."
    return float(price * 1_000_000 / REQUEST_TOKENS), f"Priced as {model}, list prices, one token in ten written."
