"""Parses, rounds and formats numbers from text that others wrote."""

import math
import re
from typing import Any

MOST_DIGITS = 18
MOST: int = 10**MOST_DIGITS


def read_number(digits: str) -> int:
    """The number that digits, with or without a minus, stand for; one longer than any count is `MOST`."""
    bare = digits.removeprefix("-").lstrip("0")
    value = MOST if len(bare) > MOST_DIGITS else int(bare or "0")
    return -value if digits.startswith("-") else value


_DECIMAL = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_PREFIXED = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")


def number_in(text: str) -> float | None:
    """The finite number the text is, blanks around it aside; None for anything else, an empty text included."""
    bare = text.strip()
    if _PREFIXED.fullmatch(bare):
        return _finite(int(bare, 0))
    return _finite(float(bare)) if _DECIMAL.fullmatch(bare) else None


def number_of(value: Any) -> float | None:
    """A count in a published result: a number, the text of one, or a yes for 1. Anything else says nothing."""
    if isinstance(value, str):
        return number_in(value)
    return _finite(value) if isinstance(value, bool | int | float) else None


def measured(value: Any) -> float | None:
    """A finite number that is written as one; neither text nor yes and no."""
    return _finite(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _finite(value: float) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def rounded(number: float, places: int = 2) -> float:
    """Half up, as people round."""
    scale: int = 10**places
    return math.floor(number * scale + 0.5) / scale


def whole(number: float) -> int:
    return math.floor(number + 0.5)


def clamp(number: float, low: float, high: float) -> float:
    return min(high, max(low, number))


def shown(number: float) -> str:
    """`4` for 4.0, `0.5` for 0.5."""
    return str(int(number)) if float(number).is_integer() else repr(float(number))
