"""Reads, compares and formats the timestamps of the journal."""

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


_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def seconds_between(first: str, last: str) -> float:
    """Both UTC in ISO 8601. A clock set back shows as no time at all, and so does a moment that cannot be read."""
    try:
        return max(0.0, (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds())
    except ValueError:
        return 0.0


def moment(at: str) -> str:
    """A time of the journal for people: `2026-01-31 12:00:00 UTC`."""
    return f"{at[:10]} {at[11:19]} UTC"


def in_words(seconds: float) -> str:
    return f"{seconds / _MINUTE:.0f}m" if seconds >= _MINUTE else f"{seconds:.0f}s"


def short(seconds: float) -> str:
    """To the second below an hour, to the minute above: `7s`, `3m 07s`, `2h 05m`, `1d 03h`."""
    whole = int(seconds)
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m {whole % _MINUTE:02}s"
    if whole < _DAY:
        return f"{whole // _HOUR}h {whole % _HOUR // _MINUTE:02}m"
    return f"{whole // _DAY}d {whole % _DAY // _HOUR:02}h"
