"""Times as the journal writes them, `2026-01-31T12:00:00.000Z`, and the seconds between two of them. Pure."""

from datetime import UTC, datetime, timedelta


def elapsed(begin: str, end: str) -> float:
    """In seconds. A clock that was put back takes nothing away."""
    return max(0.0, (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds())


def seconds_of(at: str) -> float:
    """Since the epoch."""
    return datetime.fromisoformat(at).timestamp()


def later(at: str, seconds: float) -> str:
    """The moment so many seconds after another, to the millisecond."""
    return iso(datetime.fromisoformat(at) + timedelta(milliseconds=round(seconds * 1000)))


def iso(moment: datetime) -> str:
    """UTC, ISO 8601 with milliseconds and a Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
