"""Agents and a person asked before a run, such that a crash at any instant asks neither of them twice."""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from autopilot.domain.agent_call import Question
from autopilot.domain.attempt import Brief
from autopilot.domain.events import Noted, PhaseStarted, RunFinished, StepStarted, stream_of
from autopilot.domain.people import Answering, Asked, Batch, Given
from autopilot.engine.perform.agent_calls import StepAgents
from autopilot.engine.perform.context import Hands
from autopilot.engine.perform.run_log import Streams
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.ports.agents import Journal
from autopilot.text.clean import harmless

A = TypeVar("A", bound=msgspec.Struct)

FOLDER = "asking/"
"""Before the name of every stream of a consultation: a stream with a slash in its name is no run."""

ANSWERED = "person_answered"


class Consultation:
    """
    One sitting of mapping or discussing, in a stream of its own.

    What agents and the person said is in the journal before it is used, and taken from there when it is asked again.
    """

    def __init__(self, hands: Hands, streams: Streams, name: str, person: Answering) -> None:
        self.name, self.person, self.clock = name, person, hands.clock
        self._hands, self._streams = hands, streams

    def agent(self, brief: Brief, step: str, n: int, question: Callable[[PhaseRecord], Question[A]]) -> A:
        """Ask on a disposable checkout of the base. Raises `NoAnswer`, and `Tripped` for a call beyond a cap."""
        begun = self._begun(brief)
        stream = stream_of(FOLDER + self.name, begun.phase.id, begun.number)
        record = self._opened(begun, step, n)
        if record is None:
            started = StepStarted(step=step, n=n, base=begun.base, nonce=self._hands.nonce(), boot=self._hands.boot)
            self._streams.append(stream, started)
            record = self._opened(begun, step, n)
        assert record is not None
        agents = StepAgents(self._hands, self._streams, record, stream=stream, resumed=False)
        return agents.ask(question(record)).value

    def ask(self, asked: Asked) -> str | None:
        """What the person says, or has said before; on disk when this returns."""
        said = self.heard(asked.key)
        if said is None:
            given = self.person.ask(asked)
            said = None if given is None else self._keep(asked.phase, Given(key=asked.key, answer=given)).answer
        return said

    def answers(self, batch: Batch, take: Callable[[Given], None]) -> None:
        """Put questions together; each answer is on disk before it is handed on, and then the next is waited for."""
        phases = {asked.key: asked.phase for asked in batch.questions}
        for given in self.person.batch(batch):
            take(self._keep(phases[given.key], given))

    def heard(self, key: str) -> str | None:
        for note in reversed(tuple(self._streams.run().of(Noted))):
            if note.event == ANSWERED and note.details["key"] == key:
                return str(note.details["answer"])
        return None

    def passes(self) -> tuple[PhaseRecord, ...]:
        return self._streams.all_passes()

    def _keep(self, phase: str, given: Given) -> Given:
        """What is kept has no secrets in it: it goes into planning files and prompts."""
        answer = self._hands.redact(harmless(given.answer))
        details = {"key": given.key, "answer": answer}
        self._streams.append_run(Noted(event=ANSWERED, phase=phase, details=details))
        return Given(key=given.key, answer=answer)

    def _begun(self, brief: Brief) -> Brief:
        """The brief as it was told before; a phase that reads otherwise now is asked about anew."""
        passes = self._streams.passes(brief.phase.id)
        if passes and msgspec.structs.replace(passes[-1].brief, number=0) == brief:
            return passes[-1].brief
        begun = msgspec.structs.replace(brief, number=len(passes))
        self._streams.append_run(PhaseStarted(brief=begun))
        return begun

    def _opened(self, brief: Brief, step: str, n: int) -> PhaseRecord | None:
        """The record as of that step, which never counts as finished; None when it has not begun."""
        record = self._streams.phase(brief)
        starts = [entry for entry in record.entries if isinstance(entry.event, StepStarted)]
        own = [e for e in starts if isinstance(e.event, StepStarted) and (e.event.step, e.event.n) == (step, n)]
        others = tuple(entry for entry in record.entries if entry not in starts)
        return msgspec.structs.replace(record, entries=(*others, own[0])) if own else None


def left_open(journal: Journal, kind: str) -> RunRecord | None:
    """The newest sitting of that kind, if it did not come to its end."""
    names = [s for s in journal.streams() if s.startswith(f"{FOLDER}{kind}-") and s.count("/") == FOLDER.count("/")]
    record = RunRecord(entries=journal.load(names[-1])) if names else None
    return record if record and not isinstance(record.end, RunFinished) else None


def close(journal: Journal, name: str) -> None:
    """What was said there has been put to use: the next sitting begins anew."""
    stream = FOLDER + name
    entries = journal.load(stream)
    if entries and not isinstance(entries[-1].event, RunFinished):
        journal.append(stream, len(entries), RunFinished(status="completed", exit_code=0, reason="all was put to use"))
