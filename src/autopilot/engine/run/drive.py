"""Drives a run: one pass after the other, or a thread a pass and one main thread that decides and writes."""

import threading
from dataclasses import dataclass
from queue import SimpleQueue
from types import TracebackType
from typing import Self

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import (
    MergeRefused,
    PhaseFinished,
    PhaseLanded,
    PhaseMerged,
    RunEvent,
    RunFinished,
    RunStopped,
)
from autopilot.engine.decide.brakes import Tripped
from autopilot.engine.decide.next_move import Complete, Continue, End, Land, Merge, line
from autopilot.engine.decide.next_step import Finish
from autopilot.engine.decide.parallel_moves import Named, Work, is_shared, named_files, next_moves
from autopilot.engine.decide.parts import part_records, stood_on
from autopilot.engine.decide.split_moves import Gather
from autopilot.engine.perform.context import Hands
from autopilot.engine.perform.run_log import Streams
from autopilot.engine.run.combine import gather, split_phase
from autopilot.engine.run.merge_phase import merge, merged_as_it_is
from autopilot.engine.run.moves import act, close_pass, close_split, land, next_event, run_phase
from autopilot.engine.run.verdicts import attend
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.policy.task_progress import command_runs


def run_all(hands: Hands, streams: Streams) -> RunFinished | RunStopped:
    """Drive the run to its end, or to the brake that stops it, from wherever its journal left off."""
    with Team(hands, streams) as team:
        while True:
            attend(hands.inbox, streams)
            try:
                event = team.next_event() if is_shared(streams.run()) else next_event(hands, streams)
            except Tripped as stop:
                team.halt()
                event = stop.brake.event()
            streams.append_run(event)
            if isinstance(event, RunFinished | RunStopped):
                return event
            if isinstance(event, PhaseFinished):
                hands.atlas.chart(line(streams.run()))


@dataclass(frozen=True, slots=True)
class Ended:
    """A pass came to its end; what the run makes of it is yet to be said."""

    record: PhaseRecord
    finish: Finish


Done = Ended | PhaseOutcome | PhaseMerged | MergeRefused | PhaseLanded


@dataclass(frozen=True, slots=True)
class News:
    """From a thread: what it has done, what ended it, or that a step of it is over."""

    key: str
    done: Done | None = None
    error: BaseException | None = None


class Team:
    """
    The threads of one run. They run steps and append to their passes' streams; all else is the main thread's.

    Left for whatever reason, no thread and nothing it started is there any more.
    """

    def __init__(self, hands: Hands, streams: Streams) -> None:
        self._hands, self._streams = hands, streams
        self._news = SimpleQueue[News]()
        self._threads: dict[str, threading.Thread] = {}
        self._places: dict[int, Hands] = {0: hands}
        self._recalled: dict[int, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.halt()

    def halt(self) -> None:
        """End every thread at once. What they had finished is on disk, what they had not is done again by a resume."""
        if self._threads:
            with self._hands.halted():
                for thread in self._threads.values():
                    thread.join()
            self._threads.clear()
            self._streams.forget()

    def next_event(self) -> RunEvent:
        """Set everybody to work, then do what is to be done at once or wait until somebody is done."""
        while True:
            event = self._at_once(self._streams.run()) or self._closed(self._heard(self._news.get()))
            if event is not None:
                return event

    def _at_once(self, run: RunRecord) -> RunEvent | None:
        for move in next_moves(run, self._named(run), self._hands.cores):
            if isinstance(move, Merge) and (merged := merged_as_it_is(move)):
                return merged
            if isinstance(move, Continue | Merge | Gather | Land):
                self._begin(move, run)
            elif not (isinstance(move, Complete | End) and self._threads):
                return act(move, self._hands, self._streams)
        return None

    def _closed(self, done: Done | None) -> RunEvent | None:
        run = self._streams.run()
        match done:
            case Ended(record=record, finish=finish):
                return close_pass(record, finish, run, self._hands, self._streams)
            case PhaseOutcome() as outcome:
                return close_split(outcome, run, self._hands, self._streams)
            case _:
                return done

    def _named(self, run: RunRecord) -> Named:
        return {brief.phase.id: named_files(self._streams.phase(brief)) for brief in run.open_passes}

    def _heard(self, news: News) -> Done | None:
        if news.error is not None:
            raise news.error
        if news.done is not None:
            self._threads.pop(news.key).join()
        return news.done

    def _begin(self, move: Work, run: RunRecord) -> None:
        # One at a time of what moves a line.
        key = move.brief.phase.id if isinstance(move, Continue) else "line"
        if key in self._threads:
            return
        slot = move.brief.slot if isinstance(move, Continue) else 0
        hands = self._placed(slot)
        thread = threading.Thread(target=self._work, args=(key, move, run, hands), name=f"{key}", daemon=True)
        self._threads[key] = thread
        thread.start()

    def _placed(self, slot: int) -> Hands:
        """The hands of that slot, knowing what has been found out by now."""
        if slot not in self._places:
            assert self._hands.elsewhere is not None
            self._places[slot] = self._hands.elsewhere(slot)
        hands, passes = self._places[slot], self._streams.all_passes()
        for record in passes[self._recalled.get(slot, 0) :]:
            hands.facts.recall(command_runs(record))
        over = next((n for n, record in enumerate(passes) if self._is_open(record)), len(passes))
        self._recalled[slot] = over
        return hands

    def _is_open(self, record: PhaseRecord) -> bool:
        return record.brief in self._streams.run().open_passes

    def _work(self, key: str, move: Work, run: RunRecord, hands: Hands) -> None:
        try:
            done = self._done(key, move, run, hands)
        except BaseException as error:  # noqa: BLE001 - it is the main thread's to raise, which ends the others
            self._news.put(News(key, error=error))
        else:
            self._news.put(News(key, done=done))

    def _done(self, key: str, move: Work, run: RunRecord, hands: Hands) -> Done:
        match move:
            case Continue(brief=brief):
                return Ended(*run_phase(brief, hands, self._streams, lambda: self._news.put(News(key))))
            case Merge(phase=phase):
                return merge(move, run, stood_on(run, self._streams, phase), hands)
            case Land():
                return land(move, run, hands, self._streams)
            case Gather(phase=phase):
                whole, parts = self._streams.passes(phase)[-1], part_records(run, self._streams, phase)
                return gather(run, split_phase(run, phase), whole, parts, hands)
