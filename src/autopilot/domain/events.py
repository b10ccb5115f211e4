"""
Everything the journal can say. Past tense: each is written when, and only when, it has happened.

A run has one stream, `<run>`, and each pass of a phase through the pipeline has its own: `<run>/<phase>` for the first,
`<run>/<phase>~<number>` for those after it (a remediation, or a second try in a resumed run). The steps behind the last
phase are in `<run>/completion`. What is asked before a run has streams of the same form below `asking/`, which are no
runs.
"""

from typing import Any, Literal

import msgspec

from autopilot.domain.agent_call import Outcome, Role, Thread
from autopilot.domain.attempt import Brief, DoneBefore, PhaseOutcome, Spec
from autopilot.domain.evidence import CommandRun, Usage
from autopilot.domain.people import HumanWord
from autopilot.domain.phase import Phase, RoadmapTaken
from autopilot.domain.process import Try
from autopilot.domain.results import Integration, SelfAudit, StepResult
from autopilot.domain.rework import Before, Mode
from autopilot.domain.settings import RunCaps, Settings
from autopilot.domain.user_answers import Consulted, UserContext
from autopilot.domain.value import Tagged, Value
from autopilot.domain.verdict import Verdict

# The run's stream


class RunStarted(Tagged, frozen=True, kw_only=True):
    """
    `folders` and `requirements` are by phase id; `completed` are the phases done before this run, `passed_over` those
    of them that were asked for and are left out.

    `proposals` are the hashes of plans that agents made in earlier runs and that led to no pass. `tools` are the
    versions of what the run's facts depend on. `consulted` is what was asked of people before it began, `contexts` what
    they said about phases, now or in earlier runs.

    `before` is what earlier runs left of targets they had worked on; `remarks` are lines on phases that were left out.
    `satisfied` are the phases that an earlier run found to be there already and that nobody has accepted yet.
    `unaudited` are phases that earlier runs completed and whose end has not looked at them.
    `unused` says by its name why a command that was detected does not run here: its gate is absent in this run.
    """

    run: str
    root: str
    branch: str | None
    base: str
    spec: Spec
    roadmap: str
    phases: tuple[Phase, ...]
    targets: tuple[str, ...]
    settings: Settings
    folders: dict[str, str] = {}
    requirements: dict[str, tuple[str, ...]] = {}
    completed: tuple[str, ...] = ()
    proposals: tuple[str, ...] = ()
    tools: dict[str, str] = {}
    before: dict[str, Before] = {}
    remarks: tuple[str, ...] = ()
    passed_over: tuple[DoneBefore, ...] = ()
    consulted: tuple[Consulted, ...] = ()
    contexts: dict[str, UserContext] = {}
    satisfied: tuple[str, ...] = ()
    unaudited: tuple[str, ...] = ()
    roadmap_sha256: str = ""
    unused: dict[str, str] = {}

    def going_by(self, roadmap: RoadmapTaken | None) -> "RunStarted":
        """With what was taken of an edited roadmap."""
        return msgspec.structs.replace(self, **msgspec.structs.asdict(roadmap)) if roadmap else self


class RunResumed(Tagged, frozen=True, kw_only=True):
    """
    `retry` names the phases that had failed or were blocked and get one more chance (RSM-03).

    `caps` are those the user gave anew. `anew` is how many steps had been finished when the count of tries began again,
    None when it goes on. `at_once`: agents are asked though their usage windows may not have opened. `steps` has, by
    phase, the step from which a person wants it retried; empty for the one that failed. `roadmap` is what the run goes
    by from here on, where the roadmap was edited, and `roadmap_sha256` the files as they were looked at.
    """

    pid: int
    spec: Spec
    retry: tuple[str, ...] = ()
    tools: dict[str, str] = {}
    caps: RunCaps = RunCaps()
    anew: int | None = None
    at_once: bool = False
    steps: dict[str, str] = {}
    roadmap: RoadmapTaken | None = None
    roadmap_sha256: str = ""


class PhaseStarted(Tagged, frozen=True, kw_only=True):
    brief: Brief


class PhaseFinished(Tagged, frozen=True, kw_only=True):
    """A pass is over, and `verdict` is what the run makes of it. `mode` and `turn` are those of its brief."""

    cycle: int
    outcome: PhaseOutcome
    verdict: Verdict
    mode: Mode = "initial"
    turn: int = 0


class PhaseSkipped(Tagged, frozen=True, kw_only=True):
    phase: str
    reason: str
    blocking_phase: str | None = None
    original_run_timestamp: str | None = None
    original_run: str | None = None


class VerdictGiven(Tagged, frozen=True, kw_only=True):
    """A person said what becomes of a phase that waited for them. `id` names their word, so that it counts once."""

    id: str
    phase: str
    verdict: HumanWord
    issues: tuple[str, ...] = ()

    @property
    def complaints(self) -> tuple[str, ...]:
        """What the next try of a refused phase goes by."""
        unsaid = (
            "A person did not accept the phase and did not say why: find what falls short of its goal, and mend it."
        )
        return () if self.verdict == "pass" else self.issues or (unsaid,)


class LandingStarted(Tagged, frozen=True, kw_only=True):
    """Written before the user's repository is touched, so that a cut-off landing is finished and not guessed at."""

    phase: str
    commit: str


class PhaseLanded(Tagged, frozen=True, kw_only=True):
    """`landed` False: the branch holds the work and `note` says why the user's branch was left alone."""

    phase: str
    commit: str
    landed: bool
    note: str = ""


class PhaseMerged(Tagged, frozen=True, kw_only=True):
    """
    A phase that passed is part of the line: its work, begun on `base`, is in `commit` on top of `onto`.

    Where the line had not moved, `commit` is the phase's own. Otherwise `checks` are what was run on the merged tree.
    """

    phase: str
    base: str
    onto: str
    commit: str
    checks: tuple[CommandRun, ...] = ()


class MergeRefused(Tagged, frozen=True, kw_only=True):
    """The work of a phase that passed does not go with the line as it is now: the phase is run again on top of it."""

    phase: str
    base: str
    onto: str
    because: str
    conflicts: tuple[str, ...] = ()
    checks: tuple[CommandRun, ...] = ()


class CompletionStarted(Tagged, frozen=True, kw_only=True):
    """All that passed is landed. The brief names the phases to look at; its criteria are all of theirs."""

    brief: Brief


class CompletionFinished(Tagged, frozen=True, kw_only=True):
    """
    What integration check, self-audit and version bump came to. `commit` is the line with what was mended and bumped.

    `because` says why integration failed, `version` what the project was bumped to, `note` why it was not. `covered`
    are the phases that were looked at; None in runs of versions that looked at all targets.
    """

    commit: str
    integration: Integration = "not_run"
    because: str = ""
    self_audit: SelfAudit | None = None
    version: str = ""
    note: str = ""
    covered: tuple[str, ...] | None = None

    @property
    def clean(self) -> bool:
        """Whether nothing is left that a person should look at."""
        return self.integration != "fail" and not (self.self_audit and self.self_audit.gaps_remaining)


class WaitStarted(Tagged, frozen=True, kw_only=True):
    """
    Nobody can be asked for a call now, so it is put again at `until`; `stream` is that of its pass.

    `backend` is who will be asked then and `outcome` why not now, `attempt` the how manieth time in a row. `told`: the
    agent itself said until when; otherwise it was reckoned.
    """

    call: str
    stream: str
    phase: str
    step: str
    role: Role
    backend: str
    outcome: Outcome
    until: str
    attempt: int = 1
    told: bool = False


class WaitEnded(Tagged, frozen=True, kw_only=True):
    """
    `due`: its time came. `retried`: a person wants `backend` asked at once. `failed_over`: another one can be asked.
    """

    call: str
    backend: str
    how: Literal["due", "retried", "failed_over"]


class RunStopped(Tagged, frozen=True, kw_only=True):
    """
    Stopped before its end and resumable. `brake` names the brake that did it, `do` is what to type to go on.

    `checkpoint` is how many phases had ended at a pause that was asked for.
    """

    exit_code: int
    reason: str
    brake: str = ""
    do: str = ""
    checkpoint: int = 0


class RunFinished(Tagged, frozen=True, kw_only=True):
    """`brake` and `do` as of a run that was stopped: a cap for the whole run ends it."""

    status: str
    exit_code: int
    reason: str
    brake: str = ""
    do: str = ""


class Noted(Tagged, frozen=True, kw_only=True):
    """One of the rules' named events (EVT-01, EVT-02) that no other entry implies."""

    event: str
    phase: str | None = None
    step: str | None = None
    details: dict[str, Any] = {}


# A phase's stream


class StepStarted(Tagged, frozen=True, kw_only=True):
    """Written before anything happens. `base` is the commit to go back to, `boot` tells a restart from a power cut."""

    step: str
    n: int
    base: str
    nonce: str
    boot: str
    task: str | None = None


class AgentStarted(Tagged, frozen=True, kw_only=True):
    """`backend` is the agent that was asked, by its name."""

    call: str
    role: Role
    pid: int
    birth: str
    backend: str = ""


class AgentAnswered(Tagged, frozen=True, kw_only=True):
    """
    `wrote` are planning files the role may write, `touched` those it changed though it may not.

    `issues` is what was wrong with the answer as a whole, whatever it says. `backend` is the agent that gave it,
    `tries` what it tried to reach.
    """

    call: str
    role: Role
    task: str | None = None
    outcome: Outcome
    answer: str | None
    text: str
    usage: Usage
    commands: tuple[str, ...]
    seconds: float
    observes: bool = False
    resets_at: str | None = None
    wrote: dict[str, str] = {}
    touched: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    model: str | None = None
    thread: Thread | None = None
    backend: str = ""
    tries: tuple[Try, ...] = ()


class StepFinished(Tagged, frozen=True, kw_only=True):
    step: str
    n: int
    commit: str
    result: StepResult
    verdict: Verdict
    seconds: float = 0.0


RunEvent = (
    RunStarted
    | RunResumed
    | PhaseStarted
    | PhaseFinished
    | PhaseSkipped
    | VerdictGiven
    | LandingStarted
    | PhaseLanded
    | PhaseMerged
    | MergeRefused
    | CompletionStarted
    | CompletionFinished
    | WaitStarted
    | WaitEnded
    | RunStopped
    | RunFinished
    | Noted
)
PhaseEvent = StepStarted | AgentStarted | AgentAnswered | StepFinished
Event = RunEvent | PhaseEvent


class Entry(Value, frozen=True, kw_only=True):
    """
    One line of a stream: its number there from 0, when it was written (UTC, ISO 8601), and what happened.

    `hash` is its link of the journal's chain: it covers this entry and every one written before it.
    """

    number: int
    at: str
    event: Event
    hash: str = ""


def stream_of(run: str, phase: str, number: int) -> str:
    return f"{run}/{phase}" if number == 0 else f"{run}/{phase}~{number}"
