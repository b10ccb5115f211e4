"""Defines the settings, limits and modes a run was started with."""

from typing import Literal, get_args

import msgspec

from autopilot.domain.agent_call import REVIEWERS
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.evidence import Severity
from autopilot.domain.phase import Kind
from autopilot.domain.value import Value
from autopilot.domain.visual import VisualTesting


class Modes(Value, frozen=True, kw_only=True):
    """
    What was asked for besides the phases.

    A flag that may name phases is None when it was not given, and empty when it was given without a name. `jobs` is how
    many phases may be worked on at a time, `checkpoint_every` after how many the run pauses for a person. `debug`: the
    run looks for the cause of a problem that the user reported, outside the roadmap.
    """

    complete: bool = False
    map: str | None = None
    force: str | None = None
    quality: str | None = None
    gaps: str | None = None
    discuss: str | None = None
    sequential: bool = False
    checkpoint_every: int | None = None
    jobs: int = 1
    debug: bool = False

    @property
    def named(self) -> tuple[str, ...]:
        """The phases named behind flags that work on them."""
        return tuple(text for text in (self.force, self.quality, self.gaps) if text)

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags in force, as they are typed."""
        given = {
            "--complete": self.complete,
            "--map": self.map is not None,
            "--force": self.force is not None,
            "--quality": self.quality is not None,
            "--gaps": self.gaps is not None,
            "--discuss": self.discuss is not None,
            "--sequential": self.sequential,
            "--checkpoint-every": self.checkpoint_every is not None,
            "--jobs": self.jobs > 1,
        }
        return tuple(flag for flag, is_given in given.items() if is_given)


def asks(modes: Modes) -> bool:
    """Whether people are asked before anything is run."""
    return modes.map is not None or modes.discuss is not None


class Clash(Value, frozen=True, kw_only=True):
    """Two flags that exclude each other: what each is for, and what to do instead."""

    flags: tuple[str, str]
    what: str
    why: str
    do: str


CLASHES = (
    Clash(
        flags=("--force", "--quality"),
        what="Cannot combine --force (redo from scratch) with --quality (refine existing).",
        why="One plans and builds a phase anew, the other keeps its plan and mends what lowered its score.",
        do="Use one or the other.",
    ),
    Clash(
        flags=("--force", "--gaps"),
        what="Cannot combine --force (redo from scratch) with --gaps (close what is missing).",
        why="The gaps of the work as it is say nothing about work that is yet to be done anew.",
        do="Use --force first; when the phase has its new score, use --gaps.",
    ),
    Clash(
        flags=("--force", "--complete"),
        what="Cannot combine --force (completed phases) with --complete (outstanding phases).",
        why="No phase is both, so one of the two would have nothing to do.",
        do="Run autopilot --complete for what is outstanding, or autopilot --force N for phase N.",
    ),
    Clash(
        flags=("--force", "--map"),
        what="Cannot combine --force (redo from scratch) with --map (ask before the first try).",
        why="Mapping asks what an outstanding phase is about; --force is for phases that are completed.",
        do="Run autopilot --map N first and autopilot --force N after it; or use --discuss with --force.",
    ),
    Clash(
        flags=("--gaps", "--complete"),
        what="Cannot combine --gaps (completed phases) with --complete (outstanding phases).",
        why="Gaps are read from the score of a phase that is completed, and --complete leaves those alone.",
        do="Run autopilot --complete first and autopilot --gaps when it is over.",
    ),
    Clash(
        flags=("--sequential", "--jobs"),
        what="Cannot combine --sequential (one phase at a time) with --jobs (several at a time).",
        why="They say the opposite of each other.",
        do="Leave out one of them; without --jobs phases run one after the other.",
    ),
)


class FlagsClash(UsageInvalid):
    """Two flags that exclude each other were given together."""

    event = "flag_mutual_exclusivity_error"


def check(modes: Modes) -> None:
    """Raises `FlagsClash` for flags that exclude each other (FLAG-01..04)."""
    given = set(modes.flags)
    for clash in CLASHES:
        if given.issuperset(clash.flags):
            raise FlagsClash(clash.what, why=clash.why, do=clash.do)


SandboxChoice = Literal["auto", "bubblewrap", "landlock", "seatbelt", "none"]
"""The tier the user wants: the strongest that holds, a certain one, or none at all."""


class Commands(Value, frozen=True, kw_only=True):
    """The project's own commands. None: not configured, so its gate is skipped, never failed."""

    compile: str | None = None
    lint: str | None = None
    test: str | None = None
    build: str | None = None

    def configured(self) -> tuple[tuple[str, str], ...]:
        pairs = (("compile", self.compile), ("lint", self.lint), ("test", self.test), ("build", self.build))
        return tuple((name, command) for name, command in pairs if command)


class Limits(Value, frozen=True, kw_only=True):
    """
    Every bound of the pipeline in one place. `agent_turns` of 0 is none.

    Dollars are what caps a run. `tokens_per_*` are None unless the user sets them; `unpriced_tokens_per_*` hold for
    calls whose price nobody knows. All of them count input that did not come from a cache, and output.

    From `no_progress` on they are brakes: they stop the run and not only a phase. From `wait_margin_seconds` on they
    are about agents that are not to be had: how long to wait for a usage window, and how often to ask a service in
    trouble, or an agent whose calls are killed from outside. `idle_seconds` is how long an agent may neither print nor
    change anything; 0: for ever.

    From `work_files` on they bound what one agent may leave to be committed: new or changed files, their size in all
    and of each, files that git ignores, and how long looking may take.
    """

    agent_seconds: int = 3600
    agent_turns: int = 0
    command_seconds: int = 60
    gate_seconds: int = 600
    plan_checks: int = 3
    task_fixes: int = 2
    debug_attempts: int = 3
    replans: int = 1
    remediation_cycles: int = 2
    unanswered: int = 2
    steps_per_phase: int = 200
    min_verification_seconds: float = 120
    no_progress: int = 3
    same_error: int = 5
    alternating_errors: int = 6
    growing_diffs: int = 3
    retries: int = 10
    cooldown_seconds: int = 300
    tokens_per_phase: int | None = None
    tokens_per_run: int | None = None
    unpriced_tokens_per_phase: int = 2_000_000
    unpriced_tokens_per_run: int = 20_000_000
    usd_per_phase: float = 10.0
    usd_per_run: float = 100.0
    minutes_per_phase: float = 120.0
    minutes_per_run: float = 1440.0
    idle_seconds: float = 900.0
    wait_margin_seconds: float = 60.0
    wait_minutes: float = 5.0
    wait_most_minutes: float = 60.0
    wait_hours: float = 12.0
    overload_seconds: float = 10.0
    overload_most_seconds: float = 600.0
    overload_tries: int = 12
    interruptions: int = 10
    work_files: int = 20_000
    work_mebibytes: int = 1024
    file_mebibytes: int = 256
    ignored_files: int = 1_000_000
    walk_seconds: float = 10.0


class Honesty(Value, frozen=True, kw_only=True):
    """
    How closely the work is watched.

    `control_files` are patterns of files that may change what a check does, `kinds` says by phase id which phases are
    no features, `rules` how severe a rule on tampering is. A share of the user's criteria is held out from those who do
    the work.
    """

    held_out_share: float = 0.25
    control_files: tuple[str, ...] = ()
    kinds: dict[str, Kind] = {}
    rules: dict[str, Severity] = {}


class Network(Value, frozen=True, kw_only=True):
    """
    What confined agents may reach besides the service of their program, as `host`, `host:port` or `*.suffix`.

    `asked` are hosts of the command line, `hosts` those of the user's own config. `registries` lets agents who do the
    work install packages as the set-up command may; `registry_hosts` are those the user names. `open`: no limit at all.
    """

    open: bool = False
    asked: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    registries: bool = False
    registry_hosts: tuple[str, ...] = ()

    @property
    def listed(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.asked, *self.hosts)))


class Settings(Value, frozen=True, kw_only=True):
    """
    `agent_env` names variables an agent gets besides the usual ones; `sign_receipts` asks for signatures.

    `dependencies` are folders of the checkout to link into clones; `setup` is a command that makes them instead.

    `integration_check`, `self_audit` and `version_bump` are what follows the last phase; a run of a version that did
    not know them goes on without. `deferral_threshold` is the confidence from which on nothing is left to a person.
    `models` names by role a model or profile that goes before `model`.

    `wait` False: a usage window that is used up stops the run. `failover` are agents to ask when the usual one is not
    to be had, in their order; `backends` by role all that are asked, the usual one included. `detected` names the
    commands that come from the project's manifest and not from its config. `carry` are files of the user's, by the name
    of the agent that gets them.
    """

    agent: str
    reviewer: str | None = None
    model: str | None = None
    lenient: bool = False
    pass_threshold: float = 9.0
    research: bool = True
    commands: Commands = Commands()
    limits: Limits = Limits()
    sandbox: SandboxChoice = "auto"
    confine_agents: bool = True
    trust_repository_config: bool = False
    honesty: Honesty = Honesty()
    visual: VisualTesting | None = None
    agent_env: tuple[str, ...] = ()
    sign_receipts: bool = False
    dependencies: tuple[str, ...] = ()
    setup: str | None = None
    integration_check: bool = False
    self_audit: bool = False
    version_bump: bool = False
    modes: Modes = Modes()
    deferral_threshold: float = 6.0
    keep_awake: bool = True
    models: dict[str, str] = {}
    wait: bool = True
    failover: tuple[str, ...] = ()
    backends: dict[str, tuple[str, ...]] = {}
    detected: tuple[str, ...] = ()
    network: Network = Network()
    carry: dict[str, tuple[str, ...]] = {}


def carried(settings: Settings) -> str:
    """The files of the user's that agents get, in one line; empty without any."""
    return "; ".join(f"{agent}: {', '.join(files)}" for agent, files in sorted(settings.carry.items()))


def detected(settings: Settings) -> Commands:
    """The commands that were found in the project's manifest; those its config names are the user's word."""
    return Commands(**{name: command for name, command in settings.commands.configured() if name in settings.detected})


FAILED_OVER = "agent_failover"


class Ladders(Value, frozen=True, kw_only=True):
    """
    The agents of a run by their names; all of them can be asked here.

    `roles` has for some roles all that are asked, `others` is whom to ask for any other role after the usual agent.
    """

    agent: str = "agent"
    reviewer: str = "reviewer"
    others: tuple[str, ...] = ()
    roles: dict[str, tuple[str, ...]] = {}

    def usual(self, role: str) -> str:
        return self.reviewer if role in REVIEWERS else self.agent

    def of(self, role: str) -> tuple[str, ...]:
        """At least one, each once."""
        return tuple(dict.fromkeys(self.roles.get(role) or (self.usual(role), *self.others)))


Profile = Literal["quality", "balanced", "speed"]
PROFILES: tuple[str, ...] = get_args(Profile)
# The names under which profiles have always been handed to agents.
ALIASES = ("opus", "sonnet", "haiku")


def model_of(role: str, settings: Settings) -> str | None:
    """A model's name, or a profile's, which each vendor has models for. What was set for the role goes first."""
    return settings.models.get(role) or settings.model


def known_model(agent: str, model: str | None) -> str | None:
    """The model to show. An alias names a model of one vendor's; other agents choose their own for the profile."""
    foreign = agent.partition(":")[0] not in {"claude", "auto"} and portable(model) is not None
    return None if foreign else model


def portable(model: str | None) -> str | None:
    """What an agent of another vendor can make of it: a profile is known to all, a model's name to its own alone."""
    return model if model in PROFILES or model in ALIASES else None


MINUTES = 60


class RunCaps(Value, frozen=True, kw_only=True):
    """`--max-usd`, `--max-tokens`, `--max-hours`; None: not said."""

    usd: float | None = None
    tokens: int | None = None
    hours: float | None = None


def capped(limits: Limits, caps: RunCaps) -> Limits:
    """The limits with these caps for the run. A phase's own share grows with them and never shrinks."""
    minutes = None if caps.hours is None else caps.hours * MINUTES
    said = {"usd": caps.usd, "tokens": caps.tokens, "unpriced_tokens": caps.tokens, "minutes": minutes}
    changes: dict[str, float] = {}
    for unit, most in said.items():
        if most is None:
            continue
        before, share = getattr(limits, f"{unit}_per_run"), getattr(limits, f"{unit}_per_phase")
        changes[f"{unit}_per_run"] = most
        if before and share is not None:
            changes[f"{unit}_per_phase"] = type(share)(share * max(1.0, most / before))
    return msgspec.structs.replace(limits, **changes)
