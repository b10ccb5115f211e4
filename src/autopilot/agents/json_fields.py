"""Reads fields of foreign JSON: whatever is there, the wanted type comes out or its absence."""

import math
from typing import Any

MOST = 10**12


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def record(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def records(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def count(value: Any) -> int | None:
    """Of things that can be counted: a number nobody could have used up is none, so that no claim locks a run."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST else None


def amount(value: Any) -> float | None:
    """As `count`, with fractions; what is no number is none either."""
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return None
    return number if 0 <= number <= MOST else None


def total(*values: Any) -> int | None:
    """The sum of those that are counts; None when none is."""
    counts = [found for value in values if (found := count(value)) is not None]
    return sum(counts) if counts else None


def at(value: Any, *path: str) -> Any:
    """What lies at the end of the path, None if it breaks off."""
    for name in path:
        value = record(value).get(name)
    return value
