"""What a run is driven with: its agents, where commands run, and what earlier runs left."""

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from platformdirs import user_cache_path

from autopilot.agents import choose_agent as agents
from autopilot.agents import safe_write as placing
from autopilot.agents.accounts import hosts as reach
from autopilot.agents.accounts.homes import Homes
from autopilot.agents.backends.catalogue import PREFERRED
from autopilot.agents.cli_agent import Desk
from autopilot.agents.discovery import place_of
from autopilot.agents.wrappers import PricedAgent, passing_on
from autopilot.app.dependencies import Ignores, Provision, provide
from autopilot.authority.user_folder import user_folder_path
from autopilot.codemap.builder import GitAtlas
from autopilot.domain.errors import AgentUnavailable, ConfigInvalid, UsageInvalid
from autopilot.domain.events import RunStarted
from autopilot.domain.process import Processes
from autopilot.domain.request import Check
from autopilot.domain.settings import Ladders, Network, Settings, carried
from autopilot.history.digest import left_behind
from autopilot.journal.earlier_runs import Ledger, ledger_of_archive, read_ledger
from autopilot.journal.lock import boot_id
from autopilot.journal.sqlite import NoRun, SqliteJournal
from autopilot.journal.state_file import StateFile
from autopilot.planning.start import prices
from autopilot.ports.agents import Agent
from autopilot.sandbox import choose_tier as sandboxes
from autopilot.sandbox.egress.passage import contacted
from autopilot.sandbox.egress.registries import registries
from autopilot.sandbox.egress.rules import Refused, rule_of
from autopilot.sandbox.keeper.held_calls import LEASE_S, KeptProcesses
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.processes.dependency_path import EquippedProcesses
from autopilot.sandbox.processes.scratch import room
from autopilot.sandbox.tiers.agent_view import REPOSITORY_CONFIG, AgentView, repository_config
from autopilot.sandbox.tiers.agents import no_fence
from autopilot.workspace.files.removal import remove
from autopilot.workspace.files.replay_files import Redoing
from autopilot.workspace.git import COMMON, OURS, Git, our_env, user_env
from autopilot.workspace.git_workspace import GitWorkspace, Places
from autopilot.workspace.read_only_git import ReadOnlyRepository, read_only
from autopilot.workspace.signing import GitSigner
from autopilot.workspace.user_repository import UserRepository

Warn = Callable[[str], None]
LONGEST_LEASE_S = 86_400
PLAYED = ("scripted:", "replay:")
LEASE = "AUTOPILOT_LEASE"
OPEN_NETWORK = (
    "The network is open to agents: they reach every service that you reach, and can send anywhere what they read."
)


def cache_folder() -> Path:
    return Path(os.environ.get("AUTOPILOT_CACHE") or user_cache_path("autopilot"))


def processes_of(root: Path) -> ChildProcesses:
    """Children of a run in this repository, told from those of every other by its path."""
    return ChildProcesses(territory=hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:16])


def user_repository(root: Path, processes: ChildProcesses) -> UserRepository:
    """The repository the project in the folder is part of."""
    places = Places(root=root, cache=cache_folder())
    git = Git(processes=processes, cwd=places.top, env=user_env(os.environ), flags=COMMON)
    return UserRepository(places.top, git, places.within)


@contextmanager
def looked_at(root: Path, processes: ChildProcesses) -> Iterator[ReadOnlyRepository]:
    """The same repository for those who only look: nothing that it brings along can run."""
    places = Places(root=root, cache=cache_folder())
    with read_only(places.top, places.within, processes, os.environ, room) as repository:
        yield repository


def check_repository(root: Path, processes: ChildProcesses) -> str:
    """The commit a run starts from. Raises `RepositoryInvalid` where none can, before anything is written there."""
    repository = user_repository(root, processes)
    repository.shape()
    return repository.start().base


def kept_of(root: Path, processes: ChildProcesses, whose: str = "") -> KeptProcesses:
    """The calls of agents held for this repository; `whose` names who may take them up."""
    return KeptProcesses(root / ".autopilot" / "keep", processes, boot_id(), lease_s() or LEASE_S, whose)


def homes_of(places: Places, carry: Mapping[str, tuple[str, ...]], kept: KeptProcesses) -> Homes:
    """The homes that agents are lent in this repository; renewed sign-ins that were not taken over are the user's."""
    records = records_of(places.root)
    return Homes(
        places.pool / "homes",
        places.cache / "accounts",
        contacted=lambda call: contacted(records, call),
        carry=carry,
        keeping=kept,
        remove=remove,
    )


def lease_s() -> float:
    """How long a call goes on when its run is gone; 0 where it ends with the run."""
    if sys.platform != "linux" or not boot_id():
        return 0.0
    try:
        lease = float(os.environ.get(LEASE, LEASE_S))
    except ValueError:
        lease = -1.0
    if not 0 <= lease <= LONGEST_LEASE_S:
        raise UsageInvalid(
            f"{LEASE} is {os.environ[LEASE]!r}, which is no number of seconds from 0 to {LONGEST_LEASE_S}.",
            why="It says how long an agent goes on working when its run was killed.",
            do=f"Set it to such a number, or leave it out for {LEASE_S:.0f}.",
        )
    return lease


def _signature(settings: Settings) -> str:
    """Agents and how they are confined: a call of one crew is no answer to another."""
    asked = (settings.agent, settings.reviewer, settings.failover, sorted(settings.backends.items()))
    lent = (sorted(settings.carry.items()), settings.network)
    crew = (*asked, settings.sandbox, settings.confine_agents, settings.agent_env, *lent)
    return hashlib.sha256(repr(crew).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def past(home: Path) -> Ledger:
    """Raises `NotTheirs` where the journal is somebody else's."""
    file = StateFile(home)
    try:
        journal = SqliteJournal.read_only(home / "journal.db")
    except NoRun:
        return ledger_of_archive(file.archived())
    return read_ledger(journal, file.archived(journal.streams()))


def signer_of(home: Path, processes: ChildProcesses, warn: Warn) -> GitSigner:
    git = Git(processes=processes, cwd=home.parent, env=user_env(os.environ), flags=COMMON)
    return GitSigner(git=git, processes=processes, folder=home / "receipts", warn=warn)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """
    `staff` has every agent of `ladders` by its name, and `commands` how the program of each is started; `missing` tells
    of those that cannot be used here.
    """

    agent: Agent
    reviewer: Agent
    ladders: Ladders
    staff: Mapping[str, Agent]
    commands: Mapping[str, tuple[str, ...]]
    processes: ChildProcesses
    ground: sandboxes.Ground
    provision: Provision
    kept: KeptProcesses
    homes: Homes
    keep_awake: bool = True
    waits: bool = True
    missing: tuple[str, ...] = ()


def hire(begun: RunStarted, launch: Path, ignores: Ignores | None = None) -> Crew:
    """
    The agents of a run and where it runs; raises before anything is written when one cannot be used here.

    `ignores` says for those who only look whether git leaves a folder out.
    """
    root, settings = Path(begun.root), begun.settings
    processes, transcripts = processes_of(root), root / ".autopilot" / "transcripts"
    check_hosts(settings.network)
    ground = labeled(_ground(settings, processes), settings)
    places = Places(root=root, cache=cache_folder())
    workspace = GitWorkspace(places, processes, begun.run or "unnamed", os.environ)
    provision = provide(settings, root, workspace, ground, ignores or workspace.ignores)
    view = _view(begun, workspace, provision.readable)
    kept = kept_of(root, processes, _signature(settings))
    held = kept if lease_s() else processes
    confined = ground.agents(view, held) if settings.confine_agents else held
    confined = EquippedProcesses(confined, provision.kit) if provision.readable else confined
    called = passing_on(confined, settings.agent_env, os.environ)
    homes = homes_of(places, settings.carry, kept)
    desk = Desk(
        called,
        transcripts,
        begun.run,
        confined=settings.confine_agents and ground.tier != "none",
        past_work=lambda run: past_work(run, root / ".autopilot", processes),
        reach=lambda role: reach.allowed(role, settings.network, registries(os.environ).hosts),
        homes=homes,
    )
    staff, ladders, missing = staffed(settings, lambda name: _priced(agents.choose(name, desk, launch)))
    return Crew(
        agent=staff[ladders.agent],
        reviewer=staff[ladders.reviewer],
        ladders=ladders,
        staff=staff,
        commands={name: agents.command_of(name, launch) for name in staff},
        processes=processes,
        ground=ground,
        provision=provision,
        kept=kept,
        homes=homes,
        keep_awake=settings.keep_awake,
        waits=settings.wait,
        missing=missing,
    )


def staffed(settings: Settings, chosen: Callable[[str], Agent]) -> tuple[dict[str, Agent], Ladders, tuple[str, ...]]:
    """All agents of a run. Agent and reviewer must be there; those who stand in for them are left out if not."""
    agent, missing = settings.agent, list[str]()
    reviewer = settings.reviewer or agent
    staff = {agent: chosen(agent)}
    staff |= {reviewer: chosen(reviewer)} if reviewer != agent else {}
    for name in dict.fromkeys((*settings.failover, *(n for names in settings.backends.values() for n in names))):
        try:
            staff[name] = staff.get(name) or chosen(name)
        except AgentUnavailable as error:
            missing.append(f"{name} will not stand in for another agent: {error.what}.")
    roles = {role: tuple(name for name in names if name in staff) for role, names in settings.backends.items()}
    others = tuple(name for name in settings.failover if name in staff)
    return staff, Ladders(agent=agent, reviewer=reviewer, others=others, roles=roles), tuple(missing)


def _priced(agent: Agent) -> Agent:
    """The list is opened for the first call that tells its tokens and not its dollars."""
    return PricedAgent(agent, prices.cost_of)


def past_work(run: str, home: Path, processes: ChildProcesses) -> Callable[[str, str], None]:
    """Does again in a folder what a call of that run had done: its step's change, and its planning files."""
    journal = SqliteJournal.read_only(home / "journal.db")
    git = Git(processes=processes, cwd=home, env=our_env(os.environ.get("PATH", os.defpath)), flags=OURS)
    redoing = Redoing(git.at(GIT_DIR=home / "repo.git"), room)
    steps, wrote = dict[str, tuple[str, str]](), dict[str, dict[str, str]]()
    for stream in journal.streams():
        if stream.startswith(f"{run}/"):
            left = left_behind([entry.event for entry in journal.load(stream)], stream.partition("~")[0])
            steps, wrote = steps | left.steps, wrote | left.wrote

    def redo(call: str, folder: str) -> None:
        if step := steps.get(call.removesuffix(".2")):
            redoing.lay(*step, Path(folder))
        for path, text in wrote.get(call, {}).items():
            placing.write(folder, path, text)

    return redo


def _view(begun: RunStarted, workspace: GitWorkspace, readable: tuple[str, ...]) -> AgentView:
    root = Path(begun.root)
    return AgentView(
        readable=readable,
        below=workspace.within.prefix,
        beside=lambda folder: (workspace.history_for(folder),),
        settings=lambda folder: workspace.brought_along(folder, REPOSITORY_CONFIG),
        hidden=(str(root / ".autopilot"), str(root / ".planning"), str(cache_folder()), str(user_folder_path())),
        trusts_repository=begun.settings.trust_repository_config,
        open_network=begun.settings.network.open,
        records=str(records_of(root)),
    )


def records_of(root: Path) -> Path:
    """Where what calls tried to reach is written down while they go on."""
    return root / ".autopilot" / "egress"


def network_check(network: Network, environment: Mapping[str, str]) -> Check:
    """What `autopilot doctor` says of whom agents may reach."""
    if network.open:
        found = f"open. {OPEN_NETWORK}"
        return Check(level="warn", what="network", found=found, fix="Take `open` out of [network] of your config.toml.")
    try:
        check_hosts(network)
    except ConfigInvalid as error:
        return Check(level="fail", what="network", found=error.what, fix=error.do)
    installed = [backend for backend in PREFERRED if place_of(backend, environment)]
    services = [f"{backend.name}: {', '.join(reach.hosts_of(backend, environment)) or 'none'}" for backend in installed]
    hosts = dict.fromkeys((*registries(environment).hosts, *network.registry_hosts))
    who = "set-up and work" if network.registries else "set-up"
    others = (f"all: {', '.join(network.listed)}" if network.listed else "", f"{who}: {', '.join(hosts) or 'none'}")
    here = "this machine: nothing that is not listed, no database or server on its loopback"
    return Check(level="ok", what="network", found="; ".join(filter(None, (*services, *others, here))))


def reach_words(settings: Settings, environment: Mapping[str, str]) -> tuple[str, ...]:
    """What `--dry-run` says of whom agents and the set-up command may reach, one line for each."""
    network = settings.network
    if settings.sandbox == "none" or not settings.confine_agents or network.open:
        return (
            "agents reach all that you do: " + ("the network is open" if network.open else "they are not confined"),
        )
    names = dict.fromkeys((settings.agent, settings.reviewer or settings.agent, *settings.failover))
    asked = dict.fromkeys((*names, *(name for those in settings.backends.values() for name in those)))
    lines = [f"{name}: {_service(name, environment)}" for name in asked]
    lines += [f"every agent: {', '.join(network.listed)}"] if network.listed else []
    hosts = ", ".join(dict.fromkeys((*registries(environment).hosts, *network.registry_hosts)))
    lines += [f"agents that do the work: {hosts or 'no registry is set'}"] if network.registries else []
    lines += [f"the set-up command: {hosts or 'nothing, no registry is set'}"] if settings.setup else []
    return tuple(lines)


def _service(name: str, environment: Mapping[str, str]) -> str:
    program = agents.program_of(name, environment)
    hosts = reach.hosts_of(program, environment) if program else ()
    return ", ".join(hosts) or "only what you list in [network] of your config.toml or with --allow-host"


def _ground(settings: Settings, processes: ChildProcesses) -> sandboxes.Ground:
    """Raises `SandboxUnavailable` where agents are to be held to their proxy and cannot be."""
    ground = sandboxes.choose(settings.sandbox, processes, open_network=settings.network.open)
    if ground.egress == "none" and settings.confine_agents:
        raise no_fence()
    return ground


def labeled(ground: sandboxes.Ground, settings: Settings) -> sandboxes.Ground:
    """What facts of the run carry, and what the user is told, where agents have the open network."""
    if not settings.network.open or ground.tier == "none" or not settings.confine_agents:
        return ground
    warning = " ".join(filter(None, (ground.warning, OPEN_NETWORK)))
    return replace(ground, label=f"{ground.label}; agents had the open network", warning=warning)


def check_hosts(network: Network) -> None:
    """Raises `ConfigInvalid` for an entry that names no host: a list about safety is never half read."""
    for entry in (*network.listed, *network.registry_hosts):
        try:
            rule_of(entry)
        except Refused as refusal:
            raise ConfigInvalid(
                f"agents cannot be allowed to reach {entry!r}: {refusal.sentence}",
                why="The list says all that agents may reach besides their own service.",
                do="Write host, host:port or *.suffix, in [network] of config.toml or with --allow-host.",
            ) from refusal


def remarks(begun: RunStarted, ground: sandboxes.Ground) -> Iterator[str]:
    """What the user must know about how this run is confined."""
    if ground.warning:
        yield ground.warning
    if files := carried(begun.settings):
        yield f"Agents get files of yours, as your config.toml says ({files})."
    settings, seen = begun.settings, [Path(path).name for path in repository_config(begun.root)]
    hidden = ground.hides and settings.confine_agents
    if seen and not hidden and not settings.trust_repository_config and not settings.agent.startswith(PLAYED):
        yield f"Agents may load settings that come with the repository ({', '.join(seen)}): they are not hidden here."


def atlas_of(workspace: GitWorkspace, processes: Processes, now: Callable[[], str]) -> GitAtlas:
    """Maps of the repository's commits. What was read once is kept with the clones."""
    return GitAtlas(
        book=workspace.places.pool / "repo-map.db",
        home=workspace.places.home,
        git=workspace.git,
        processes=processes,
        now=now,
        below=workspace.within.prefix,
    )
