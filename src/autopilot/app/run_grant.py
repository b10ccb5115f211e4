"""Writes what the user allows a run when they start it, and applies that grant and today's config at a resume."""

import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from autopilot import __version__
from autopilot.agents.choose_agent import staffed
from autopilot.app.wiring import Crew
from autopilot.authority.grants import Grant, GrantedAgent, Grants
from autopilot.domain.errors import ConsentMissing, SandboxUnavailable
from autopilot.domain.events import RunStarted
from autopilot.domain.request import Resumption, RunRequest
from autopilot.domain.settings import Network, SandboxChoice, Settings
from autopilot.planning.config.run_settings import settings_of
from autopilot.planning.config.user_config import NetworkChoices, UserChoices, applied, network_of
from autopilot.planning.start.read_project import Project

STRENGTH = {"none": 0, "seatbelt": 1, "landlock": 1, "bubblewrap": 2, "auto": 3}


def grant_of(first: RunStarted, crew: Crew, launch: Path) -> Grant:
    """What a run that starts like this is allowed."""
    settings = first.settings
    return Grant(
        run=first.run,
        root=str(Path(first.root).resolve()),
        version=__version__,
        settings=settings,
        tier=crew.ground.tier,
        launch=str(launch.absolute()),
        agents=tuple(_agents(settings, crew)),
        confined=settings.confine_agents,
        egress=(*["open"] * settings.network.open, *["registries"] * settings.network.registries),
        hosts=settings.network.listed,
        variables=settings.agent_env,
    )


def _agents(settings: Settings, crew: Crew) -> Iterator[GrantedAgent]:
    for name, argv in crew.commands.items():
        roles = [role for role, names in settings.backends.items() if name in names]
        roles += ["agent"] * (name == settings.agent) + ["reviewer"] * (name == (settings.reviewer or settings.agent))
        roles += ["failover"] * (name in settings.failover)
        yield GrantedAgent(name=name, roles=tuple(roles), program=argv[0] if argv else "", argv=argv)


def granted(run: RunStarted, root: Path) -> Grant | None:
    return Grants().read(run.run, root)


def anew(run: RunStarted, project: Project, choices: UserChoices, request: RunRequest) -> Settings:
    """
    The settings of a run without a grant whose user names the agent again: from the request, their config and the
    project's of today. What kind of run it is, and which commands do not run here, its journal knows.
    """
    old = run.settings
    asked = msgspec.structs.replace(
        request, model=old.model, lenient=old.lenient, modes=old.modes, visual=old.visual is not None
    )
    settings = applied(staffed(settings_of(asked, project), os.environ), choices)
    return msgspec.structs.replace(
        settings,
        commands=msgspec.structs.replace(settings.commands, **dict.fromkeys(run.unused)),
        integration_check=old.integration_check,
        self_audit=old.self_audit,
        version_bump=old.version_bump,
        deferral_threshold=old.deferral_threshold,
    )


def missing(run: RunStarted) -> ConsentMissing:
    """Nobody asks the journal who may be started: the user names the agent once more."""
    agent = shlex.quote(run.settings.agent)
    tier = " --unsandboxed" if run.settings.sandbox == "none" else ""
    return ConsentMissing(
        f"There is no grant for {run.run}.",
        why="What a run may start is kept in your own folder, and its journal is never asked for it.",
        do=f"If you want this agent to work here, name it: autopilot resume --agent {agent}{tier}",
    )


def tightened(grant: Grant, choices: UserChoices, said: SandboxChoice | None, changes: Resumption) -> Settings:
    """
    The grant's settings for a resume. What the user's config and environment say today (`said` is their sandbox) can
    only take away from them, but for the network's lists and the roles, which are those of today; a flag typed today is
    a grant of its own.
    """
    settings, agents = grant.settings, choices.agent
    today = {name: own.carry for name, own in choices.agents.items()}
    stronger = said if said and STRENGTH[said] > STRENGTH[settings.sandbox] else settings.sandbox
    return msgspec.structs.replace(
        settings,
        agent=changes.agent or settings.agent,
        sandbox=changes.sandbox or stronger,
        confine_agents=settings.confine_agents or agents.confine,
        trust_repository_config=settings.trust_repository_config and agents.trust_repository_config,
        carry={name: kept for name, files in settings.carry.items() if (kept := _both(files, today.get(name, ())))},
        agent_env=_both(settings.agent_env, agents.env),
        keep_awake=settings.keep_awake and choices.keep_awake and changes.keep_awake,
        wait=settings.wait if changes.wait is None else changes.wait,
        failover=changes.failover or settings.failover,
        backends={**settings.backends, **agents.roles},
        network=_network(settings.network, choices.network, changes),
    )


def _network(granted: Network, choices: NetworkChoices, changes: Resumption) -> Network:
    """The hosts of the command line then and now, and those of the user's own file as it is today."""
    of_file = network_of(choices)
    return msgspec.structs.replace(
        of_file, open=granted.open or changes.open_network, asked=tuple(dict.fromkeys((*granted.asked, *changes.hosts)))
    )


def _both(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    wanted = set(other)
    return tuple(name for name in one if name in wanted)


def check_tier(grant: Grant, tier: str, changes: Resumption) -> None:
    """Raises `SandboxUnavailable` where the sandbox that holds today is weaker than the granted one."""
    if changes.sandbox is None and STRENGTH[tier] < STRENGTH[grant.tier]:
        raise SandboxUnavailable(
            f"{grant.run} was started in the sandbox {grant.tier}, and only {tier} holds here today.",
            why="A resumed run is never confined less than you allowed when you started it.",
            do=f"Make {grant.tier} work again (autopilot doctor), or allow it: autopilot resume --sandbox {tier}",
        )


def moved(grant: Grant, crew: Crew) -> Iterator[str]:
    """A line for each agent whose program is now another file than the one that was found at the start."""
    for agent in grant.agents:
        now = crew.commands.get(agent.name, ())
        if now and agent.program and now[0] != agent.program:
            yield f"{agent.name} is {now[0]} now; when the run started it was {agent.program}."
