"""Compares what a repository asks to run with what the user agreed to, and asks about the difference."""

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec

from autopilot.app.wiring import looked_at, processes_of
from autopilot.authority.seal import place_of
from autopilot.authority.surface import CONFINED, Part, PartChange, Surface, missing, table
from autopilot.authority.trust import Trust
from autopilot.authority.user_folder import UserFolder, user_folder_path
from autopilot.domain.errors import AutopilotError, ConsentMissing, TrustMissing, UsageInvalid
from autopilot.domain.settings import SandboxChoice, Settings
from autopilot.domain.value import Value
from autopilot.journal.clock import SystemClock
from autopilot.planning.config import detect_commands as detect
from autopilot.planning.config.origins import json_place, manifest_place
from autopilot.planning.config.user_config import UserChoices, network_of
from autopilot.planning.start.read_project import CONFIG, Project
from autopilot.sandbox.egress.registries import registries
from autopilot.sandbox.tiers.agent_view import REPOSITORY_CONFIG
from autopilot.workspace.dependencies.link import scripts_in
from autopilot.workspace.user_files import read_bytes

VARIABLE = "AUTOPILOT_TRUST"
INTERRUPTED = "the interrupted run"
USERS_FILE = "config.toml"
ROADMAP = "roadmap"
Cage = Literal["sealed", "confined", "none"]
"""
How what is agreed to runs at most: `sealed` is a sandbox without network and nothing else, `confined` a run's sandbox,
where a set-up reaches registries and agents their service, `none` no sandbox.
"""


def cage_of(sandbox: SandboxChoice | None) -> Cage:
    return "none" if sandbox == "none" else "confined"


class PartShown(Value, frozen=True, kw_only=True):
    name: str
    text: str
    where: str
    agreed: bool


class TrustStanding(Value, frozen=True, kw_only=True):
    """What the repository asks for, and how far somebody agreed to it. `since` is empty where nobody ever did."""

    root: str
    trusted: bool
    sha256: str
    since: str
    parts: tuple[PartShown, ...]
    table: tuple[str, ...]


def require(
    root: Path,
    project: Project,
    choices: UserChoices,
    cage: Cage,
    *,
    pinned: str = "",
    settings: Settings | None = None,
) -> None:
    """
    Raises `TrustMissing` unless the user agreed to all that the repository asks for, or pinned exactly this.

    `settings` are those of a run that goes on: they may be older than what the project says now. What is sealed needs
    no consent, and who agreed to commands in a sandbox is asked again before they run without one.
    """
    surface = surface_of(root, project, choices, cage, settings)
    if not surface.parts:
        return
    place, trust = place_of(root), Trust(UserFolder())
    known = trust.find(place)
    unknown = missing(surface, known.parts if known else {})
    open_parts = tuple(change for change in unknown if not (cage == "sealed" and change.part.kind in CONFINED))
    named = pinned or os.environ.get(VARIABLE, "")
    if not open_parts or named == surface.sha256:
        return
    raise TrustMissing(
        _what(root, open_parts, since=known.at if known else "", named=named),
        why="Nothing of it runs before you agree to what it may do. Nothing was changed.",
        do=f"Type the command again at a terminal, or `autopilot trust{_flag(surface)}`. "
        f"Without one: --trust {surface.sha256}",
        table=tuple(table(open_parts, unconfined=surface.unconfined)),
        surface=surface.sha256,
        agree=lambda: trust.keep(
            place, _without(surface, [each for each in unknown if each not in open_parts]), SystemClock().now()
        ),
    )


def _flag(surface: Surface) -> str:
    return " --unsandboxed" if surface.unconfined else ""


def _without(surface: Surface, unseen: Collection[PartChange]) -> Surface:
    """Nobody agrees to what the table did not show."""
    names = {change.part.name for change in unseen}
    return msgspec.structs.replace(surface, parts=tuple(part for part in surface.parts if part.name not in names))


def _what(root: Path, asked: Collection[PartChange], *, since: str, named: str) -> str:
    if named:
        return f"The hash given as consent is not that of {root} as it is now."
    if since and all(change.before and change.before.sha256 == change.part.sha256 for change in asked):
        return f"You agreed to what {root} asks for in a sandbox, not without one."
    if since:
        return f"{root} changed what it asks for since you agreed on {since[:10]}."
    return f"{root} has not been trusted yet."


def standing(root: Path, project: Project, choices: UserChoices, cage: Cage = "confined") -> TrustStanding:
    surface, known = surface_of(root, project, choices, cage), Trust(UserFolder()).find(place_of(root))
    left = missing(surface, known.parts if known else {})
    open_names = {change.part.name for change in left}
    whole = tuple(PartChange(part=part) for part in surface.parts)
    return TrustStanding(
        root=str(root),
        trusted=not left,
        sha256=surface.sha256,
        since=known.at if known else "",
        parts=tuple(
            PartShown(name=part.name, text=part.text, where=part.where, agreed=part.name not in open_names)
            for part in surface.parts
        ),
        table=tuple(table(left or whole, unconfined=surface.unconfined)),
    )


def foreseen(
    root: Path,
    project: Project,
    choices: UserChoices,
    cage: Cage,
    *,
    pinned: str = "",
    settings: Settings | None = None,
) -> tuple[str, ...]:
    """What a run would ask its user first, in lines; none where it would not ask. The user's folder is not made."""
    surface = surface_of(root, project, choices, cage, settings)
    known = Trust(UserFolder()).find(place_of(root)) if user_folder_path().exists() else None
    left = missing(surface, known.parts if known else {})
    if not left or (pinned or os.environ.get(VARIABLE, "")) == surface.sha256:
        return ()
    what = _what(root, left, since=known.at if known else "", named="")
    asked = tuple(table(left, unconfined=surface.unconfined))
    return (what, *asked, f"Agree at the start, or before it: autopilot trust{_flag(surface)} --trust {surface.sha256}")


def keep(root: Path, project: Project, choices: UserChoices, cage: Cage, pinned: str) -> None:
    """Agree for good to exactly what has this hash. Raises `ConsentMissing` where it asks for something else."""
    if os.environ.get("AUTOPILOT_CALL"):
        raise UsageInvalid(
            "An agent may not agree to what the repository asks for.",
            why="It decides what runs in the user's name.",
            do="Leave it to the person who works here.",
        )
    surface = surface_of(root, project, choices, cage)
    flag = _flag(surface)
    if surface.parts and pinned != surface.sha256:
        raise ConsentMissing(
            f"The hash given as consent is not that of {root} as it is now.",
            why="You would agree to something else than you looked at. Nothing was changed.",
            do=f"Look at it: autopilot trust --show{flag}. Then agree: autopilot trust{flag} --trust {surface.sha256}",
        )
    if surface.parts:
        Trust(UserFolder()).keep(place_of(root), surface, SystemClock().now())


def agree(root: Path, project: Project, choices: UserChoices, cage: Cage = "none") -> None:
    """For a project that its user, or Autopilot itself, has just written: all that it asks for is theirs."""
    if (surface := surface_of(root, project, choices, cage)).parts:
        Trust(UserFolder()).keep(place_of(root), surface, SystemClock().now())


@contextmanager
def kept_through_edit(root: Path, read: Callable[[], Project], choices: UserChoices) -> Iterator[None]:
    """Around an edit that the user types: whoever agreed to the roadmap's commands agrees to their own new ones."""
    cage: Cage | None = None
    with suppress(AutopilotError):
        project = read()
        cages: tuple[Cage, ...] = ("none", "confined")
        cage = next((one for one in cages if standing(root, project, choices, one).trusted), None)
    yield
    if cage is not None:
        left = standing(root, read(), choices, cage)
        if {part.name for part in left.parts if not part.agreed} == {ROADMAP}:
            agree(root, read(), choices, cage)


def revoke(root: Path) -> bool:
    return Trust(UserFolder()).revoke(place_of(root))


def surface_of(
    root: Path, project: Project, choices: UserChoices, cage: Cage, settings: Settings | None = None
) -> Surface:
    """Looks at the project and runs nothing of it."""
    config, told = project.config, _text(root, CONFIG)
    setup = (settings.setup if settings else None) or config.setup
    parts = list[Part]()
    if setup is not None:
        where = _place(setup, config.setup, json_place(told, CONFIG, "setup", setup))
        may, files = _network_words(choices, settings), _scripts(root, setup)
        parts.append(Part(name="setup", kind="setup", text=setup, where=where, files=files, may=may))
    parts += _gates(root, project, told, settings)
    visual, shown = config.visual.testing, settings.visual if settings else None
    configured = visual.launch_command if visual else None
    launch = shown.launch_command if shown else configured
    if launch is not None:
        where = _place(launch, configured, json_place(told, CONFIG, "launch_command", launch))
        parts.append(Part(name="launch", kind="launch", text=launch, where=where))
    parts += _folders(project, told, settings)
    if choices.agent.trust_repository_config:
        parts += (
            Part(name=name, kind="settings", text=name, where=USERS_FILE, files={name: content})
            for name, content in _contents(root, REPOSITORY_CONFIG).items()
        )
    if commands := sum(1 for phase in project.roadmap.phases for one in phase.criteria if one.command):
        parts.append(Part(name=ROADMAP, kind="roadmap", text=str(commands), where=project.roadmap.path))
    return Surface(parts=tuple(parts), unconfined=cage == "none")


def _network_words(choices: UserChoices, settings: Settings | None) -> str:
    """What a set-up command reaches, from the user's own settings alone."""
    network = settings.network if settings else network_of(choices.network)
    if network.open:
        return "runs WITH THE OPEN NETWORK, without your home, in a copy"
    hosts = ", ".join(dict.fromkeys((*registries(os.environ).hosts, *network.registry_hosts)))
    reached = f"reaches only your registries ({hosts})" if hosts else "reaches no host: you have set no registry"
    return f"{reached}; without your home, in a copy"


def _gates(root: Path, project: Project, told: str, settings: Settings | None) -> Iterator[Part]:
    sources, manifest = detect.sources(project.config, project.detected), project.detected.manifest or ""
    now, then = dict(project.commands.configured()), dict(settings.commands.configured()) if settings else {}
    for name in dict.fromkeys((*now, *then)):
        command = then.get(name) or now[name]
        if sources[name] == "user-override":
            place = json_place(told, CONFIG, name, command)
        else:
            place = manifest_place(_text(root, manifest), manifest, command)
        yield Part(name=name, kind="gate", text=command, where=_place(command, now.get(name), place))


def _folders(project: Project, told: str, settings: Settings | None) -> Iterator[Part]:
    """Those that the config names. The usual ones are Autopilot's choice, not the repository's."""
    usual = project.detected.dependencies
    now = detect.dependencies(project.config, project.detected)
    names = settings.dependencies if settings and settings.dependencies else now
    if names and names != usual:
        place = json_place(told, CONFIG, "dependencies")
        yield Part(name="folders", kind="folder", text=", ".join(names), where=place if names == now else INTERRUPTED)


def _place(used: str, told: str | None, place: str) -> str:
    return place if used == told else INTERRUPTED


def _scripts(root: Path, command: str) -> dict[str, str]:
    return _contents(root, scripts_in(command), files_only=True)


def _contents(root: Path, names: tuple[str, ...], *, files_only: bool = False) -> dict[str, str]:
    """What the newest commit has of these paths, by the names git gives their contents."""
    found = dict[str, str]()
    with looked_at(root, processes_of(root)) as repository:
        paths = {repository.within.whole(name): name for name in names if ".." not in Path(name).parts}
        asked = ("ls-tree", "-z", "--full-tree", "HEAD", "--", *paths)
        ran = repository.git.run(*asked, ok=(0, 128)) if paths else None
        for line in (ran.stdout if ran else b"").decode("utf-8", "surrogateescape").split("\0"):
            with suppress(ValueError):
                head, path = line.split("\t", 1)
                _, kind, content = head.split(" ")
                if path in paths and (kind == "blob" or not files_only):
                    found[paths[path]] = content
    return found


def _text(root: Path, path: str) -> str:
    return (read_bytes(root / path) or b"").decode("utf-8", "replace") if path else ""
