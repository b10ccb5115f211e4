"""An engine's surroundings with a real workspace, a journal in memory and an agent that says what it is told to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from autopilot.domain.agent_call import Call, Reply
from autopilot.domain.attempt import Brief
from autopilot.domain.events import RunResumed, RunStopped, StepStarted, stream_of
from autopilot.domain.settings import Limits
from autopilot.engine.perform.agent_calls import StepAgents
from autopilot.engine.perform.context import Hands
from autopilot.engine.perform.run_log import Streams
from autopilot.evidence.facts import CommandFacts
from autopilot.history.record import PhaseRecord
from autopilot.journal.clock import TickingClock
from autopilot.journal.diagnostic_files import FileDiagnostics
from autopilot.journal.memory import MemoryJournal
from autopilot.planning.plan.problems import PlanReader
from autopilot.ports.agents import Agent, Listener
from autopilot.sandbox.tiers.unconfined import PlainProcess
from autopilot.sandbox.toolchain import look
from support.records import RUN, SPEC, brief, started
from support.repos import write
from support.workspaces import ENV, Bench, make_bench

FINE = Reply(outcome="ok", answer="{}")


@dataclass(slots=True)
class Told:
    """Gives the replies in turn, the last one for ever; writes the files first. Keeps every call."""

    replies: tuple[Reply, ...] = (FINE,)
    writes: Mapping[str, str] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)

    def call(self, call: Call, tell: Callable[[int], None]) -> Reply:
        self.calls.append(call)
        tell(4711)
        write(Path(call.folder), self.writes)
        return self.replies[min(len(self.calls), len(self.replies)) - 1]


@dataclass(slots=True)
class Engine:
    """One pass of one phase, open at a step."""

    bench: Bench
    brief: Brief
    journal: MemoryJournal
    listeners: tuple[Listener, ...] = ()
    boot: str = "boot"

    @property
    def streams(self) -> Streams:
        """As a new process would read them."""
        return Streams(self.journal, RUN, self.listeners)

    @property
    def record(self) -> PhaseRecord:
        return self.streams.phase(self.brief)

    @property
    def stream(self) -> str:
        return stream_of(RUN, self.brief.phase.id, self.brief.number)

    def begin(self, step: str) -> None:
        event = StepStarted(step=step, n=1, base=self.brief.base, nonce="nonce", boot="boot")
        self.streams.append(self.stream, event)

    def go_on(self) -> None:
        """The run stops, and is taken up again by somebody who wants no agent waited for."""
        self.streams.append_run(RunStopped(exit_code=22, reason="a limit"))
        self.streams.append_run(RunResumed(pid=1, spec=SPEC, at_once=True))

    def hands(self, agent: Agent, reviewer: Agent | None = None) -> Hands:
        sandbox = PlainProcess(self.bench.processes, look(ENV))
        return Hands(
            agent=agent,
            reviewer=reviewer or agent,
            workspace=self.bench.workspace,
            facts=CommandFacts(workspace=self.bench.workspace, sandbox=sandbox, limits=Limits()),
            planning=PlanReader(),
            diagnostics=FileDiagnostics(self.bench.root / ".autopilot"),
            processes=self.bench.processes,
            clock=TickingClock(),
            boot=self.boot,
            nonce=lambda: "nonce",
            birth=lambda pid: f"birth of {pid}",
            waits=False,
            rest=lambda _: None,
            chance=lambda: 0.5,
        )

    def agents(self, agent: Agent, *, resumed: bool = False) -> StepAgents:
        return StepAgents(self.hands(agent), self.streams, self.record, stream=self.stream, resumed=resumed)


def make_engine(folder: Path) -> Engine:
    bench = make_bench(folder)
    bench.workspace.snapshot_planning()
    made = Engine(bench, brief(base=bench.base), MemoryJournal(TickingClock()))
    made.streams.append_run(msgspec.structs.replace(started(), base=bench.base))
    return made
