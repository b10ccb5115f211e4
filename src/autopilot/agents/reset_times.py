"""When a used-up window opens again, read from what a program says of its own limit. Pure."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

# A message may be read a little after the time it names; it does not mean the same time a day later.
GRACE = timedelta(minutes=10)
FURTHEST = timedelta(days=62)
REACH = 90
MILLISECONDS = 10**12
NOON = 12

_LIMIT = re.compile(
    r"limit|quota|credit|usage|rate|too many|429|capacity|exhaust|try again|retry|allowance|window|requests",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"(\d{1,3})(?:\.\d+)?\s?%")
_WARNING = re.compile(r"approaching|nearing|close to|almost|warning|remaining|left\b|heads.up", re.IGNORECASE)
_REACHED = re.compile(
    r"\bhit\b|reached|exceeded|exhausted|rejected|used up|out of|too many|try again|retry|denied|blocked|no more",
    re.IGNORECASE,
)
_ANCHOR = re.compile(
    r"resets?_?(?:at|in|s|time)?\b|resetting|reset\b|resetsAt|try again|retry(?:[-_ ]?(?:after|in|delay|at))?|available"
    r"|until|renew(?:s|ed|al)?|unlock(?:s|ed)?|refresh(?:es|ed)?|come back|wait|lifted|replenish(?:es|ed)?|opens?"
    r"|resumes?|reached\|",
    re.IGNORECASE,
)
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s?(?P<zone>Z\b|UTC|GMT|[+-]\d\d:?\d\d)?", re.IGNORECASE
)
_EPOCH = re.compile(r"(?<![\w.])(\d{13}|\d{10})(?:\.\d+)?(?![\w])")
_UNIT = r"(?:days?|d|hours?|hrs?|hr|h|minutes?|mins?|min|m|seconds?|secs?|sec|s|ms)"
_PIECE = re.compile(rf"(\d+(?:\.\d+)?)\s?({_UNIT})(?![a-z])", re.IGNORECASE)
_SPAN = re.compile(
    rf"(?:\bin|after|wait|delay|retry|about|for)[\"':=\s]{{1,4}}(?:about |approximately |another |~)?"
    rf"((?:\d+(?:\.\d+)?\s?{_UNIT}(?![a-z])(?:,?\s?(?:and\s)?)?)+)",
    re.IGNORECASE,
)
_ONE = re.compile(r"\bin (?:about )?(an? hour|a minute|a day|half an hour)\b", re.IGNORECASE)
_BARE_SECONDS = re.compile(r"retry[-_ ]?after[\"':=\s]{1,4}(\d{1,7})(?![\d:.\w-])", re.IGNORECASE)
_CLOCK = r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?(?::\d\d)?\s?(?P<half>[ap]\.?m\b\.?)?"
_TIME = re.compile(rf"(?<![\d:.-]){_CLOCK}", re.IGNORECASE)
_WORD_TIME = re.compile(r"\b(midnight|noon)\b", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
_DATE = re.compile(
    rf"\b(?:{_MONTH}\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?|(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s"
    rf"{_MONTH.replace('month', 'month2')})\b(?:,?\s(?P<year>\d{{4}})\b)?",
    re.IGNORECASE,
)
_ISO_DATE = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?![\dT])")
_DAY = re.compile(rf"\b(?:(?P<rel>today|tonight|tomorrow)|(?P<name>{'|'.join(_DAYS)})[a-z]*)\b", re.IGNORECASE)
_NAMED_ZONE = re.compile(r"\(?\b([A-Z][A-Za-z]+/[A-Z][A-Za-z_]+(?:/[A-Z][A-Za-z_]+)?)\b\)?")
_OFFSET = re.compile(r"\b(?:UTC|GMT)\s?([+-])(\d{1,2})(?::?(\d\d))?\b")
_SHORT_ZONE = re.compile(r"\b(UTC|GMT|Z|[PMCE][SD]?T|CES?T|BST|JST|IST|AEST|AEDT)\b")
_ZONES = {
    "UTC": "UTC", "GMT": "UTC", "Z": "UTC",
    "PT": "America/Los_Angeles", "PST": "America/Los_Angeles", "PDT": "America/Los_Angeles",
    "MT": "America/Denver", "MST": "America/Denver", "MDT": "America/Denver",
    "CT": "America/Chicago", "CST": "America/Chicago", "CDT": "America/Chicago",
    "ET": "America/New_York", "EST": "America/New_York", "EDT": "America/New_York",
    "CET": "Europe/Berlin", "CEST": "Europe/Berlin", "BST": "Europe/London", "JST": "Asia/Tokyo",
    "IST": "Asia/Kolkata", "AEST": "Australia/Sydney", "AEDT": "Australia/Sydney",
}  # fmt: skip
_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0}
_ONES = {"a day": 86_400, "an hour": 3_600, "a hour": 3_600, "half an hour": 1_800, "a minute": 60}


def reset_time(text: str, now: datetime, zone: tzinfo) -> datetime | None:
    """
    The moment, in UTC, or None when the text names none. A time without a zone is one of `zone`.

    A warning that a limit is near names a time as well: it is not heeded.
    """
    if not _LIMIT.search(text) or _is_warning(text):
        return None
    for tail in _tails(text):
        for read in _READERS:
            found = read(tail, now, _zone_of(tail, zone))
            if found is not None and now - FURTHEST < found <= now + FURTHEST:
                return found.astimezone(UTC)
    return None


def epoch_time(seconds: float) -> datetime | None:
    """A typed field's time: seconds or milliseconds since 1970."""
    try:
        return datetime.fromtimestamp(seconds / 1000 if seconds >= MILLISECONDS else seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _is_warning(text: str) -> bool:
    if any(int(found[1]) < 100 for found in _PERCENT.finditer(text)):  # noqa: PLR2004 - all of it
        return not re.search(r"\b(?:hit|reached|exceeded|exhausted)\b", text, re.IGNORECASE)
    return bool(_WARNING.search(text)) and not _REACHED.search(text)


def _tails(text: str) -> Iterator[str]:
    """What follows each word that announces a time, with that word; times elsewhere mean something else."""
    for anchor in _ANCHOR.finditer(text):
        yield text[anchor.start() : anchor.end() + REACH]


def _zone_of(tail: str, zone: tzinfo) -> tzinfo:
    if named := _NAMED_ZONE.search(tail):
        return _zone(named[1]) or zone
    if offset := _OFFSET.search(tail):
        distance = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return timezone(distance if offset[1] == "+" else -distance) if distance < timedelta(days=1) else zone
    short = _SHORT_ZONE.search(tail)
    return (_zone(_ZONES[short[1]]) if short else None) or zone


def _zone(name: str) -> tzinfo | None:
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _iso(tail: str, now: datetime, zone: tzinfo) -> datetime | None:  # noqa: ARG001 - the signature of every reader
    if not (found := _ISO.search(tail)):
        return None
    written = (found["zone"] or "").upper()
    place = "+00:00" if written in {"Z", "UTC", "GMT"} else written
    try:
        moment = datetime.fromisoformat(f"{found[1]}T{found[2]}{place}")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _epoch(tail: str, now: datetime, zone: tzinfo) -> datetime | None:  # noqa: ARG001 - as above
    found = _EPOCH.search(tail)
    moment = epoch_time(float(found[1])) if found else None
    return moment if moment and abs(moment - now) < FURTHEST else None


def _relative(tail: str, now: datetime, zone: tzinfo) -> datetime | None:  # noqa: ARG001 - as above
    if plain := _BARE_SECONDS.search(tail):
        return now + timedelta(seconds=int(plain[1]))
    if one := _ONE.search(tail):
        return now + timedelta(seconds=_ONES[one[1].lower()])
    if not (span := _SPAN.search(tail)):
        return None
    seconds = sum(float(size) * _unit(unit) for size, unit in _PIECE.findall(span[1]))
    return now + timedelta(seconds=seconds) if seconds <= FURTHEST.total_seconds() else None


def _unit(name: str) -> float:
    return 0.001 if name.lower() == "ms" else _SECONDS[name[0].lower()]


def _dated(tail: str, now: datetime, zone: tzinfo) -> datetime | None:
    here = now.astimezone(zone)
    if found := _DATE.search(tail):
        month = _MONTHS.index((found["month"] or found["month2"]).lower()) + 1
        day, said_year = int(found["day"] or found["day2"]), found["year"]
        year = int(said_year) if said_year else here.year
    elif found := _ISO_DATE.search(tail):
        year, month, day, said_year = int(found[1]), int(found[2]), int(found[3]), found[1]
    else:
        return None
    clock = _clock(tail[: found.start()] + " " + tail[found.end() :]) or time()
    try:
        moment = datetime(year, month, day, clock.hour, clock.minute, tzinfo=zone)
        past = not said_year and moment < now - timedelta(days=1)
        return moment.replace(year=year + 1) if past else moment
    except ValueError:
        return None


def _on_day(tail: str, now: datetime, zone: tzinfo) -> datetime | None:
    here = now.astimezone(zone)
    if not (found := _DAY.search(tail)):
        return None
    clock = _clock(tail)
    if found["rel"]:
        days = 1 if found["rel"].lower() == "tomorrow" else 0
        return _moment(here, days, clock or time(), zone) if clock or days else None
    days = (_DAYS.index(found["name"][:3].lower()) - here.weekday()) % 7
    moment = _moment(here, days, clock or time(), zone)
    return moment if moment >= now - GRACE else _moment(here, days + 7, clock or time(), zone)


def _by_clock(tail: str, now: datetime, zone: tzinfo) -> datetime | None:
    clock = _clock(tail)
    if clock is None:
        return None
    here = now.astimezone(zone)
    candidates = (_moment(here, days, clock, zone) for days in (-1, 0, 1, 2))
    return next(moment for moment in candidates if moment >= now - GRACE)


def _moment(here: datetime, days: int, clock: time, zone: tzinfo) -> datetime:
    return datetime.combine(here.date() + timedelta(days=days), clock, tzinfo=zone)


def _clock(text: str) -> time | None:
    """The first time of day: `7pm`, `7:20 pm`, `19:20`, midnight; a bare number is none."""
    if word := _WORD_TIME.search(text):
        return time(NOON if word[1].lower() == "noon" else 0)
    for found in _TIME.finditer(text):
        hour, minute, half = int(found["hour"]), int(found["minute"] or 0), (found["half"] or "").lower()
        if not half and found["minute"] is None:
            continue
        if half and 1 <= hour <= NOON:
            hour = hour % NOON + (NOON if half.startswith("p") else 0)
        if hour < 24 and minute < 60 and (not half or int(found["hour"]) <= NOON):  # noqa: PLR2004 - of a day
            return time(hour, minute)
    return None


_READERS: tuple[Callable[[str, datetime, tzinfo], datetime | None], ...] = (
    _iso, _epoch, _relative, _dated, _on_day, _by_clock,
)  # fmt: skip
