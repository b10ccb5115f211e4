"""What of a run is worth telling a person who is away, and when not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import AgentAnswered, Entry, Event, Noted, PhaseFinished, RunFinished, RunStopped
from autopilot.domain.evidence import Usage
from autopilot.domain.verdict import Advance, AskHuman
from autopilot.policy.notification_rules import is_quiet, notice_of
from support.records import waits

OUTCOME = PhaseOutcome(phase="2", status="completed", reason="r", commit="c")


def answered(**more: Any) -> AgentAnswered:
    fields: dict[str, Any] = {
        "call": "c", "role": "plan", "outcome": "ok", "answer": None, "text": "", "usage": Usage(), "commands": (),
        "seconds": 1.0, **more,
    }  # fmt: skip
    return AgentAnswered(**fields)


def occasion(event: Event) -> str | None:
    found = notice_of("run/2", Entry(number=0, at="", event=event), "letters")
    return found.occasion if found else None


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (RunFinished(status="completed", exit_code=0, reason="r"), "finished"),
        (RunFinished(status="completed", exit_code=12, reason="r"), "finished"),
        (RunFinished(status="failed", exit_code=10, reason="r"), "failed"),
        (RunFinished(status="paused", exit_code=11, reason="r"), "person"),
        (RunStopped(exit_code=20, reason="r"), "cap"),
        (RunStopped(exit_code=21, reason="r"), "failed"),
        (RunStopped(exit_code=22, reason="r"), "limit"),
        (RunStopped(exit_code=0, reason="r"), "failed"),
        (RunStopped(exit_code=130, reason="interrupted"), None),
        (PhaseFinished(cycle=0, outcome=OUTCOME, verdict=AskHuman(question="q")), "person"),
        (PhaseFinished(cycle=0, outcome=OUTCOME, verdict=Advance()), None),
        (waits("usage_limited"), "limit"),
        (waits("overloaded"), None),
        (answered(outcome="usage_limited", resets_at="2026-01-01T12:00:00Z"), None),
        (answered(resets_at="2026-01-01T12:00:00Z"), None),
        (Noted(event="x"), None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Event) else f"{value}",
)
def test_an_entry_is_told_if_somebody_should_come(event: Event, told: str | None) -> None:
    assert occasion(event) == told


@pytest.mark.parametrize(
    ("hours", "now", "quiet"),
    [("", "03:00", False), ("22:00-07:00", "23:30", True), ("22:00-07:00", "06:59", True),
     ("22:00-07:00", "07:00", False), ("12:00-13:00", "12:30", True), ("12:00-13:00", "13:00", False)],
)  # fmt: skip
def test_quiet_hours_may_go_over_midnight(hours: str, now: str, quiet: bool) -> None:
    assert is_quiet(hours, now) == quiet


@given(st.times(), st.times(), st.times())
def test_a_moment_is_quiet_in_the_hours_or_in_those_between_them(begin: Any, end: Any, now: Any) -> None:
    first, last, at = (f"{moment:%H:%M}" for moment in (begin, end, now))
    if first != last:
        assert is_quiet(f"{first}-{last}", at) != is_quiet(f"{last}-{first}", at)
