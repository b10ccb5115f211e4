"""Everything the engine acts with, handed over by `app` once."""

from collections.abc import Callable
from dataclasses import dataclass, field

from autopilot.domain.agent import REVIEWERS, Role
from autopilot.domain.protocols import Agent, Clock, Diagnostics, FactMaker, Planning, Processes, Workspace
from autopilot.domain.visual import Looking, NotLooking


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """`boot` names this boot of the machine, `birth` tells when a process started: both guard against stale pids."""

    agent: Agent
    reviewer: Agent
    workspace: Workspace
    facts: FactMaker
    planning: Planning
    diagnostics: Diagnostics
    processes: Processes
    clock: Clock
    boot: str
    nonce: Callable[[], str]
    birth: Callable[[int], str]
    looks: Looking = field(default_factory=NotLooking)

    def agent_for(self, role: Role) -> Agent:
        return self.reviewer if role in REVIEWERS else self.agent
