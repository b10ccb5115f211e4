"""Everything the engine acts with, handed over by `app` once."""

from collections.abc import Callable
from dataclasses import dataclass, field

from autopilot.domain.agent import REVIEWERS, Role
from autopilot.domain.events import PhaseOutcome
from autopilot.domain.protocols import Agent, Clock, Diagnostics, FactMaker, Planning, Processes, Receipts, Workspace
from autopilot.domain.record import PhaseRecord, RunRecord
from autopilot.domain.repo_map import NO_ATLAS, Atlas
from autopilot.domain.secrets import redact
from autopilot.domain.verdict import Verdict
from autopilot.domain.visual import Looking, NotLooking


class NoReceipts:
    """Implements `Receipts` where none are wanted."""

    def files(self, record: PhaseRecord, run: RunRecord, outcome: PhaseOutcome, verdict: Verdict) -> dict[str, str]:  # noqa: ARG002 - the protocol's signature
        return {}


NO_RECEIPTS = NoReceipts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """
    `boot` names this boot of the machine, `birth` tells when a process started: both guard against stale pids.

    `redact` takes secrets out of what agents say before it is written down.
    """

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
    receipts: Receipts = NO_RECEIPTS
    redact: Callable[[str], str] = redact
    atlas: Atlas = NO_ATLAS

    def agent_for(self, role: Role) -> Agent:
        return self.reviewer if role in REVIEWERS else self.agent
