"""One step performed: said before, judged after, and on record when it is over."""

from pathlib import Path

import pytest

from autopilot.app.explain import stages
from autopilot.domain.agent_call import Reply
from autopilot.domain.events import AgentAnswered, AgentStarted, Entry, StepFinished, StepStarted
from autopilot.domain.results import Researched, Unanswered
from autopilot.domain.verdict import Advance, Retry
from autopilot.engine.decide.next_step import Run, next_move
from autopilot.engine.perform.step import judged, perform
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions
from autopilot.pipeline import ENDING, PIPELINE, stage_named
from support.engine import FINE, Engine, Told, make_engine
from support.records import Story, whole

RESEARCH = Run(stage_named("research"), 1)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return make_engine(tmp_path)


def test_a_step_is_on_record_before_during_and_after(engine: Engine) -> None:
    record = perform(RESEARCH, engine.record, engine.hands(Told()), engine.streams)

    assert [type(e.event) for e in record.entries] == [StepStarted, AgentStarted, AgentAnswered, StepFinished]
    assert isinstance(record.last(), Researched)
    assert record.entries == engine.record.entries
    assert next_move(record) == Run(stage_named("plan"), 1)


def test_a_step_cut_off_is_the_same_step_again(engine: Engine) -> None:
    engine.begin("research")

    record = perform(RESEARCH, engine.record, engine.hands(Told()), engine.streams)

    assert [type(e.event) for e in record.entries].count(StepStarted) == 1
    assert record.attempts("research") == 1


def test_an_agent_that_says_nothing_is_a_result(engine: Engine) -> None:
    silent = Told((Reply(outcome="timeout", text="..."),))

    record = perform(RESEARCH, engine.record, engine.hands(silent), engine.streams)

    assert record.last() == Unanswered(role="research", outcome="timeout", detail="...")
    assert isinstance(record.finished[-1].verdict, Retry)
    assert next_move(record) == Run(stage_named("research"), 2)


def test_the_gate_sees_the_result_in_its_record() -> None:
    record = whole()
    last = record.finished[-1]
    before = Story().planned().executed().verified().judged().record

    done = judged(Run(stage_named("rate"), 1), before, last.result)

    assert (done.verdict, done.commit) == (Advance(), "c1")


def test_listeners_are_told_what_is_on_record_already(engine: Engine) -> None:
    seen: list[int] = []

    def look(stream: str, entry: Entry) -> None:
        seen.append(len(engine.journal.load(stream)) - entry.number)

    engine.listeners = (look,)
    perform(RESEARCH, engine.record, engine.hands(Told((FINE,))), engine.streams)

    assert seen == [1, 1, 1, 1]


def test_forgotten_streams_are_read_again(engine: Engine) -> None:
    streams = engine.streams
    before = streams.phase(engine.brief)
    engine.begin("research")
    assert streams.phase(engine.brief) == before

    streams.forget()
    assert streams.phase(engine.brief) == engine.record


def test_a_table_without_a_last_row_is_a_bug() -> None:
    gate: Gate[None, Facts, Opinions, Claims] = Gate(
        name="open",
        question="",
        gather=lambda _: Evidence(Facts(), Opinions(), Claims()),
        rules=(),
        kinds=(Facts, Opinions, Claims),
    )

    with pytest.raises(AssertionError, match="no rule of open"):
        gate.decide(None)


def test_the_tables_to_read_name_every_step_and_gate() -> None:
    rows = stages()

    assert [row.name for row in rows] == [*(stage.name for stage in (*PIPELINE, *ENDING)), "any step", "phase"]
    assert all(row.what and row.question and row.rules for row in rows)
    assert (rows[0].heading, rows[-3].heading) == ("PREFLIGHT", "VERSION")
