"""Perform one step: say so first, do it, judge it, write down what came of it."""

import msgspec

from autopilot.domain.errors import NoAnswer
from autopilot.domain.events import Entry, StepFinished, StepStarted, stream_of
from autopilot.domain.results import StepResult, Unanswered
from autopilot.domain.verdict import Advance
from autopilot.engine.decide.next_step import Run, tip
from autopilot.engine.perform.agent_calls import StepAgents
from autopilot.engine.perform.context import Hands
from autopilot.engine.perform.run_log import Streams
from autopilot.history.record import PhaseRecord
from autopilot.pipeline import UNANSWERED
from autopilot.policy.task_progress import task_at
from autopilot.ports.agents import Tools


def perform(move: Run, record: PhaseRecord, hands: Hands, streams: Streams) -> PhaseRecord:
    """The step's end is on disk when this returns; cut off before, it is the same step that runs again."""
    stream = stream_of(record.start.run, record.phase.id, record.brief.number)
    resumed = record.open_step is not None
    if not resumed:
        streams.append(stream, started(move, record, hands))
        record = streams.phase(record.brief)
    began = hands.clock.monotonic()
    agents = StepAgents(hands, streams, record, stream=stream, resumed=resumed)
    result = attempt(move, record, hands, agents)
    done = judged(move, record, result)
    seconds = hands.clock.monotonic() - began - agents.waited
    streams.append(stream, msgspec.structs.replace(done, seconds=round(max(0.0, seconds), 3)))
    return streams.phase(record.brief)


def started(move: Run, record: PhaseRecord, hands: Hands) -> StepStarted:
    step = move.stage.name
    return StepStarted(
        step=step,
        n=move.n,
        base=record.commit,
        nonce=hands.nonce(),
        boot=hands.boot,
        task=task_at(record, step),
    )


def attempt(move: Run, record: PhaseRecord, hands: Hands, agents: StepAgents) -> StepResult:
    tools = Tools(
        agents=agents,
        workspace=hands.workspace,
        facts=hands.facts,
        planning=hands.planning,
        clock=hands.clock,
        learnings=hands.diagnostics.learnings(),
        looks=hands.looks,
    )
    try:
        return move.stage.step(record, tools)
    except NoAnswer as silence:
        return Unanswered(role=move.stage.name, outcome=silence.outcome, detail=silence.detail)


def judged(move: Run, record: PhaseRecord, result: StepResult) -> StepFinished:
    """The gate sees the record with the result in it, and nothing but the record."""
    ungated = StepFinished(
        step=move.stage.name, n=move.n, commit=tip(record, result, Advance()), result=result, verdict=Advance()
    )
    entry = Entry(number=len(record.entries), at="", event=ungated)
    seen = msgspec.structs.replace(record, entries=(*record.entries, entry))
    gate = UNANSWERED if isinstance(result, Unanswered) else move.stage.gate
    verdict = gate.decide(seen)
    return msgspec.structs.replace(ungated, verdict=verdict, commit=tip(record, result, verdict))
