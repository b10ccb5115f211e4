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


def later(at: str, seconds: float) -> str:
    """The moment so many seconds after another, to the millisecond."""
    whole = round((seconds_of(at) + seconds) * 1000)
    days, rest = divmod(whole, _DAY * 1000)
    clock, parts = divmod(rest, 1000)
    hours, minutes = divmod(clock // _MINUTE, 60)
    return f"{_date(days)}T{hours:02}:{minutes:02}:{clock % _MINUTE:02}.{parts:03}Z"


def _date(days: int) -> str:
    """The civil date of a day; the other way round than `_days`."""
    era, of_era = divmod(days, _FOUR_CENTURIES)
    # Whole years of 365 days: the days that leap years have more are taken out first.
    years = (of_era - of_era // 1460 + of_era // 36524 - of_era // (_FOUR_CENTURIES - 1)) // 365
    of_year = of_era - (365 * years + years // 4 - years // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    number = month + 3 if month < 10 else month - 9  # noqa: PLR2004 - March is the first of twelve here
    year = era * _YEARS + years + (number <= 2)  # noqa: PLR2004 - as above
    return f"{year:04}-{number:02}-{day:02}"


def _days(year: int, month: int, day: int) -> int:
    """Days by the civil calendar. A year begins in March here, so that the day a leap year has more is its last."""
    year -= month <= 2  # noqa: PLR2004 - January and February belong to the year before
    era, of_era = divmod(year, _YEARS)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * _FOUR_CENTURIES + of_era * 365 + of_era // 4 - of_era // 100 + of_year
