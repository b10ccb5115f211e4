"""When a limit ends: a corpus of messages under several clocks and zones, and what is no such message."""

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.agents.reset_times import GRACE, epoch_time, reset_time

BERLIN, NEW_YORK, KOLKATA, TOKYO = (
    ZoneInfo(name) for name in ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Tokyo")
)
# Name to clock and zone. Sunday 15 November 2026, 06:44 UTC is 07:44 in Berlin and 01:44 in New York.
NOON_SUMMER = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
MORNING = datetime(2026, 11, 15, 6, 44, tzinfo=UTC)
EVENING = datetime(2026, 12, 31, 22, 30, tzinfo=UTC)
BEFORE_SPRING = datetime(2026, 3, 28, 20, 0, tzinfo=UTC)

# Message, clock, zone of the machine, and the reset in UTC.
POSITIVE: tuple[tuple[str, datetime, tzinfo, str], ...] = (
    ("You've hit your 5-hour limit · resets 8:16am (UTC)", MORNING, UTC, "2026-11-15T08:16"),
    ("You've hit your 5-hour limit · resets 8:16am (UTC)", MORNING, BERLIN, "2026-11-15T08:16"),
    ("Session limit reached ∙ resets 7:20pm (Europe/Berlin)", MORNING, UTC, "2026-11-15T18:20"),
    ("Session limit reached ∙ resets 7:20pm (Europe/Berlin)", NOON_SUMMER, UTC, "2026-07-01T17:20"),
    ("5-hour limit reached ∙ resets 3am", MORNING, BERLIN, "2026-11-16T02:00"),
    ("5-hour limit reached ∙ resets 3am", MORNING, NEW_YORK, "2026-11-15T08:00"),
    ("Weekly limit reached ∙ resets Nov 18, 3pm (America/New_York)", MORNING, UTC, "2026-11-18T20:00"),
    ("Weekly limit reached ∙ resets Nov 18 at 9:30am", MORNING, BERLIN, "2026-11-18T08:30"),
    ("You've hit your weekly limit · resets Thu 10am", MORNING, UTC, "2026-11-19T10:00"),
    ("You've hit your weekly limit · resets Sunday at 05:00", MORNING, UTC, "2026-11-22T05:00"),
    ("Opus limit reached. It resets on Monday at midnight UTC.", MORNING, TOKYO, "2026-11-16T00:00"),
    ("Claude AI usage limit reached|1794730573", MORNING, UTC, "2026-11-15T08:16:13"),
    ("Claude AI usage limit reached|1794730573000", MORNING, TOKYO, "2026-11-15T08:16:13"),
    ("rate limited: resets_at=1794730573", MORNING, NEW_YORK, "2026-11-15T08:16:13"),
    ('{"error":"usage_limit_reached","resetsAt":1794730573}', MORNING, UTC, "2026-11-15T08:16:13"),
    ("You’ve hit your usage limit. Visit the settings page or try again at 7:49 AM.", MORNING, UTC, "2026-11-15T07:49"),
    (
        "You’ve hit your usage limit. Visit the settings page or try again at 7:49 AM.",
        MORNING,
        BERLIN,
        "2026-11-15T06:49",
    ),
    ("You've hit your usage limit. Try again at Nov 18th, 2026 7:49 AM.", MORNING, UTC, "2026-11-18T07:49"),
    ("You've hit your usage limit. Try again at November 18, 2026 11:05 PM.", MORNING, KOLKATA, "2026-11-18T17:35"),
    ("usage limit reached, try again in 3h 12m", MORNING, UTC, "2026-11-15T09:56"),
    ("Usage limit reached. Try again in 3 hours and 12 minutes.", MORNING, TOKYO, "2026-11-15T09:56"),
    ("You've hit your usage limit. Try again in 2 days 4 hours 30 minutes.", MORNING, UTC, "2026-11-17T11:14"),
    ("You've hit your usage limit. Try again in 45 minutes.", MORNING, UTC, "2026-11-15T07:29"),
    (
        "Rate limit reached for gpt-5 on tokens per min. Please try again in 1.5s.",
        MORNING,
        UTC,
        "2026-11-15T06:44:01.500",
    ),
    ("Rate limit reached. Please try again in 820ms.", MORNING, UTC, "2026-11-15T06:44:00.820"),
    ("Too many requests. Please retry after 90 seconds.", MORNING, UTC, "2026-11-15T06:45:30"),
    ("429 Too Many Requests (retry-after: 120)", MORNING, UTC, "2026-11-15T06:46"),
    ("HTTP 429 with Retry-After=3600", MORNING, BERLIN, "2026-11-15T07:44"),
    ("You exceeded your current quota. Please retry in 34.07s.", MORNING, UTC, "2026-11-15T06:44:34.070"),
    ('RESOURCE_EXHAUSTED: quota exceeded, "retryDelay": "41s"', MORNING, UTC, "2026-11-15T06:44:41"),
    ("Quota exhausted; access resets after 6h22m10s.", MORNING, UTC, "2026-11-15T13:06:10"),
    ("Your quota will reset after 11 hours, 5 minutes.", MORNING, UTC, "2026-11-15T17:49"),
    ("Daily quota exceeded, resets at midnight PT", MORNING, UTC, "2026-11-15T08:00"),
    ("Daily quota exceeded, resets at midnight Pacific (PST)", NOON_SUMMER, BERLIN, "2026-07-02T07:00"),
    ("Daily limit reached: resets tomorrow 02:00", MORNING, UTC, "2026-11-16T02:00"),
    ("Daily limit reached: resets tomorrow at 2am", MORNING, BERLIN, "2026-11-16T01:00"),
    ("Limit exceeded. Available again tomorrow at 02:00 UTC", EVENING, NEW_YORK, "2027-01-01T02:00"),
    ("Limit exceeded. Available again tomorrow", EVENING, UTC, "2027-01-01T00:00"),
    ("You have hit your limit. It resets today at 17:00.", MORNING, UTC, "2026-11-15T17:00"),
    ("Requests are blocked until 2026-11-15T09:30:00Z (rate limit).", MORNING, BERLIN, "2026-11-15T09:30"),
    ("Rate limit hit; resets at 2026-11-15T10:30:00+01:00", MORNING, UTC, "2026-11-15T09:30"),
    ("Rate limit hit; resets at 2026-11-15 10:30:00", MORNING, BERLIN, "2026-11-15T09:30"),
    ("Rate limit hit; resets at 2026-11-15 10:30 UTC", MORNING, BERLIN, "2026-11-15T10:30"),
    ("Monthly premium requests used up; allowance resets on 2026-12-01", MORNING, UTC, "2026-12-01T00:00"),
    ("You have used up your credits, they renew on 1 December", MORNING, UTC, "2026-12-01T00:00"),
    ("You have used up your credits, they renew on Jan 2", EVENING, UTC, "2027-01-02T00:00"),
    ("Usage limit reached, unlocks at 15:00 GMT+2", MORNING, UTC, "2026-11-15T13:00"),
    ("Usage limit reached, unlocks at 15:00 UTC-05:30", MORNING, UTC, "2026-11-15T20:30"),
    ("Usage limit reached. Come back at 9 p.m. ET.", MORNING, UTC, "2026-11-16T02:00"),
    ("Usage limit reached. Next window opens at 11:15 CET", MORNING, UTC, "2026-11-15T10:15"),
    ("Usage limit reached. Next window opens at 11:15 JST", MORNING, UTC, "2026-11-16T02:15"),
    ("You've reached 100% of your session limit · resets 9:00am", MORNING, UTC, "2026-11-15T09:00"),
    ("Limit reached (97% used by another project) · resets 9:00am", MORNING, UTC, "2026-11-15T09:00"),
    ("Too many requests, wait 12 minutes", MORNING, UTC, "2026-11-15T06:56"),
    ("Usage limit: please try again in an hour", MORNING, UTC, "2026-11-15T07:44"),
    ("Usage limit: please try again in half an hour", MORNING, UTC, "2026-11-15T07:14"),
    ("Limit reached · resets 12am", MORNING, UTC, "2026-11-16T00:00"),
    ("Limit reached · resets 12pm", MORNING, UTC, "2026-11-15T12:00"),
    ("Limit reached · resets at noon (Asia/Kolkata)", MORNING, UTC, "2026-11-16T06:30"),
    ("Limit reached · resets 2:30am (Europe/Berlin)", BEFORE_SPRING, UTC, "2026-03-29T01:30"),
    ("Limit reached · resets 6:40am", MORNING, UTC, "2026-11-15T06:40"),
    ("Limit reached · resets 12:05 AM", EVENING, BERLIN, "2026-12-31T23:05"),
)
NEGATIVE = (
    "You've used 97% of your session limit · resets 7:20pm (Europe/Berlin)",
    "97 % used, resets 7pm",
    "Approaching 5-hour limit · resets at 7pm",
    "Approaching usage limit ∙ resets at 7pm",
    "Warning: nearing your weekly limit, resets Thursday 10am",
    "You have 3% of your weekly limit remaining; it resets Monday 9am.",
    "Heads up, almost at your limit. It resets at 15:00.",
    "API Error: Request rejected (429) · You have hit your limit",
    "exceeded retry limit, last status: 429 Too Many Requests",
    "Quota exceeded. Check your plan and billing details.",
    "Credit balance is too low",
    "You have exhausted your daily quota on this model. Please wait and try again later.",
    "Limit reached. Request id 1794730573 at 7:20pm",
    "Rate limit reached at 10:30:22 for org-123",
    "The connection was reset at 10:30:22",
    "HEAD is now at 1794730573 reset",
    "usage limit reached, try again at 7",
    "usage limit reached, try again at 27:99",
    "usage limit reached, resets in 900 days",
    "usage limit reached|17947305731234567",
    "usage limit reached; resets 2026-13-45T99:00:00Z",
    "retry 2 of 5",
    "The doors open at 10:30 and the tests wait until then",
    "",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "now", "zone", "expected"), POSITIVE, ids=[f"{n}: {row[0][:60]}" for n, row in enumerate(POSITIVE)]
)
def test_a_reached_limit_says_when_it_ends(text: str, now: datetime, zone: tzinfo, expected: str) -> None:
    assert reset_time(text, now, zone) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize("text", NEGATIVE, ids=[text[:60] or "nothing" for text in NEGATIVE])
@pytest.mark.parametrize("now", [MORNING, NOON_SUMMER], ids=["winter", "summer"])
def test_a_warning_or_a_time_of_something_else_is_no_reset(text: str, now: datetime) -> None:
    assert reset_time(text, now, BERLIN) is None


@given(st.text(max_size=200), st.sampled_from([UTC, BERLIN, TOKYO]))
def test_any_text_is_survived_and_what_comes_out_is_near(text: str, zone: tzinfo) -> None:
    found = reset_time(f"limit reached, resets {text}", MORNING, zone)

    assert found is None or abs(found - MORNING) <= timedelta(days=62)


@given(
    st.integers(0, 700 * 1440).map(lambda minutes: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)),
    st.integers(0, 1439),
)
def test_a_time_of_day_is_the_next_one(now: datetime, minute: int) -> None:
    found = reset_time(f"limit reached, resets {minute // 60:02}:{minute % 60:02} UTC", now, BERLIN)

    assert found is not None
    assert now - GRACE <= found <= now + timedelta(days=1)
    assert (found.hour, found.minute) == divmod(minute, 60)


@pytest.mark.parametrize(
    ("number", "expected"),
    [(1794730573, "2026-11-15T08:16:13"), (1794730573000.0, "2026-11-15T08:16:13"), (1e300, None)],
    ids=["seconds", "milliseconds", "no time at all"],
)
def test_a_typed_time_is_seconds_or_milliseconds(number: float, expected: str | None) -> None:
    assert epoch_time(number) == (expected and datetime.fromisoformat(expected).replace(tzinfo=UTC))
