"""Defines what the command line asks for and what it gets back."""

from typing import Literal

from msgspec import UNSET, UnsetType

from autopilot.domain.phase import Evidence, RoadmapChoice
from autopilot.domain.results import Integration
from autopilot.domain.settings import Modes, RunCaps, SandboxChoice
from autopilot.domain.value import Value
from autopilot.domain.verdict import Outcome


class RunRequest(Value, frozen=True, kw_only=True):
    """
    `phases` is the expression as typed: `3`, `3-7`, `3,5,8`, `7 8 9.1`, `all`, `next`, or empty to resume.

    `first`, `last` and `only` are the phases of `--from`, `--to` and `--only`. `sandbox` is None when nothing was said.
    `answers` is a file with the answers to what a person would be asked. `wait` is None and `failover` empty when
    nothing was said. `evidence` settles whether phases are done on which the planning files disagree. `symptom` and
    `checks` are of `debug`: what is wrong, and the commands that show it. `trust` is the hash of what the user agrees
    to for this once, `hosts` are those agents may reach as well.
    """

    folder: str
    phases: str = ""
    agent: str = "auto"
    reviewer: str | None = None
    model: str | None = None
    lenient: bool = False
    sandbox: SandboxChoice | None = None
    visual: bool = False
    first: str | None = None
    last: str | None = None
    only: str | None = None
    caps: RunCaps = RunCaps()
    modes: Modes = Modes()
    answers: str | None = None
    keep_awake: bool = True
    wait: bool | None = None
    failover: tuple[str, ...] = ()
    evidence: Evidence | None = None
    roadmap: RoadmapChoice | None = None
    symptom: str = ""
    checks: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    open_network: bool = False
    trust: str = ""

    @property
    def wish(self) -> str:
        """The phases asked for, in the words of the command line; empty when none were named."""
        again = (("--force", self.modes.force), ("--quality", self.modes.quality), ("--gaps", self.modes.gaps))
        flags = (*again, ("--from", self.first), ("--to", self.last), ("--only", self.only))
        given = (f"{flag} {value}".strip() for flag, value in flags if value is not None)
        return " ".join([self.phases, *given, "--complete" * self.modes.complete]).strip()


class Resumption(Value, frozen=True, kw_only=True):
    """
    What is different when a run goes on; None and empty: as it was.

    `now`: neither a breaker's cooldown nor a usage window is waited for; agents are asked at once. `retry` is the one
    failed phase to try again, from `step` on; without a step from the one that failed. `roadmap` says what becomes of
    changes to the roadmap that concern phases which have started. `trust` is as in a request.
    """

    agent: str | None = None
    sandbox: SandboxChoice | None = None
    caps: RunCaps = RunCaps()
    now: bool = False
    keep_awake: bool = True
    wait: bool | None = None
    failover: tuple[str, ...] = ()
    retry: str = ""
    step: str = ""
    roadmap: RoadmapChoice | None = None
    hosts: tuple[str, ...] = ()
    open_network: bool = False
    trust: str = ""


def changes_of(request: RunRequest, sandbox: SandboxChoice | None) -> Resumption:
    """What a request for phases changes about the run that is gone on with instead."""
    return Resumption(
        agent=None if request.agent == "auto" else request.agent,
        sandbox=sandbox,
        caps=request.caps,
        keep_awake=request.keep_awake,
        wait=request.wait,
        failover=request.failover,
        roadmap=request.roadmap,
        hosts=request.hosts,
        open_network=request.open_network,
        trust=request.trust,
    )


class PhaseEnd(Value, frozen=True, kw_only=True):
    """
    `status` is state.json's word. `outcome` is set where the phase counts as done and a person should look at it.

    `caveats` is what a phase that passed does not show. `branch` keeps the work of a phase that failed.
    """

    status: str
    score: float | None = None
    reason: str = ""
    outcome: Outcome | None = None
    caveats: tuple[str, ...] = ()
    branch: str = ""


class Ending(Value, frozen=True, kw_only=True):
    """
    What followed the last phase: AMB-24, the requirements with a gap, the new version, and notes on it all.

    `covered` are the phases that integration check and self-audit looked at, `uncovered` completed ones that they have
    not looked at yet. `unaudited` are those of the `gaps` at which nobody looked.
    """

    integration: Integration = "not_run"
    gaps: tuple[str, ...] = ()
    unaudited: tuple[str, ...] = ()
    version: str = ""
    notes: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    uncovered_because: str = ""


class RunEnd(Value, frozen=True, kw_only=True):
    """
    The last line of `run --json`.

    `do` is what to type to go on, where that is not a plain `autopilot resume`. A run that did not come to an end has
    no `ending`.
    """

    run: str
    exit: int
    reason: str
    phases: dict[str, PhaseEnd] = {}
    usd: float | None = None
    tokens: int | None = None
    do: str = ""
    ending: Ending | UnsetType = UNSET

    @property
    def closing(self) -> Ending:
        return Ending() if isinstance(self.ending, UnsetType) else self.ending


class VerdictEnd(Value, frozen=True, kw_only=True):
    """
    What became of a person's word on a phase.

    `taken` False: a run that is going on takes it in. `landed` are the phases that came to the user's branch with it,
    `behind` those that stand on work the person refused, `notes` why something was not landed, `do` what to type next.
    """

    run: str
    phase: str
    verdict: str
    taken: bool
    landed: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    do: str = ""


def report_name(run: str) -> str:
    """The account of a finished run, below `.autopilot/`: RPT-01 and AMB-41, named for the run's date and time."""
    return f"completion-{run.removeprefix('run-')}.md"


Level = Literal["ok", "warn", "fail"]


class Check(Value, frozen=True, kw_only=True):
    """A `fail` keeps a run from starting; a `warn` lets it start with less than it could have."""

    level: Level
    what: str
    found: str
    fix: str = ""
