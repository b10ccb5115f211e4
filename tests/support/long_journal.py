"""A journal as a very long run leaves it, written at once: every entry chained as the run itself would have done."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from autopilot.authority.seal import seal_of
from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import (
    AgentAnswered,
    AgentStarted,
    Event,
    PhaseFinished,
    PhaseStarted,
    RunFinished,
    StepFinished,
    StepStarted,
    stream_of,
)
from autopilot.domain.evidence import Usage
from autopilot.domain.phase import Phase
from autopilot.domain.verdict import Advance, Retry
from autopilot.history.record import PhaseRecord
from autopilot.journal import rows
from autopilot.journal.chain import Tip, chain_of
from autopilot.journal.clock import TickingClock
from autopilot.journal.codec import UPGRADES, encode
from autopilot.journal.head import HeadFile, head_path
from autopilot.journal.sqlite import project_of
from support.records import RUN, Story, brief, phase, started

Told = tuple[str, Event]


def long_run(phases: int, events: int) -> Iterator[Told]:
    """Each phase with as many passes as it takes to come to so many entries, every pass a whole one."""
    known = tuple(phase(str(n), *((str(n - 1),) if n > 1 else ())) for n in range(1, phases + 1))
    yield RUN, started(*known)
    told, each = 0, events // phases
    for place, one in enumerate(known, start=1):
        number = 0
        while told < each * place:
            entries = tuple(_pass(one, number))
            given = brief(phase=one, number=number, position=place, total=phases)
            yield RUN, PhaseStarted(brief=given)
            yield from ((stream_of(RUN, one.id, number), event) for event in entries)
            told, number = told + len(entries) + 2, number + 1
            yield RUN, _ended(one, last=told >= each * place)
    yield RUN, RunFinished(status="completed", exit_code=0, reason="every target phase passed")


def _pass(one: Phase, number: int) -> Iterator[Event]:
    for entry in _whole(one, number).entries:
        if not isinstance(entry.event, StepFinished):
            continue
        step = entry.event.step
        call = f"{RUN}/{one.id}/{step}/{number}"
        yield StepStarted(step=step, n=1, base="base", nonce="nonce", boot="boot")
        yield AgentStarted(call=call, role="execute", pid=4711, birth="birth")
        yield AgentAnswered(
            call=call, role="execute", outcome="ok", answer="{}", text="done " * 20, commands=("true",), seconds=1.0,
            usage=Usage(input_tokens=900, output_tokens=100, cost_usd=0.01),
        )  # fmt: skip
        yield entry.event


def _whole(one: Phase, number: int) -> PhaseRecord:
    given = brief(phase=one, number=number)
    return Story(given).planned().executed().verified().judged().rated(9.4).record


def _ended(one: Phase, *, last: bool) -> PhaseFinished:
    """Only the last pass of a phase is good enough."""
    score = 9.4 if last else 8.4
    outcome = PhaseOutcome(phase=one.id, status="completed", reason=f"{score}", commit="c1", alignment_score=score)
    return PhaseFinished(cycle=0, outcome=outcome, verdict=Advance() if last else Retry(step="execute", because="8.4"))


def write_journal(path: Path, told: Iterator[Told]) -> int:
    """All in one transaction; how many entries there are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    clock, numbers, tip, seal = TickingClock(), dict[str, int](), Tip(), seal_of(project_of(path))
    chain, before = chain_of(seal), tip
    lines = []
    for stream, event in told:
        number = numbers.get(stream, 0)
        fields = (tip.seq + 1, stream, number, clock.now(), len(UPGRADES), encode(event))
        before, tip = tip, Tip(seq=tip.seq + 1, hash=chain.link(tip.hash, fields))
        numbers[stream] = number + 1
        lines.append((*fields, tip.hash))
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        rows.migrate(db, path, seal)
        db.execute("begin")
        db.executemany(rows.INSERT, lines)
        db.execute("commit")
    with HeadFile(head_path(path), chain) as head:
        head.lay(tip, before)
    return tip.seq
