"""A wait for an agent as it is seen: in lines, in the live picture, in `status` and on the report's timeline."""

import pytest

from autopilot.cli.verbs.status import screen
from autopilot.domain.events import Entry, Event, PhaseStarted, RunResumed, StepStarted, WaitEnded
from autopilot.state.picture import Picture
from autopilot.state.picture_run import picture_of
from autopilot.state.wait_words import wait_lines
from autopilot.views.terminal.frame import frame, text_of
from autopilot.views.terminal.screen import Screen
from autopilot.views.terminal.time_left import pass_seconds, run_seconds, step_seconds
from support.records import RUN, SPEC, brief, phase, started, waits

STEP = StepStarted(step="execute", n=1, base="b", nonce="n", boot="b")
OVER = WaitEnded(call=waits().call, backend="claude", how="due")


def drawn(*events: tuple[int, Event]) -> Picture:
    """A run from noon on; each event at its minute, those of a step in the stream of the pass."""
    first: list[tuple[int, Event]] = [
        (0, started(phase("1"))),
        (0, PhaseStarted(brief=brief(phase=phase("1")))),
        (0, STEP),
    ]
    told = [
        (f"{RUN}/1" if isinstance(event, StepStarted) else RUN, Entry(number=n, at=at(minute), event=event))
        for n, (minute, event) in enumerate([*first, *events])
    ]
    return picture_of(told)


def at(minute: int) -> str:
    return f"2026-01-01T{12 + minute // 60}:{minute % 60:02}:00.000Z"


def shown(picture: Picture, minute: int) -> str:
    return text_of(frame(picture, Screen(width=110, height=40, now=at(minute))))


def test_a_wait_is_shown_with_its_countdown_and_the_key_that_ends_it() -> None:
    text = shown(drawn((10, waits(told=True))), 30)

    assert "waiting, 30m 00s left (r: ask now): usage limit of claude, phase 1 execute" in text
    assert "waiting" not in shown(drawn((10, waits()), (60, OVER)), 61)


def test_clocks_stand_still_while_all_that_is_open_waits() -> None:
    waiting = drawn((10, waits()))
    (known,) = waiting.passes.values()
    assert known.step is not None
    assert (run_seconds(waiting, at(50)), pass_seconds(known, at(50))) == (600, 600)
    assert step_seconds(known.step, waiting, at(50)) == 600

    going_on = drawn((10, waits()), (50, OVER))
    (known,) = going_on.passes.values()
    assert known.step is not None
    assert (run_seconds(going_on, at(55)), pass_seconds(known, at(55))) == (900, 900)
    assert step_seconds(known.step, going_on, at(55)) == 900


def test_a_run_taken_up_again_still_shows_what_it_waits_for() -> None:
    picture = drawn((10, waits()), (30, RunResumed(pid=2, spec=SPEC)))

    assert "usage limit of claude" in shown(picture, 40)
    (known,) = picture.passes.values()
    assert pass_seconds(known, at(40)) == 600


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (waits(told=True), "[Phase 1] Waiting: usage limit of claude. The step execute goes on at 2026-01-01 13:00:00 UTC"),
        (waits(), "which did not say until when"),
        (waits("overloaded", attempt=3), "trouble at the service of claude (overloaded, 3 in a row)"),
        (waits(until="soon"), "goes on later"),
        (OVER, "[Phase 1] Going on: claude is asked again."),
        (WaitEnded(call=waits().call, backend="codex", how="failed_over"), "codex is asked in its place"),
    ],
    ids=["told", "unknown", "overloaded", "no time", "due", "another"],
)  # fmt: skip
def test_a_wait_is_told_in_plain_lines(event: Event, words: str) -> None:
    assert words in "\n".join(wait_lines(Entry(number=0, at=at(0), event=event)))


def test_status_says_what_a_run_waits_for() -> None:
    wait = {
        "phase": "1",
        "step": "execute",
        "agent": "claude",
        "outcome": "usage_limited",
        "until": "2126-01-01T13:00:00.000Z",
    }
    lines = screen({"_meta": {"status": "running", "run_id": "r"}, "phases": {}, "waiting": [wait]}, alive=True)

    assert any(line.startswith("Waiting: phase 1, execute: usage limit of claude until 2126-01-01") for line in lines)
    assert "To ask at once: autopilot retry" in lines
