"""Clocks give UTC with milliseconds and a Z."""

import re

import pytest

from autopilot.journal.clock import FixedClock, SystemClock, TickingClock
from autopilot.ports.agents import Clock


@pytest.mark.parametrize("clock", [SystemClock(), FixedClock(), TickingClock()], ids=lambda c: type(c).__name__)
def test_every_clock_speaks_the_same_form(clock: Clock) -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", clock.now())
    assert clock.monotonic() <= clock.monotonic()
    assert clock.now() <= clock.now()


def test_a_fixed_clock_stands_still() -> None:
    clock = FixedClock("2026-03-04T05:06:07+02:00")

    assert [clock.now(), clock.now()] == ["2026-03-04T03:06:07.000Z"] * 2
    assert clock.monotonic() == clock.monotonic()


def test_a_ticking_clock_moves_on_with_each_look() -> None:
    clock = TickingClock("2026-01-01T23:59:59.500Z", step_s=0.25)

    assert [clock.now() for _ in range(3)] == [
        "2026-01-01T23:59:59.500Z",
        "2026-01-01T23:59:59.750Z",
        "2026-01-02T00:00:00.000Z",
    ]
    assert clock.monotonic() == 0.75
