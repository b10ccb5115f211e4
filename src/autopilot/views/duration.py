"""Time between two moments of the journal."""

from datetime import datetime

_MINUTE = 60


def seconds_between(first: str, last: str) -> float:
    """Both UTC in ISO 8601. A clock set back shows as no time at all, and so does a moment that cannot be read."""
    try:
        return max(0.0, (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds())
    except ValueError:
        return 0.0


def in_words(seconds: float) -> str:
    return f"{seconds / _MINUTE:.0f}m" if seconds >= _MINUTE else f"{seconds:.0f}s"
