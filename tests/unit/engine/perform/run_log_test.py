"""The streams of a run, written by several threads."""

import threading

from autopilot.domain.events import Entry, Noted
from autopilot.engine.perform.run_log import Streams
from autopilot.journal.clock import TickingClock
from autopilot.journal.memory import MemoryJournal
from support.records import RUN, started


def test_threads_append_one_after_the_other_and_listeners_hear_them_in_that_order() -> None:
    heard: list[tuple[str, int]] = []
    journal = MemoryJournal(TickingClock())

    def hear(stream: str, entry: Entry) -> None:
        heard.append((stream, entry.number))
        assert entry in streams.run().entries or stream != RUN

    streams = Streams(journal, RUN, (hear,))
    streams.append_run(started())

    def write(name: str) -> None:
        for _ in range(20):
            streams.append_run(Noted(event=name))
            streams.append(f"{RUN}/{name}", Noted(event=name))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [number for stream, number in heard if stream == RUN] == list(range(61))
    assert all([n for stream, n in heard if stream == f"{RUN}/{name}"] == list(range(20)) for name in "abc")
    assert len(journal.load(RUN)) == 61
