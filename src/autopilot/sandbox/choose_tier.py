"""Picks where commands and agents run, and proves it by an attack before anything depends on it."""

import os
import platform
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.process import Job, Processes, Ran, Sandbox
from autopilot.domain.settings import SandboxChoice
from autopilot.sandbox.processes.launch import SYSTEM_FOLDERS, Ceilings
from autopilot.sandbox.self_attack import CANARY_SECONDS, Ability, Field, attacks, weakness
from autopilot.sandbox.tiers import confine, seatbelt, seccomp, shell
from autopilot.sandbox.tiers.agent_view import AgentView
from autopilot.sandbox.tiers.agents import Address, BubblewrapAgents, LandlockAgents, SeatbeltAgents
from autopilot.sandbox.tiers.bubblewrap import Bubblewrap, Walls
from autopilot.sandbox.tiers.landlock import LEAST_ABI, Fences, Landlock, ToProxy, system_places
from autopilot.sandbox.tiers.syscalls import Machine
from autopilot.sandbox.tiers.unconfined import PlainProcess
from autopilot.sandbox.toolchain import Toolchain, look
from autopilot.sandbox.web_app import run_app as serving

UNCONFINED = "commands and agents run unconfined: they can write wherever you can; no result is shown as verified"

BY_PORT = "egress by port only"
ONLY_BY_PORT = (
    "Agents are held to the port of their proxy and not to its address: the launcher cannot look into them here. "
    "They reach whatever listens on that port elsewhere."
)
NO_EGRESS = "Agents cannot be held to their proxy here, so they need --open-network."

Commands = Callable[[tuple[str, ...], str], Sandbox]
OPEN: frozenset[Ability] = frozenset({"network", "addresses"})
# Held to the proxy, to its port at any address, not at all though they should be, or not at all.
Egress = Literal["proxy", "port", "none", "open"]


class Agents(Protocol):
    """
    Where agents' own programs are confined; what starts them may be another than what starts commands.

    With a `proxy` they reach that and nothing else; without, the whole network.
    """

    def __call__(
        self, view: AgentView, processes: Processes | None = None, proxy: Address | None = None
    ) -> Processes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """
    Where things run: one tier, as it was found to hold on this machine. `warning` is for the user.

    `hides` says whether files of the workspace can be kept out of an agent's sight, `egress` how well agents are held
    to their proxy.
    """

    tier: str
    label: str
    commands: Commands
    agents: Agents
    warning: str | None = None
    hides: bool = False
    egress: Egress = "open"

    def sandbox(self, readable: Sequence[str] = (), mark: str = "", below: str = "") -> Sandbox:
        """`below` is the project's folder in a checkout: commands run there and may write in the whole checkout."""
        proven = Proven(self.commands(tuple(readable), mark), self.label)
        return Inside(proven, below) if below else proven


@dataclass(frozen=True, slots=True)
class Proven:
    """A sandbox together with what it withstood."""

    sandbox: Sandbox
    label: str

    @property
    def tier(self) -> str:
        return self.sandbox.tier

    def run(self, command: str, folder: str, timeout_s: float) -> Ran:
        return self.sandbox.run(command, folder, timeout_s)


@dataclass(frozen=True, slots=True)
class Inside:
    """Fulfils `Sandbox` for a project that is in a folder below the top of its checkout."""

    sandbox: Sandbox
    below: str

    @property
    def tier(self) -> str:
        return self.sandbox.tier

    @property
    def label(self) -> str:
        return self.sandbox.label

    def run(self, command: str, folder: str, timeout_s: float) -> Ran:
        if not folder.endswith(f"/{self.below}"):
            return self.sandbox.run(command, folder, timeout_s)
        top = folder.removesuffix(f"/{self.below}")
        return self.sandbox.run(f"cd -- {shlex.quote(self.below)} || exit 1\n{command}", top, timeout_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """
    A tier that may hold here, and what else its label says.

    It cannot hold what needs an ability that its commands or its agents lack. `lets_through` says whether a proxy on
    this machine can be reached by its agents without further ado.
    """

    tier: str
    commands: Commands
    agents: Agents
    about: str = ""
    warning: str | None = None
    commands_lack: frozenset[Ability] = frozenset()
    agents_lack: frozenset[Ability] = frozenset()
    egress: Egress = "open"
    lets_through: bool = True

    def in_commands(self, field: Field, script: str) -> Ran:
        sandbox = self.commands((*serving.readable(), str(field.shown)), "")
        return sandbox.run(script, str(field.inside), CANARY_SECONDS)

    def in_agents(self, field: Field, script: str) -> Ran:
        proxy = field.proxy if self.egress in {"proxy", "port"} else None
        shown = (*serving.readable(), str(field.shown))
        agents = self.agents(AgentView(readable=shown, open_network=proxy is None), None, proxy)
        job = Job(
            argv=("bash", "-c", script),
            cwd=str(field.inside),
            env={"PATH": os.environ.get("PATH", os.defpath)},
            timeout_s=CANARY_SECONDS,
            mark=shell.own_mark("canary"),
        )
        return agents.run(job)

    def weakness(self) -> str | None:
        """What is wrong with it. Both are attacked at the same time: it is the start of every run that waits."""
        proxied = self.lets_through and self.egress in {"proxy", "port"}
        with ThreadPoolExecutor(max_workers=2) as pool:
            commands = pool.submit(weakness, self.in_commands, attacks(self.commands_lack))
            agents = pool.submit(weakness, self.in_agents, attacks(self.agents_lack), who="an agent", proxied=proxied)
            return commands.result() or agents.result()

    @property
    def label(self) -> str:
        tried = len(attacks(self.commands_lack)) + len(attacks(self.agents_lack))
        kernel = f"{'kernel ' if sys.platform == 'linux' else ''}{platform.release()}"
        return f"{self.tier} ({'; '.join(filter(None, (kernel, self.about)))}; withstood {tried} attacks)"


@dataclass(slots=True)
class Search:
    """What was tried, and why it will not do."""

    processes: Processes
    toolchain: Toolchain
    ceilings: Ceilings
    open_network: bool = False
    reasons: dict[str, str] = field(default_factory=dict)

    def bubblewrap(self) -> Iterator[Candidate]:
        bwrap = shutil.which("bwrap", path=SYSTEM_FOLDERS) or shutil.which("bwrap")
        if bwrap is None:
            self.reasons["bubblewrap"] = "`bwrap` is not installed"
            return
        machine = seccomp.machine_here()
        filters = {
            name: seccomp.compiled(rules, machine) if machine else b""
            for name, rules in (("verify", seccomp.IN_BUBBLEWRAP), ("agent", seccomp.FOR_AGENTS))
        }
        # Inside some containers the sandbox can be built, but further namespaces cannot be forbidden in it.
        for nested in (False, True):
            about = [*(["without seccomp"] if not machine else []), *(["namespaces left open"] if nested else [])]
            walls = Walls(
                bwrap=bwrap,
                toolchain=self.toolchain,
                disable_userns=not nested,
                filter=filters["verify"],
                ceilings=self.ceilings,
            )
            yield self._walled(walls, filters["agent"], "; ".join(about))

    def _walled(self, walls: Walls, agent: bytes, about: str) -> Candidate:
        closed: frozenset[Ability] = frozenset() if agent else frozenset({"own sockets", "sockets"})
        return Candidate(
            tier="bubblewrap",
            # An app that is looked at is reached through a socket in its own folder.
            commands_lack=frozenset({"own sockets"}),
            agents_lack=closed | (OPEN if self.open_network else frozenset()),
            egress="open" if self.open_network else "proxy",
            lets_through=False,
            commands=lambda readable, mark: Bubblewrap(self.processes, replace(walls, readable=readable), mark),
            agents=lambda view, processes=None, proxy=None: BubblewrapAgents(
                processes or self.processes, replace(walls, filter=agent), view, proxy
            ),
            about=about,
        )

    def landlock(self) -> Iterator[Candidate]:
        machine, version = seccomp.machine_here(), confine.abi() if sys.platform == "linux" else 0
        if machine is None or version < LEAST_ABI:
            found = f"ABI {version}" if version else "no Landlock"
            self.reasons["landlock"] = f"the kernel has {found}, ABI {LEAST_ABI} is needed"
            return
        verify = Fences(
            toolchain=self.toolchain,
            filter=seccomp.compiled(seccomp.ON_LANDLOCK, machine),
            shown=system_places(),
            ceilings=self.ceilings,
        )
        agent = replace(verify, filter=seccomp.compiled(seccomp.FOR_AGENTS_ON_LANDLOCK, machine))
        for egress, way in self._ways(machine, version):
            yield self._fenced(verify, agent, version, egress, way)

    def _ways(self, machine: Machine, version: int) -> Iterator[tuple[Egress, ToProxy | None]]:
        """How agents may be held to a proxy, the best first."""
        if version < confine.NETWORK_SINCE:
            yield "open" if self.open_network else "none", None
            return
        asking = ToProxy(filter=seccomp.compiled(seccomp.TO_A_PROXY, machine), by_address=True)
        yield "open" if self.open_network else "proxy", asking
        if not self.open_network:
            yield "port", ToProxy(filter=seccomp.compiled(seccomp.TO_A_PORT, machine), by_address=False)

    def _fenced(self, verify: Fences, agent: Fences, version: int, egress: Egress, way: ToProxy | None) -> Candidate:
        scoped = version >= confine.SIGNALS_SINCE
        unscoped: frozenset[Ability] = frozenset() if scoped else frozenset({"signals"})
        loose: dict[Egress, frozenset[Ability]] = {"proxy": frozenset(), "port": frozenset({"addresses"})}
        about = (f"ABI {version}", "" if scoped else "signals not scoped", BY_PORT if egress == "port" else "")
        return Candidate(
            tier="landlock",
            commands=lambda readable, mark: Landlock(self.processes, replace(verify, readable=readable), mark),
            agents=lambda view, processes=None, proxy=None: LandlockAgents(
                processes or self.processes, agent, view, way, proxy
            ),
            about="; ".join(filter(None, about)),
            warning={"port": ONLY_BY_PORT, "none": NO_EGRESS}.get(egress),
            commands_lack=unscoped,
            agents_lack=unscoped | loose.get(egress, OPEN),
            egress=egress,
        )

    def seatbelt(self) -> Iterator[Candidate]:
        if sys.platform != "darwin" or shutil.which(seatbelt.PROGRAM) is None:
            self.reasons["seatbelt"] = "it is part of macOS only"
            return
        yield Candidate(
            tier="seatbelt",
            commands=lambda readable, mark: seatbelt.Seatbelt(
                self.processes, seatbelt.Belt(toolchain=self.toolchain, readable=readable, ceilings=self.ceilings), mark
            ),
            agents=lambda view, processes=None, proxy=None: SeatbeltAgents(processes or self.processes, view, proxy),
            agents_lack=OPEN if self.open_network else frozenset(),
            egress="open" if self.open_network else "proxy",
        )

    def none(self) -> Ground:
        return Ground(
            tier="none",
            label=PlainProcess(self.processes, self.toolchain).label,
            commands=lambda _, mark: PlainProcess(self.processes, self.toolchain, mark, self.ceilings),
            agents=lambda view, processes=None, proxy=None: processes or self.processes,  # noqa: ARG005 - unconfined, all is in view
            warning=f"The sandbox is switched off: {UNCONFINED}.",
        )


def choose(
    wanted: SandboxChoice,
    processes: Processes,
    ceilings: Ceilings = Ceilings(),  # noqa: B008 - frozen, so it is safe to share
    *,
    open_network: bool = False,
) -> Ground:
    """
    The strongest tier that withstands the canary, or the wanted one. Raises `SandboxUnavailable` without any.

    Agents are attacked in the cage that they will be in: with an open network, or held to a proxy.
    """
    search = Search(processes, look(os.environ), ceilings, open_network)
    if wanted == "none":
        return search.none()
    tiers = {"bubblewrap": search.bubblewrap, "landlock": search.landlock, "seatbelt": search.seatbelt}
    for tier, candidates in tiers.items():
        if wanted not in {"auto", tier}:
            continue
        for candidate in candidates():
            reason = candidate.weakness()
            if reason is None:
                return Ground(
                    tier=tier,
                    label=candidate.label,
                    commands=candidate.commands,
                    agents=candidate.agents,
                    warning=candidate.warning,
                    hides=tier != "landlock",
                    egress=candidate.egress,
                )
            search.reasons[tier] = reason
    raise unavailable(wanted, search.reasons)


def unavailable(wanted: SandboxChoice, reasons: Mapping[str, str]) -> SandboxUnavailable:
    told = "; ".join(f"{tier}: {reason}" for tier, reason in reasons.items())
    which = "No sandbox holds here" if wanted == "auto" else f"The sandbox {wanted} does not hold here"
    return SandboxUnavailable(
        f"{which} ({told}).",
        why="Commands from plans are written by models: unconfined they could write wherever you can.",
        do="Install the package `bubblewrap`, in a container allow user namespaces; or accept it with --unsandboxed.",
    )
