"""Which dependency folders a run's clones and checkouts get, by which way, and what its user is told about it."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from autopilot.domain.process import Job, Processes, Ran, refusals
from autopilot.domain.request import Check
from autopilot.domain.settings import Network, Settings
from autopilot.sandbox.choose_tier import Ground
from autopilot.sandbox.egress.registries import registries
from autopilot.sandbox.processes.dependency_path import Kit
from autopilot.sandbox.tiers.agent_view import AgentView
from autopilot.workspace.dependencies.find import Offer, advice, interpreter_home, is_missing, survey
from autopilot.workspace.dependencies.link import Installed, Nothing, Source
from autopilot.workspace.git_workspace import GitWorkspace
from autopilot.workspace.project_folder import Within
from autopilot.workspace.user_files import find_top
from autopilot.workspace.user_repository import UserRepository

Ignores = Callable[[str], bool]

SETUP_SECONDS = 1800.0
NO_HOSTS = Network()
UNGUARDED = "nothing would keep commands and agents from writing to them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provision:
    """`linked` maps names to the user's own folders; `readable` must be shown to whoever works with them."""

    root: Path
    names: tuple[str, ...] = ()
    setup: str | None = None
    linked: dict[str, str] = field(default_factory=dict)
    readable: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    run: str = ""
    below: str = ""
    network: Network = NO_HOSTS

    @property
    def kit(self) -> Kit:
        return Kit(self.readable, self.below)

    def source(self, workspace: GitWorkspace, ground: Ground, tell: Callable[[str], None]) -> Source:
        if self.setup is not None:
            run = set_up_in(ground, f"{self.run}/set-up", self.below, self.network, tell)
            return workspace.set_up(self.setup, self.names, run, tell)
        return Installed(self.linked) if self.linked else Nothing()


def provide(settings: Settings, root: Path, workspace: GitWorkspace, ground: Ground, ignores: Ignores) -> Provision:
    """
    `ignores` says whether git leaves a folder of the user's checkout out.

    The user's folders are linked where they are read-only for everyone and lead nowhere back. A set-up command of the
    config takes their place.
    """
    if settings.setup is not None:
        made = _by_command(settings.setup, settings.dependencies, root, workspace, ignores)
        return replace(made, network=settings.network)
    top, within = find_top(root), workspace.within
    offers = survey(top, places(settings.dependencies, within), ignores)
    guarded = ground.tier != "none" and settings.confine_agents
    linked = {offer.name: str(offer.folder) for offer in offers if guarded and not offer.refusal}
    homes = (interpreter_home(Path(folder), top) for folder in linked.values())
    readable = (*linked.values(), *(home for home in homes if home))
    return Provision(
        root=root,
        names=tuple(linked),
        linked=linked,
        readable=readable,
        remarks=tuple(_remarks(offers, root, guarded)),
        below=within.prefix,
    )


def places(names: Iterable[str], within: Within) -> tuple[str, ...]:
    """Where dependency folders may be, from the top of the repository: in the project's folder, and at the top."""
    named = tuple(names)
    return tuple(dict.fromkeys((*(within.whole(name) for name in named), *named)))


def _by_command(
    setup: str, wanted: tuple[str, ...], root: Path, workspace: GitWorkspace, ignores: Ignores
) -> Provision:
    """Only folders git leaves out: the others belong to the commits."""
    names = tuple(name for name in places(wanted, workspace.within) if ignores(name))
    if not names:
        remark = f"workspace.setup is not run: git ignores none of {', '.join(wanted)}, so none of them can be linked. "
        remark += "Add the folder that it makes to .gitignore."
        return Provision(root=root, remarks=(remark,))
    return Provision(
        root=root,
        names=names,
        setup=setup,
        readable=(str(workspace.installed),),
        run=workspace.run,
        below=workspace.within.prefix,
    )


def _remarks(offers: tuple[Offer, ...], root: Path, guarded: bool) -> Iterator[str]:  # noqa: FBT001 - a fact, no mode
    if offers and not guarded:
        yield f"{', '.join(offer.name for offer in offers)} of your checkout not linked into clones: {UNGUARDED}."
        return
    for offer in offers:
        if offer.refusal:
            yield f"{offer.name} is not linked into clones and checkouts: {offer.refusal}. {remedy(root)}"


def suggested(settings: Settings, root: Path) -> str:
    """A set-up command that fits the project; empty where it has one, or where none is known."""
    return "" if settings.setup is not None else advice(root)


def remedy(root: Path) -> str:
    return (
        "Work would be judged by files of your checkout. "
        "Let a command make the folder instead, in .planning/config.json: "
        f'"workspace": {{"setup": "{advice(root) or "..."}"}}'
    )


def set_up_in(
    ground: Ground,
    mark: str,
    below: str = "",
    network: Network = NO_HOSTS,
    tell: Callable[[str], None] = lambda _: None,
) -> Callable[[str, str], Ran]:
    """
    Runs the user's set-up command: no home, nothing writable but the folder it is run in.

    It reaches where the user's own package managers install from, and the registries the user names.
    """

    def run(command: str, folder: str) -> Ran:
        view = AgentView(trusts_repository=True, below=below, open_network=network.open)
        processes: Processes = ground.agents(view)
        known = registries(os.environ)
        # A home without any account: what is installed gets no keys to see.
        own = {"PATH": os.environ.get("PATH", os.defpath), "HOME": f"{folder}.home", "LANG": "C.UTF-8"}
        argv = ("bash", "-euo", "pipefail", "-c", command, "bash")
        hosts = tuple(dict.fromkeys((*known.hosts, *network.registry_hosts)))
        job = Job(
            argv=argv,
            cwd=folder,
            env={**known.variables, **own},
            timeout_s=SETUP_SECONDS,
            mark=mark,
            hosts=hosts,
        )
        ran = processes.run(job)
        for line in refusals(ran.tries, "The set-up command", registry_line):
            tell(line)
        return ran

    return run


def registry_line(host: str) -> str:
    return f'registries = ["{host}"]'


def lacking(settings: Settings, provision: Provision, repository: UserRepository) -> Iterator[str]:
    """Why a command may find less here than where it ran before."""
    yield from provision.remarks
    for name in settings.dependencies if settings.setup is None else ():
        if is_missing(repository.root, places((name,), repository.within), repository.ignores):
            yield f"the dependency folder {name} is missing here; if the run had it, install it and check again"


def dependency_checks(settings: Settings, root: Path, repository: UserRepository) -> Iterator[Check]:
    """What `autopilot doctor` says: by which way the folders reach clones, or why they do not."""
    if settings.setup is not None:
        names = ", ".join(settings.dependencies)
        yield Check(
            level="ok",
            what="dependencies",
            found=f"{names} made by `{settings.setup}`, once for each state of the lock files, from registries",
        )
        return
    wanted = places(settings.dependencies, repository.within)
    for offer in survey(repository.root, wanted, repository.ignores):
        if offer.refusal:
            found = f"{offer.name} is not linked: {offer.refusal}"
            yield Check(level="warn", what="dependencies", found=found, fix=remedy(root))
        else:
            yield Check(level="ok", what="dependencies", found=f"{offer.name} is linked into clones, read-only")
