from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from autopilot.text.times import elapsed

TIMES = st.datetimes(datetime(1970, 1, 1), datetime(2399, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001 - bounds have no zone


def written(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@given(TIMES, TIMES)
def test_the_seconds_between_two_times_are_those_of_the_calendar(one: datetime, other: datetime) -> None:
    begin, end = (datetime.fromisoformat(written(time)) for time in (one, other))

    assert abs(elapsed(written(one), written(other)) - max(0.0, (end - begin) / timedelta(seconds=1))) < 0.001


def test_a_clock_that_was_put_back_takes_nothing_away() -> None:
    assert elapsed("2026-03-01T00:00:01.000Z", "2026-02-28T23:59:59.000Z") == 0.0
    assert elapsed("2028-02-28T23:59:59.500Z", "2028-03-01T00:00:00.000Z") == 86400.5
