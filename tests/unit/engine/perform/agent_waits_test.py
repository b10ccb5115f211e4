"""A step whose agent is not to be had waits, is asked again as the same step, and nothing is lost meanwhile."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.domain.agent_call import Call, Outcome, Question, Reply
from autopilot.domain.answers import TaskOpinion, WorkClaim
from autopilot.domain.errors import AgentUnavailable, Interrupted, UsageLimited
from autopilot.domain.events import (
    AgentAnswered,
    AgentStarted,
    Entry,
    Noted,
    PhaseStarted,
    RunResumed,
    WaitEnded,
    WaitStarted,
)
from autopilot.domain.settings import Ladders
from autopilot.engine.decide.brakes import Tripped
from autopilot.engine.perform.agent_calls import StepAgents
from autopilot.history.active_time import active_time
from autopilot.journal.memory import MemoryJournal
from support.clocks import Sundial
from support.engine import FINE, Told, make_engine
from support.records import SPEC, started, task
from support.repos import git

REVIEW = Question(role="mini_verify", prompt="Check.", answer=TaskOpinion, task=task())
WORK = Question(role="execute", prompt="Do.", answer=WorkClaim, task=task())
PASSED = Reply(outcome="ok", answer='{"pass": true}')
ONE = "2026-01-01T13:00:00Z"


def away(outcome: Outcome = "usage_limited", resets_at: str | None = ONE) -> Reply:
    return Reply(outcome=outcome, resets_at=resets_at, text="not now")


class Bench:
    """An engine on a clock that moves only while somebody rests."""

    def __init__(self, folder: Path, step: str = "mini_verify") -> None:
        self.clock = Sundial()
        self.engine = replace(make_engine(folder), journal=MemoryJournal(self.clock))
        self.engine.streams.append_run(msgspec.structs.replace(started(), base=self.engine.bench.base))
        self.engine.streams.append_run(PhaseStarted(brief=self.engine.brief))
        self.engine.begin(step)
        self.hurried = ""

    def agents(self, *staff: Told, resumed: bool = False, **more: Any) -> StepAgents:
        names = ("agent", "codex", "gemini")[: len(staff)]
        hands = replace(
            self.engine.hands(staff[0]),
            clock=self.clock,
            rest=self.clock.rest,
            hurried=lambda wait: wait == self.hurried,
            waits=True,
            ladders=Ladders(agent="agent", reviewer="agent", others=names[1:]),
            staff=dict(zip(names, staff, strict=True)),
        )
        hands = replace(hands, **more)
        return StepAgents(hands, self.engine.streams, self.engine.record, stream=self.engine.stream, resumed=resumed)

    @property
    def waits(self) -> list[WaitStarted | WaitEnded]:
        return [e.event for e in self.engine.streams.run().entries if isinstance(e.event, WaitStarted | WaitEnded)]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_used_up_window_is_waited_for_and_the_same_call_is_put_again(bench: Bench) -> None:
    agent = Told((away(), PASSED))
    agents = bench.agents(agent)

    assert agents.ask(REVIEW).value.passed
    assert [(call.id, call.tries, call.attempt) for call in agent.calls] == [
        (agent.calls[0].id, 1, 1),
        (agent.calls[0].id, 2, 1),
    ]
    begun, over = bench.waits
    assert isinstance(begun, WaitStarted)
    assert (begun.until, begun.backend, begun.step) == ("2026-01-01T13:01:00.000Z", "agent", "mini_verify")
    assert isinstance(over, WaitEnded)
    assert (over.how, over.call) == ("due", begun.call)
    assert 3600 < agents.waited < 3700


def test_nobody_finds_what_an_agent_left_when_its_window_closed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "execute")

    class Torn(Told):
        """Leaves half of its work behind when it is turned away."""

        def call(self, call: Call, tell: Callable[[int], None]) -> Reply:
            self.writes = {"half.txt": "torn\n"} if not self.calls else {"letter.txt": "done\n"}
            return Told.call(self, call, tell)

    worked = bench.agents(Torn((away(), FINE))).work(WORK, "feat: x", bench.engine.bench.base)

    assert [file.path for file in worked.change.files] == ["letter.txt"]
    refs = git(bench.engine.bench.root / ".autopilot/repo.git", "for-each-ref", "--format=%(refname)")
    assert "refs/autopilot/interrupted/" in refs


def test_a_wait_is_no_time_that_anybody_worked(bench: Bench) -> None:
    bench.agents(Told((away(), PASSED))).ask(REVIEW)
    streams = bench.engine.streams
    worked = active_time(streams.run(), streams.digests(), bench.clock.now(), "1")

    assert worked.run < 2
    assert worked.phase < 2


def test_a_run_taken_up_again_waits_until_the_same_moment(bench: Bench) -> None:
    def dies() -> None:
        if len(bench.clock.rests) == 5:
            raise Interrupted("killed")

    bench.clock.meanwhile = dies
    with pytest.raises(Interrupted):
        bench.agents(Told((away(),))).ask(REVIEW)
    bench.engine.streams.append_run(RunResumed(pid=2, spec=SPEC))
    agent = Told((PASSED,))

    assert bench.agents(agent, resumed=True).ask(REVIEW).value.passed
    assert [type(event) for event in bench.waits] == [WaitStarted, WaitEnded]
    assert bench.clock.now() > "2026-01-01T13:01:00.000Z"


def test_a_run_taken_up_behind_the_moment_goes_on_at_once(bench: Bench) -> None:
    bench.clock.meanwhile = _dies
    with pytest.raises(Interrupted):
        bench.agents(Told((away(),))).ask(REVIEW)
    bench.clock.sleep(7200)
    bench.engine.streams.append_run(RunResumed(pid=2, spec=SPEC))
    bench.clock.rests.clear()

    assert bench.agents(Told((PASSED,)), resumed=True).ask(REVIEW).value.passed
    assert bench.clock.rests == []
    assert [getattr(event, "how", "") for event in bench.waits] == ["", "due"]


def _dies() -> None:
    raise Interrupted("killed")


def test_a_machine_that_wakes_behind_the_moment_goes_on_at_once(bench: Bench) -> None:
    bench.clock.meanwhile = lambda: bench.clock.sleep(7200) if len(bench.clock.rests) == 3 else None

    assert bench.agents(Told((away(), PASSED))).ask(REVIEW).value.passed
    assert len(bench.clock.rests) == 3


def test_a_clock_that_is_put_back_does_not_make_the_wait_longer(bench: Bench) -> None:
    bench.clock.meanwhile = lambda: bench.clock.sleep(-86_400) if len(bench.clock.rests) == 3 else None

    assert bench.agents(Told((away(), PASSED))).ask(REVIEW).value.passed
    assert bench.clock.monotonic() < 4000


def test_a_persons_wish_ends_the_wait(bench: Bench) -> None:
    def wishes() -> None:
        bench.hurried = bench.engine.streams.run().waits[-1].id

    bench.clock.meanwhile = wishes

    assert bench.agents(Told((away(), PASSED))).ask(REVIEW).value.passed
    assert [getattr(event, "how", "") for event in bench.waits] == ["", "retried"]
    assert len(bench.clock.rests) == 1


def test_a_wish_is_heard_the_moment_the_wait_is_on_record(bench: Bench) -> None:
    def wishes(_: str, entry: Entry) -> None:
        if isinstance(entry.event, WaitStarted):
            bench.hurried = bench.engine.streams.run().waits[-1].id

    bench.engine.listeners = (wishes,)

    assert bench.agents(Told((away(), PASSED))).ask(REVIEW).value.passed
    assert [getattr(event, "how", "") for event in bench.waits] == ["", "retried"]
    assert bench.clock.rests == []


def test_a_wish_outlives_the_process_that_waited(bench: Bench) -> None:
    bench.clock.meanwhile = _dies
    with pytest.raises(Interrupted):
        bench.agents(Told((away(),))).ask(REVIEW)
    bench.hurried = bench.engine.streams.run().waits[-1].id
    bench.engine.streams.append_run(RunResumed(pid=2, spec=SPEC))
    bench.clock.meanwhile = lambda: None
    rested = len(bench.clock.rests)

    assert bench.agents(Told((PASSED,)), resumed=True).ask(REVIEW).value.passed
    assert [getattr(event, "how", "") for event in bench.waits] == ["", "retried"]
    assert len(bench.clock.rests) == rested


def test_a_wish_ends_one_wait_and_not_the_next_of_the_same_call(bench: Bench) -> None:
    def wishes() -> None:
        bench.hurried = bench.hurried or bench.engine.streams.run().waits[-1].id

    bench.clock.meanwhile = wishes

    assert bench.agents(Told((away(), away(resets_at="2026-01-01T14:00:00Z"), PASSED))).ask(REVIEW).value.passed
    assert [getattr(event, "how", "") for event in bench.waits] == ["", "retried", "", "due"]


def test_a_rest_is_never_longer_than_a_second(bench: Bench) -> None:
    bench.agents(Told((away(), PASSED))).ask(REVIEW)

    assert 0 < max(bench.clock.rests) <= 1.0


@pytest.mark.parametrize("outcome", ["usage_limited", "auth"])
def test_the_next_agent_stands_in_and_that_is_told(bench: Bench, outcome: Outcome) -> None:
    first, second = Told((away(outcome),)), Told((PASSED,))

    assert bench.agents(first, second).ask(REVIEW).value.passed
    answers = [e.event for e in bench.engine.record.entries if isinstance(e.event, AgentAnswered)]
    assert [(answer.backend, answer.outcome) for answer in answers] == [("agent", outcome), ("codex", "ok")]
    assert [e.event.backend for e in bench.engine.record.entries if isinstance(e.event, AgentStarted)][-1] == "codex"
    (note,) = (n for n in bench.engine.streams.run().of(Noted) if n.event == "agent_failover")
    assert "codex is asked in its place" in note.details["message"]
    assert bench.waits == []


def test_an_agent_known_to_be_shut_is_not_asked_by_the_next_step(bench: Bench) -> None:
    first, second = Told((away(),)), Told((PASSED,))
    bench.agents(first, second).ask(REVIEW)
    bench.engine.begin("mini_verify")

    bench.agents(first, second).ask(REVIEW)

    assert (len(first.calls), len(second.calls)) == (1, 1)


def test_one_who_stands_in_is_not_given_a_model_of_another_vendor(bench: Bench) -> None:
    second = Told((PASSED,))
    bench.agents(Told((away(),)), second).ask(REVIEW)

    assert second.calls[0].model is None


def test_when_all_are_shut_the_first_to_open_is_asked(bench: Bench) -> None:
    first, second = Told((away(),)), Told((away(resets_at="2026-01-01T12:20:00Z"), PASSED))

    assert bench.agents(first, second).ask(REVIEW).value.passed
    assert (len(first.calls), len(second.calls)) == (1, 2)
    assert bench.clock.now() < "2026-01-01T12:25:00.000Z"


def test_a_service_that_stays_in_trouble_stops_the_run_by_name(bench: Bench) -> None:
    agent = Told((away("overloaded", None),))

    with pytest.raises(Tripped) as stopped:
        bench.agents(agent).ask(REVIEW)

    assert (stopped.value.brake.name, stopped.value.brake.exit_code) == ("overload_tries", 21)
    assert len(agent.calls) == 12
    assert not stopped.value.brake.ends


@pytest.mark.parametrize(
    ("reply", "more", "error", "words"),
    [
        (away(), {"waits": False}, UsageLimited, "2026-01-01T13:01:00.000Z"),
        (away(resets_at=None), {"waits": False}, UsageLimited, "not known"),
        (away(resets_at="2026-01-09T13:00:00Z"), {}, UsageLimited, "2026-01-09"),
        (away("auth"), {"sign_in": lambda _: "run `claude login`"}, AgentUnavailable, "agent is not signed in"),
    ],
    ids=["no-wait", "no-wait, nobody knows", "a weekly limit", "not signed in"],
)
def test_what_cannot_be_waited_for_stops_the_run_with_the_way_on(
    bench: Bench, reply: Reply, more: dict[str, Any], error: type[UsageLimited], words: str
) -> None:
    with pytest.raises(error, match=words) as stopped:
        bench.agents(Told((reply,)), **more).ask(REVIEW)

    assert "autopilot resume" in stopped.value.do
    assert bench.waits == []


def test_a_wait_that_is_refused_after_a_restart_stops_the_run(bench: Bench) -> None:
    bench.clock.meanwhile = _dies
    with pytest.raises(Interrupted):
        bench.agents(Told((away(),))).ask(REVIEW)

    with pytest.raises(UsageLimited):
        bench.agents(Told((PASSED,)), resumed=True, waits=False).ask(REVIEW)


def test_a_call_that_goes_on_is_answered_by_whom_it_was_put_to(bench: Bench) -> None:
    class Holding:
        released: tuple[str, ...] = ()

        def place(self, call: str, asked: str) -> str | None:
            return None if self.released else str(bench.engine.bench.root)

        def release(self, call: str) -> None:
            self.released = (*self.released, call)

    call = f"{bench.engine.record.start.run}/1/mini_verify/1"
    begun = AgentStarted(call=call, role="mini_verify", pid=1, birth="b", backend="codex")
    bench.engine.streams.append(bench.engine.stream, begun)
    turns = bench.agents(Told(), Told(), keeping=Holding())._turns

    assert turns.next(call, "mini_verify", lambda: True) == "codex"
    assert turns.next(f"{call}.2", "mini_verify", lambda: True) == "agent"


def test_entries_of_older_journals_know_no_agent_by_name() -> None:
    old = b'{"type":"AgentStarted","call":"c","role":"plan","pid":1,"birth":"b"}'

    assert msgspec.json.decode(old, type=AgentStarted).backend == ""
    assert Entry(number=0, at="", event=WaitEnded(call="c", backend="b", how="due")).event is not None
