"""Everything the engine acts with, handed over by `app` once."""

import random
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from autopilot.domain.agent_call import REVIEWERS, Role
from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.codemap import NO_ATLAS, Atlas
from autopilot.domain.people import EMPTY_INBOX, Inbox
from autopilot.domain.process import Keeping, NotKeeping, Processes
from autopilot.domain.settings import Ladders
from autopilot.domain.verdict import Verdict
from autopilot.domain.visual import Looking, NotLooking
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.ports.agents import Agent, Clock, Diagnostics, FactMaker, Planning, Receipts, Workspace
from autopilot.text.redact import redact


class NoReceipts:
    """Implements `Receipts` where none are wanted."""

    def files(
        self,
        record: PhaseRecord,  # noqa: ARG002 - the protocol's signature
        run: RunRecord,  # noqa: ARG002 - as above
        outcome: PhaseOutcome,  # noqa: ARG002 - as above
        verdict: Verdict,  # noqa: ARG002 - as above
        earlier: tuple[PhaseRecord, ...] = (),  # noqa: ARG002 - as above
    ) -> dict[str, str]:
        return {}


NO_RECEIPTS = NoReceipts()


class LandingHands(Protocol):
    """What it takes to land a phase."""

    @property
    def workspace(self) -> Workspace: ...
    @property
    def receipts(self) -> Receipts: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """
    `boot` names this boot of the machine, `birth` tells when a process started: both guard against stale pids.

    `redact` takes secrets out of what agents say before it is written down. `elsewhere` makes the hands for work at
    the same time, in the clone of that number; while `halted` is entered, no thread can run anything. `cores` is how
    many of them have use for a processor of this machine. `keeping` knows the calls that an earlier process made.

    `ladders` says whom to ask, `staff` has by name those that are not `agent` or `reviewer`, `sign_in` how to sign in
    with one. `waits`: usage windows are waited for. `rest` lets so many seconds pass and raises `Interrupted` when the
    run is stopped; `hurried` says whether a person wants the wait of that id to end now; `chance` is any number from 0
    to 1.
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
    inbox: Inbox = EMPTY_INBOX
    redact: Callable[[str], str] = redact
    elsewhere: "Callable[[int], Hands] | None" = None
    halted: Callable[[], AbstractContextManager[None]] = nullcontext
    cores: int = 1
    atlas: Atlas = NO_ATLAS
    keeping: Keeping = field(default_factory=NotKeeping)
    ladders: Ladders = field(default_factory=Ladders)
    staff: Mapping[str, Agent] = field(default_factory=dict)
    sign_in: Callable[[str], str] = "sign in with {}".format
    waits: bool = True
    rest: Callable[[float], None] = time.sleep
    hurried: Callable[[str], bool] = lambda _: False
    chance: Callable[[], float] = random.random

    def agent_for(self, role: Role) -> Agent:
        """The one that is usually asked."""
        return self.reviewer if role in REVIEWERS else self.agent

    def agent_named(self, name: str, role: Role) -> Agent:
        return self.agent_for(role) if name == self.ladders.usual(role) else self.staff[name]
