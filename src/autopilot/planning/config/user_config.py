"""What the user settled for all their projects: the file in their own config folder, never one of a repository."""

import tomllib
from collections.abc import Mapping
from typing import Annotated, get_args

import msgspec

from autopilot.domain.agent_call import Role
from autopilot.domain.errors import ConfigInvalid, UsageInvalid
from autopilot.domain.request import RunRequest
from autopilot.domain.settings import Network, SandboxChoice, Settings
from autopilot.domain.value import Value
from autopilot.policy.notification_rules import QUIET_HOURS, Occasion

VARIABLE = "AUTOPILOT_SANDBOX"
CARRIERS = ("claude", "codex", "gemini", "opencode", "goose", "qwen", "copilot", "pi", "acp", "exec")
_READ: msgspec.json.Decoder[SandboxChoice | None] = msgspec.json.Decoder(SandboxChoice | None)


class AgentChoices(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    What agents are given beyond the usual: `env` are further variables of the environment.

    A repository that could name them could have your secrets carried away.

    `failover` are agents to ask, one after the other, when the usual one is not to be had; `roles` has all that are
    asked for a role.
    """

    confine: bool = True
    trust_repository_config: bool = False
    env: tuple[str, ...] = ()
    failover: tuple[str, ...] = ()
    roles: dict[Role, tuple[str, ...]] = {}


class OwnFiles(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    What the home of one agent has of the user's files, besides its account.

    `carry` are files and folders below the program's own folder or, with `~/`, below the home.
    """

    carry: tuple[str, ...] = ()


class NotifyChoices(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    How the user is told of what happens while they are away.

    `urls` are addresses as Apprise has them; `quiet` are the hours, in local time, in which nobody is told anything.
    """

    on: tuple[Occasion, ...] = get_args(Occasion)
    urls: tuple[str, ...] = ()
    desktop: bool = False
    bell: bool = False
    quiet: Annotated[str, msgspec.Meta(pattern=QUIET_HOURS)] = ""


class TraceChoices(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`otel`: every run sends its traces to the collector that the OTEL_* variables name."""

    otel: bool = False


class NetworkChoices(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    What confined agents may reach besides their own service, as `host`, `host:port` or `*.suffix`.

    `registries`: the hosts that the set-up command installs from, besides those of the user's own client settings; or
    true, which lets agents that do the work install from those as well. `open`: agents reach all that the user does.
    """

    hosts: tuple[str, ...] = ()
    registries: bool | tuple[str, ...] = False
    open: bool = False


class UserChoices(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    sandbox: SandboxChoice | None = None
    keep_awake: bool = True
    wait: bool | None = None
    agent: AgentChoices = AgentChoices()
    agents: dict[str, OwnFiles] = {}
    notify: NotifyChoices = NotifyChoices()
    traces: TraceChoices = TraceChoices()
    network: NetworkChoices = NetworkChoices()


def read(text: str | None, path: str) -> UserChoices:
    """Raises `ConfigInvalid` for anything not understood: a choice about safety is never half read."""
    try:
        choices = msgspec.convert(tomllib.loads(text or ""), UserChoices)
    except (ValueError, msgspec.ValidationError, RecursionError) as error:
        raise ConfigInvalid(
            f"{path} cannot be used: {error}.",
            why="It says how commands and agents are confined, and how you are told of things.",
            do='Write it as sandbox = "auto" and [agent] confine = true; docs/configuration.md has all of it.',
        ) from error
    for name, own in choices.agents.items():
        if name not in CARRIERS:
            raise ConfigInvalid(
                f"{path} has files for {name!r}, which is not an agent.",
                why="They would reach nobody, and you would believe they did.",
                do=f"Write [agents.NAME] with one of {', '.join(CARRIERS)}.",
            )
        for file in own.carry:
            parts = file.removeprefix("~/").split("/")
            if not {"", ".", ".."}.isdisjoint(parts) or file == "~":
                raise ConfigInvalid(
                    f"{path} wants to carry {file!r} to {name}, which is no file below your home.",
                    why="Nothing else of yours reaches an agent.",
                    do='Name files as in carry = ["settings.json", "~/.gitconfig"].',
                )
    return choices


def asked(request: RunRequest, choices: UserChoices, environment: Mapping[str, str]) -> RunRequest:
    """
    The tier of the command line, else of the environment, else of the user's file.

    Whether to wait, and whom to ask instead: of the command line, else of the user's file.
    """
    return msgspec.structs.replace(
        request,
        sandbox=request.sandbox or of_environment(environment) or choices.sandbox,
        wait=choices.wait if request.wait is None else request.wait,
        failover=request.failover or choices.agent.failover,
    )


def of_environment(environment: Mapping[str, str]) -> SandboxChoice | None:
    said = environment.get(VARIABLE) or None
    try:
        return _READ.decode(msgspec.json.encode(said))
    except msgspec.ValidationError as error:
        raise UsageInvalid(
            f"{VARIABLE} is {said!r}, which is no sandbox.",
            why="It decides what the commands of a run can reach.",
            do=f"Set it to one of {', '.join(get_args(SandboxChoice))}, or unset it.",
        ) from error


def applied(settings: Settings, choices: UserChoices) -> Settings:
    """The settings with what the user settled for agents."""
    return msgspec.structs.replace(
        settings,
        confine_agents=choices.agent.confine,
        trust_repository_config=choices.agent.trust_repository_config,
        carry={name: own.carry for name, own in choices.agents.items() if own.carry},
        agent_env=choices.agent.env,
        keep_awake=settings.keep_awake and choices.keep_awake,
        backends={**settings.backends, **choices.agent.roles},
        network=msgspec.structs.replace(
            network_of(choices.network),
            open=settings.network.open or choices.network.open,
            asked=settings.network.asked,
        ),
    )


def opened_by(choices: UserChoices, request: RunRequest) -> UserChoices:
    """The same, with the network open where the command line opens it."""
    network = msgspec.structs.replace(choices.network, open=choices.network.open or request.open_network)
    return msgspec.structs.replace(choices, network=network)


def network_of(choices: NetworkChoices) -> Network:
    named = choices.registries
    return Network(
        open=choices.open,
        hosts=choices.hosts,
        registries=named is True,
        registry_hosts=() if isinstance(named, bool) else named,
    )
