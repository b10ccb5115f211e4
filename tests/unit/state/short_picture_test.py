"""A picture is kept short after every entry and still shows what one with everything in it shows."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from autopilot.domain.events import (
    AgentAnswered,
    AgentStarted,
    Entry,
    Event,
    PhaseStarted,
    RunResumed,
    StepStarted,
    WaitEnded,
    WaitStarted,
)
from autopilot.domain.evidence import Usage
from autopilot.domain.results import Unanswered
from autopilot.domain.verdict import Retry
from autopilot.state import picture_attempt as pass_drawing
from autopilot.state.picture import Picture
from autopilot.state.picture_attempt import kept_short, steps_of
from autopilot.state.picture_run import after, grown, picture_of
from autopilot.views.terminal.frame import frame, text_of
from autopilot.views.terminal.screen import Screen
from unit.views.samples import RUN, SPEC, brief, finished, run_started

PASS = f"{RUN}/2"
STEPS = ("triage", "plan", "execute", "mini_verify", "fix", "verify")
Told = list[tuple[str, Entry]]


def answered(call: str) -> AgentAnswered:
    usage = Usage(input_tokens=10, output_tokens=1, cost_usd=0.01)
    return AgentAnswered(
        call=call, role="execute", outcome="ok", answer=None, text="", usage=usage, commands=(), seconds=1.0
    )


def ended(step: str) -> Event:
    return finished(step, Unanswered(role="execute", outcome="crashed", detail="no"), Retry(step=step, because="again"))


def waiting(call: str) -> WaitStarted:
    return WaitStarted(
        call=call, stream=PASS, phase="2", step="execute", role="execute", backend="claude", outcome="usage_limited",
        until="2026-02-09T20:00:00.000Z",
    )  # fmt: skip


steps = st.sampled_from(STEPS)
calls = st.sampled_from([f"{PASS}/execute/{number}" for number in range(1, 9)])
happenings = st.one_of(
    st.builds(lambda step: (PASS, StepStarted(step=step, n=1, base="b", nonce="n", boot="b", task="02-01")), steps),
    st.builds(lambda step: (PASS, ended(step)), steps),
    st.builds(lambda call: (PASS, AgentStarted(call=call, role="execute", pid=1, birth="")), calls),
    st.builds(lambda call: (PASS, answered(call)), calls),
    st.builds(lambda call: (RUN, waiting(call)), calls),
    st.builds(lambda call: (RUN, WaitEnded(call=call, backend="claude", how="due")), calls),
    st.just((RUN, RunResumed(pid=2, spec=SPEC))),
)


def timed(happened: Sequence[tuple[str, Event]]) -> Iterator[tuple[str, Entry]]:
    """Entries some seconds apart, numbered within their streams."""
    numbers: dict[str, int] = {}
    began: tuple[tuple[str, Event], ...] = ((RUN, run_started()), (RUN, PhaseStarted(brief=brief())))
    for second, (stream, event) in enumerate((*began, *happened)):
        numbers[stream] = numbers.get(stream, -1) + 1
        at = f"2026-02-09T{14 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"
        yield stream, Entry(number=numbers[stream], at=at, event=event)


def whole(told: Told) -> Picture:
    picture = Picture()
    for stream, entry in told:
        picture = grown(picture, stream, entry)
    return picture


def shown(picture: Picture) -> str:
    return text_of(frame(picture, Screen(width=120, height=60, now=picture.last)))


STARTED = StepStarted(step="plan", n=1, base="b", nonce="n", boot="b", task="02-01")


@example([(PASS, ended("plan")), (PASS, STARTED), (PASS, ended("triage"))], 1, 1)
@given(st.lists(happenings, max_size=60), st.integers(1, 4), st.integers(1, 4))
def test_shortened_after_every_entry_or_once_at_the_end_it_is_the_same(
    happened: list[tuple[str, Event]], most_steps: int, most_calls: int
) -> None:
    told = list(timed(happened))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pass_drawing, "STEPS_KEPT", most_steps)
        patch.setattr(pass_drawing, "CALLS_KEPT", most_calls)
        everything = whole(told)
        short = picture_of(told)

        assert short == shortened(everything)
        assert shown(short) == shown(everything)


def shortened(picture: Picture) -> Picture:
    """As `kept_short`, for the steps before the last as well: they were the last once."""
    known = picture.passes[PASS]
    rows = tuple(replace(row, calls=pass_drawing._newest_calls(row.calls)) for row in known.steps)
    return kept_short(replace(picture, passes={**picture.passes, PASS: replace(known, steps=rows)}), PASS)


def test_what_is_kept_does_not_grow_with_the_run() -> None:
    rounds: list[tuple[str, Event]] = []
    for number in range(300):
        rounds.append((PASS, StepStarted(step=STEPS[number % 6], n=1, base="b", nonce="n", boot="b")))
        for call in range(number % 50):
            rounds.append((PASS, AgentStarted(call=f"{number}/{call}", role="execute", pid=1, birth="")))
            rounds.append((PASS, answered(f"{number}/{call}")))
        rounds.append((PASS, ended(STEPS[number % 6])))
    told = list(timed(rounds))
    known = picture_of(told).passes[PASS]

    assert len(known.steps) <= pass_drawing.STEPS_KEPT + len(STEPS)
    assert max(len(row.calls) for row in known.steps) <= pass_drawing.CALLS_KEPT
    assert len(steps_of(PASS, [entry for stream, entry in told if stream == PASS])) == 300
    assert shown(picture_of(told)) == shown(whole(told))


def test_a_short_picture_shares_what_did_not_change() -> None:
    told = list(timed([(PASS, StepStarted(step="execute", n=1, base="b", nonce="n", boot="b"))]))
    picture = picture_of(told)

    assert after(picture, "asking/x", told[-1][1]) is picture
