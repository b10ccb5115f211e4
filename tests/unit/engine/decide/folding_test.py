"""What a run comes to is the same whether it was followed entry by entry or is read all at once."""

from collections.abc import Callable
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.domain.events import Noted, PhaseFinished, PhaseSkipped, PhaseStarted, RunResumed, RunStopped, stream_of
from autopilot.domain.evidence import Usage
from autopilot.domain.verdict import Advance, AskHuman, Retry
from autopilot.engine.decide.brakes import tripped
from autopilot.engine.perform.run_log import Streams
from autopilot.history.active_time import active_time
from autopilot.history.record import RunRecord
from autopilot.journal.clock import TickingClock
from autopilot.journal.memory import MemoryJournal
from autopilot.journal.state_printer import StatePrinter
from autopilot.policy.budget import answers, debit, spent
from autopilot.policy.loops import finished_steps, tries
from autopilot.state.build_state import Projection, state_text
from support.records import RUN, SPEC, Story, brief, passed, phase, started

PHASES = tuple(phase(name) for name in "123")
LATER = "2026-01-01T23:00:00.000Z"
USAGES = (Usage(input_tokens=7, cost_usd=0.1), Usage(output_tokens=5), Usage(cost_usd=0.37), Usage())
TOLD: tuple[Callable[[Story], Story], ...] = (
    Story.planned,
    Story.executed,
    partial(Story.executed, commit="c2"),
    partial(Story.verified, passed=False, verdict=Retry(step="execute", because="it is not there")),
    Story.verified,
    partial(Story.rated, score=8.4),
    *(partial(Story.answer, call="call", role="execute", usage=usage) for usage in USAGES),
)
ENDS = (Advance(), AskHuman(question="good?"), Retry(step="execute", because="8.4"))
MOVES = ("begin", "tell", "tell", "end", "skip", "note", "stop")


class Teller:
    """Up to three phases at work at a time; what happens is drawn, and nothing impossible is told."""

    def __init__(self) -> None:
        self.journal = MemoryJournal(TickingClock())
        self.streams = Streams(self.journal, RUN, ())
        self.streams.append_run(started(*PHASES))

    def move(self, move: str, name: str, chance: int) -> None:
        run = self.streams.run()
        at_work = next((b for b in run.open_passes if b.phase.id == name), None)
        if move == "begin" and at_work is None:
            own = next(p for p in PHASES if p.id == name)
            self.streams.append_run(PhaseStarted(brief=brief(phase=own, number=len(run.begun(name)))))
        elif move == "tell" and at_work is not None:
            stream = stream_of(RUN, name, at_work.number)
            for entry in TOLD[chance % len(TOLD)](Story(at_work)).entries:
                self.streams.append(stream, entry.event)
        elif move == "end" and at_work is not None:
            ended = passed(name, 9.0 + chance / 10).outcome
            self.streams.append_run(PhaseFinished(cycle=0, outcome=ended, verdict=ENDS[chance % len(ENDS)]))
        elif move == "skip" and at_work is None:
            self.streams.append_run(PhaseSkipped(phase=name, reason="blocked"))
        elif move == "note":
            self.streams.append_run(Noted(event="noted", phase=name))
        elif move == "stop":
            self.streams.append_run(RunStopped(exit_code=21, reason="stopped"))
            anew = finished_steps(self.streams.digests()) if chance % 2 else None
            self.streams.append_run(RunResumed(pid=1, spec=SPEC, retry=(name,), anew=anew))


happened = st.lists(st.tuples(st.sampled_from(MOVES), st.sampled_from("123"), st.integers(0, 9)), max_size=25)


@given(happened)
@settings(max_examples=60)
def test_sums_over_passes_do_not_depend_on_where_they_were_taken_up(moves: list[tuple[str, str, int]]) -> None:
    told = Teller()
    for move in moves:
        told.move(*move)
        run, made = told.streams.run(), told.streams.digests()
        plain = tuple(made)

        assert (spent(made), tries(run, made)) == (spent(plain), tries(run, plain))
        assert tries(run, made, "1") == tries(run, plain, "1")
        assert active_time(run, made, LATER, "1") == active_time(run, plain, LATER, "1")
        assert debit("judge", "", answers(made)) == debit("judge", "", answers(plain))
        assert tripped(run, made, LATER) == tripped(run, plain, LATER)
    assert made_anew(told).digests() == told.streams.digests()


@given(happened)
@settings(max_examples=60)
def test_a_run_that_has_grown_tells_what_it_tells_as_a_whole(moves: list[tuple[str, str, int]]) -> None:
    told = Teller()
    grown = told.streams.run()
    assert not grown.times.over
    for move in moves:
        told.move(*move)
        grown = grown.grown(told.streams.run().entries)

    assert grown.chronicle == RunRecord(entries=grown.entries).chronicle
    assert grown.times == RunRecord(entries=grown.entries).times
    assert told.streams.run().chronicle == grown.chronicle


@given(happened)
@settings(max_examples=40)
def test_a_state_followed_step_by_step_has_the_bytes_of_one_made_at_once(moves: list[tuple[str, str, int]]) -> None:
    told, projection, printer = Teller(), Projection(), StatePrinter()
    for move in moves:
        told.move(*move)
        text = printer.text(projection.state(told.streams.run(), told.streams))

        anew = made_anew(told)
        assert text == state_text(Projection().state(anew.run(), anew))


@given(st.lists(st.tuples(st.integers(0, 109), st.integers(0, 3)), max_size=60))
def test_a_state_of_many_phases_is_printed_as_if_it_were_the_only_one(changes: list[tuple[int, int]]) -> None:
    printer, phases = StatePrinter(), {str(n): {"n": n, "steps": ["a", "b"]} for n in range(100)}
    for number, value in changes:
        phases = {**phases, str(number): {"n": value, "text": "{\n" * value}}

        state = {"_meta": {"run_id": "r"}, "phases": phases, "event_log": []}
        assert printer.text(state) == state_text(state)


def made_anew(told: Teller) -> Streams:
    return Streams(told.journal, RUN, ())
