"""
Everything the journal can say. Past tense: each is written when, and only when, it has happened.

A run has one stream, `<run>`, and each pass of a phase through the pipeline has its own: `<run>/<phase>` for the first,
`<run>/<phase>~<number>` for those after it (a remediation, or a second try in a resumed run). The steps behind the last
phase are in `<run>/completion`.
"""

from typing import Any, Literal

from autopilot.domain.agent import Outcome, Role
from autopilot.domain.answers import Deferral
from autopilot.domain.completion import Integration, SelfAudit
from autopilot.domain.evidence import Usage
from autopilot.domain.phase import Phase, Plan
from autopilot.domain.results import StepResult
from autopilot.domain.returns import Justification, PassEvidence, SplitDetails
from autopilot.domain.run_caps import RunCaps
from autopilot.domain.settings import Settings
from autopilot.domain.value import Tagged, Value
from autopilot.domain.verdict import Verdict


class Spec(Value, frozen=True, kw_only=True):
    """The frozen specification: INV-11..13."""

    path: str
    sha256: str


class Brief(Value, frozen=True, kw_only=True):
    """
    All a pass of a phase starts from. SPWN-01: summaries and paths, never another phase's content.

    `number` counts the phase's passes in this run from 0; `cycle` is 0 unless the pass is a remediation. `done` are
    tasks of the plan that an earlier pass finished and handed over (CTXE-01r), `held` the criteria the phase's first
    pass held out. `repo_map` is what became of the map of the code it starts from, and `repo_map_path` where that is;
    empty without one (RMAP-01..05).
    """

    phase: Phase
    dir: str
    base: str
    position: int
    total: int
    number: int = 0
    cycle: int = 0
    feedback: tuple[str, ...] = ()
    plan: Plan | None = None
    skip_research: bool = False
    pass_threshold: float = 9.0
    requirements: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    earlier: dict[str, int] = {}
    done: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    repo_map: str = ""
    repo_map_path: str = ""


class StepDigest(Value, frozen=True, kw_only=True):
    """RET-04: one entry of `pipeline_steps`."""

    status: str
    agent_spawned: bool = False
    confidence: float | None = None
    skip_reason: str | None = None
    pass_ratio: float | None = None
    alignment_score: float | None = None
    score_band: str | None = None


class PhaseOutcome(Value, frozen=True, kw_only=True):
    """RET-01: how a pass ended. `commit` is the tip of its work, the line's next base when it counts."""

    phase: str
    status: Literal["completed", "failed", "needs_human_verification"]
    reason: str
    commit: str
    alignment_score: float | None = None
    tasks_completed: str = "0/0"
    tasks_failed: str = "0/0"
    commit_shas: tuple[str, ...] = ()
    automated_checks: dict[str, bool | str] = {}
    issues: tuple[str, ...] = ()
    debug_attempts: int = 0
    replan_attempts: int = 0
    recommendation: str = "proceed"
    summary: str = ""
    verification_duration_seconds: float = 0.0
    unanchored: bool = False
    rollback: bool = False
    rollback_from: str | None = None
    rollback_to: str | None = None
    diagnostic_branch: str | None = None
    pipeline_steps: dict[str, StepDigest] = {}
    human_verify_justification: Justification | None = None
    deferral_evidence: tuple[Deferral, ...] = ()
    split_details: SplitDetails | None = None
    evidence: PassEvidence = PassEvidence()


# The run's stream


class RunStarted(Tagged, frozen=True, kw_only=True):
    """
    `folders` and `requirements` are by phase id; `completed` are the phases done before this run.

    `proposals` are the hashes of plans that agents made in earlier runs and that led to no pass. `tools` are the
    versions of what the run's facts depend on.
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


class RunResumed(Tagged, frozen=True, kw_only=True):
    """
    `retry` names the phases that had failed or were blocked and get one more chance (RSM-03).

    `caps` are those the user gave anew. `anew` is how many steps had been finished when the count of tries began again,
    None when it goes on.
    """

    pid: int
    spec: Spec
    retry: tuple[str, ...] = ()
    tools: dict[str, str] = {}
    caps: RunCaps = RunCaps()
    anew: int | None = None


class PhaseStarted(Tagged, frozen=True, kw_only=True):
    brief: Brief


class PhaseFinished(Tagged, frozen=True, kw_only=True):
    """A pass is over, and `verdict` is what the run makes of it."""

    cycle: int
    outcome: PhaseOutcome
    verdict: Verdict


class PhaseSkipped(Tagged, frozen=True, kw_only=True):
    phase: str
    reason: str
    blocking_phase: str | None = None
    original_run_timestamp: str | None = None


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


class CompletionStarted(Tagged, frozen=True, kw_only=True):
    """Every target has passed and is landed. The brief's criteria are those of all phases of the run."""

    brief: Brief


class CompletionFinished(Tagged, frozen=True, kw_only=True):
    """
    What integration check, self-audit and version bump came to. `commit` is the line with what was mended and bumped.

    `because` says why integration failed, `version` what the project was bumped to, `note` why it was not.
    """

    commit: str
    integration: Integration = "not_run"
    because: str = ""
    self_audit: SelfAudit | None = None
    version: str = ""
    note: str = ""

    @property
    def clean(self) -> bool:
        """Whether nothing is left that a person should look at."""
        return self.integration != "fail" and not (self.self_audit and self.self_audit.gaps_remaining)


class RunStopped(Tagged, frozen=True, kw_only=True):
    """Stopped before its end and resumable. `brake` names the brake that did it, `do` is what to type to go on."""

    exit_code: int
    reason: str
    brake: str = ""
    do: str = ""


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
    call: str
    role: Role
    pid: int
    birth: str


class AgentAnswered(Tagged, frozen=True, kw_only=True):
    """
    `wrote` are planning files the role may write, `touched` those it changed though it may not.

    `issues` is what was wrong with the answer as a whole, whatever it says.
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
    | LandingStarted
    | PhaseLanded
    | CompletionStarted
    | CompletionFinished
    | RunStopped
    | RunFinished
    | Noted
)
PhaseEvent = StepStarted | AgentStarted | AgentAnswered | StepFinished
Event = (
    RunStarted
    | RunResumed
    | PhaseStarted
    | PhaseFinished
    | PhaseSkipped
    | LandingStarted
    | PhaseLanded
    | CompletionStarted
    | CompletionFinished
    | RunStopped
    | RunFinished
    | Noted
    | StepStarted
    | AgentStarted
    | AgentAnswered
    | StepFinished
)


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
