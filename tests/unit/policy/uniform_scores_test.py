"""Scores too much alike: when a row of them is told, what it leads to, and that nothing but the run counts."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.events import Entry, Event, PhaseFinished
from autopilot.domain.verdict import AskHuman, Retry, Stop
from autopilot.history.record import RunRecord
from autopilot.policy.uniform_scores import alert, alerts, completed, enhanced, suspects, uniform
from autopilot.state.build_state import state_of
from support.records import passed, phase, started

TENTHS = st.lists(st.integers(70, 100), max_size=14)


def finished(scores: Sequence[float]) -> tuple[PhaseFinished, ...]:
    return tuple(passed(str(n), score) for n, score in enumerate(scores, start=1))


def run_of(*events: Event) -> RunRecord:
    told = (started(*(phase(str(n)) for n in range(1, 15))), *events)
    return RunRecord(
        entries=tuple(Entry(number=n, at=f"2026-01-01T12:00:{n:02}.000Z", event=event) for n, event in enumerate(told))
    )


@pytest.mark.parametrize(
    ("scores", "event"),
    [
        ((9.4, 9.4), None),
        ((9.2, 9.4, 9.3), "rubber_stamp_warning"),
        ((9.1, 9.4, 9.3), None),
        ((9.4,) * 4, None),
        ((8.0, *(9.4,) * 5), "rubber_stamp_enhanced"),
        ((9.4,) * 6, None),
        ((9.4,) * 7, "rubber_stamp_critical"),
        ((9.4,) * 9, "rubber_stamp_critical"),
    ],
    ids=[
        "two", "INTG-05a three within 0.2", "three apart", "told at three", "INTG-05b five", "told at five",
        "INTG-05c seven", "INTG-05c and each beyond",
    ],
)  # fmt: skip
def test_a_row_of_uniform_scores_is_told_when_it_reaches_a_tier(scores: tuple[float, ...], event: str | None) -> None:
    told = alert(completed(finished(scores)))

    assert (told.event if told else None) == event


def test_the_messages_name_the_scores_and_how_many() -> None:
    """INTG-05a, INTG-05c."""
    first, _, last = alerts(completed(finished((9.3, 9.4, 9.4, 9.4, 9.4, 9.4, 9.5))))

    assert first.message == ("Uniform alignment scores detected (9.3-9.4/10 x 3 phases). Possible rubber-stamping.")
    assert last.message.startswith("CRITICAL: 7 consecutive uniform alignment scores")


@given(TENTHS)
def test_every_row_lies_within_a_fifth_and_could_not_be_longer(tenths: list[int]) -> None:
    """INTG-05a."""
    row = uniform(completed(finished([t / 10 for t in tenths])))
    inside, longer = tenths[len(tenths) - len(row) :], tenths[max(0, len(tenths) - len(row) - 1) :]

    assert not inside or max(inside) - min(inside) <= 2
    assert len(row) == len(tenths) or max(longer) - min(longer) > 2


@given(TENTHS)
def test_after_a_critical_row_every_phase_that_remains_gets_a_harder_look(tenths: list[int]) -> None:
    """INTG-05c: whatever scores come behind it."""
    events = finished([*(9.4,) * 7, *(t / 10 for t in tenths)])
    looks = [enhanced(run_of(*events[:length])) for length in range(len(events) + 1)]

    assert looks == [False] * 5 + [True] * (len(events) - 4)


def test_the_harder_look_ends_when_the_row_does() -> None:
    """INTG-05b: five alike ask it of the next phase; a score apart ends it."""
    runs = [run_of(*finished(scores)) for scores in ((9.4,) * 4, (9.4,) * 5, ((9.4,) * 5 + (8.1,)))]

    assert [enhanced(run) for run in runs] == [False, True, False]


@pytest.mark.parametrize(
    "verdict",
    [Stop(because="no"), AskHuman(question="?"), Retry(step="remediate", because="low")],
    ids=["failed", "waits", "is remediated"],
)
def test_only_a_completion_counts(verdict: Stop | AskHuman | Retry) -> None:
    """INTG-05a."""
    other = msgspec.structs.replace(passed("3", 9.4), verdict=verdict)

    assert alert(completed((*finished((9.4, 9.4)), other))) is None


def test_what_was_told_is_in_the_state_and_comes_from_the_journal_alone() -> None:
    """INTG-05a, INTG-05b, INTG-05c: the events, and the suspects among the phases."""
    run = run_of(passed("9", 7.0), *finished((9.4,) * 8))
    state = state_of(run, {}, events=None)

    names = [line["event"] for line in state["event_log"] if line["event"].startswith("rubber")]
    assert names == ["rubber_stamp_warning", "rubber_stamp_enhanced", *["rubber_stamp_critical"] * 2]
    marked = {name for name, phase_ in state["phases"].items() if phase_["rubber_stamp_suspect"]}
    assert marked == suspects(run) == set("12345678")


@given(TENTHS)
def test_what_has_been_told_stays_told(tenths: list[int]) -> None:
    """A resumed run tells no other story: alerts only ever join those before them."""
    events = finished([t / 10 for t in tenths])
    told = [tuple(alerts(completed(part))) for part in accumulate(((e,) for e in events), initial=())]

    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(told))
