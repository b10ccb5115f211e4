"""What a run was started with. Stored in its first event, so a resumed run goes by the same settings."""

from typing import Literal

from autopilot.domain.evidence import Severity
from autopilot.domain.modes import Modes
from autopilot.domain.phase import Kind
from autopilot.domain.value import Value
from autopilot.domain.visual import VisualTesting

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
