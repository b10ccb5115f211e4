"""Times as the journal writes them, `2026-01-31T12:00:00.000Z`, and the seconds between two of them. Pure."""

_DAY, _HOUR, _MINUTE = 86400, 3600, 60
_FOUR_CENTURIES, _YEARS = 146097, 400


def elapsed(begin: str, end: str) -> float:
    """In seconds. A clock that was put back takes nothing away."""
    return max(0.0, seconds_of(end) - seconds_of(begin))


def seconds_of(at: str) -> float:
    """Since a fixed day long ago."""
    clock = int(at[11:13]) * _HOUR + int(at[14:16]) * _MINUTE + float(at[17:].rstrip("Z"))
    return _days(int(at[:4]), int(at[5:7]), int(at[8:10])) * _DAY + clock


def _days(year: int, month: int, day: int) -> int:
    """Days by the civil calendar. A year begins in March here, so that the day a leap year has more is its last."""
    year -= month <= 2  # noqa: PLR2004 - January and February belong to the year before
    era, of_era = divmod(year, _YEARS)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * _FOUR_CENTURIES + of_era * 365 + of_era // 4 - of_era // 100 + of_year
