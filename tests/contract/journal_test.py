"""What every journal promises, on disk and in memory alike."""

import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autopilot.domain.errors import StorageFailed
from autopilot.domain.events import Event, Noted
from autopilot.journal.clock import TickingClock
from autopilot.journal.memory import MemoryJournal
from autopilot.journal.sqlite import SqliteJournal
from autopilot.ports.agents import Journal
from unit.journal.event_examples import KINDS, samples, values


@pytest.fixture(params=["memory", "sqlite"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    if request.param == "memory":
        yield MemoryJournal(TickingClock())
    else:
        with SqliteJournal(tmp_path / "journal.db", TickingClock()) as opened:
            yield opened


def test_an_unknown_stream_is_empty(journal: Journal) -> None:
    assert journal.load("run-1") == ()
    assert journal.streams() == ()


def test_what_was_appended_is_loaded_in_order(journal: Journal) -> None:
    appended = tuple(journal.append("run-1", number, event) for number, event in enumerate(samples()))

    assert journal.load("run-1") == appended
    assert tuple(entry.event for entry in appended) == samples()
    assert [entry.number for entry in appended] == [0, 1, 2, 3, 4]
    assert appended[0].at == "2026-01-01T00:00:00.000Z"
    assert appended[1].at == "2026-01-01T00:00:01.000Z"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(data=st.data())
def test_every_kind_of_event_comes_back_equal(journal: Journal, kind: type[Event], data: st.DataObject) -> None:
    event = data.draw(values(kind))
    number = len(journal.load("all"))

    assert journal.append("all", number, event).event == event
    assert journal.load("all")[number].event == event


@pytest.mark.parametrize("number", [-1, 0, 2, 7])
def test_a_wrong_number_is_refused_and_nothing_is_written(journal: Journal, number: int) -> None:
    first = journal.append("run-1", 0, samples()[0])

    with pytest.raises(StorageFailed, match="another process wrote"):
        journal.append("run-1", number, samples()[1])
    assert journal.load("run-1") == (first,)


def test_streams_are_listed_by_their_first_entry(journal: Journal) -> None:
    for stream, number in (("b", 0), ("a", 0), ("b", 1), ("a/1~2", 0)):
        journal.append(stream, number, samples()[1])

    assert journal.streams() == ("b", "a", "a/1~2")
    assert len(journal.load("b")) == 2


@pytest.mark.parametrize(
    "text", ["😀" * 5, "\x00\x01\x7f", "zeile\r\n'\"\\", "x" * 3_000_000], ids=["astral", "control", "quotes", "3 MB"]
)
def test_any_text_is_kept_as_it_is(journal: Journal, text: str) -> None:
    journal.append(text[:9], 0, Noted(event="noted", details={"text": text}))

    assert journal.load(text[:9])[0].event == Noted(event="noted", details={"text": text})


def test_text_that_is_no_unicode_cannot_stop_a_run(journal: Journal) -> None:
    entry = journal.append("run-1", 0, Noted(event="noted", details={"text": ["half \ud83d pair", 1]}))

    assert entry.event == Noted(event="noted", details={"text": ["half \ufffd pair", 1]})
    assert journal.load("run-1") == (entry,)


def test_what_could_not_be_read_back_is_not_written(journal: Journal) -> None:
    unmeasured = msgspec.structs.replace(samples()[4], seconds=float("nan"))

    with pytest.raises(StorageFailed, match="entry 0 of 'run-1'"):
        journal.append("run-1", 0, unmeasured)
    assert journal.load("run-1") == ()


def test_threads_can_share_a_journal(journal: Journal) -> None:
    def write(stream: str) -> None:
        for number in range(10):
            journal.append(stream, number, samples()[number % 5])

    threads = [threading.Thread(target=write, args=(f"run/{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [len(journal.load(f"run/{n}")) for n in range(4)] == [10, 10, 10, 10]
