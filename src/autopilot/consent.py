"""Compares what a repository asks to run with what the user agreed to, and asks about the difference."""

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from autopilot.authority.seal import place_of
from autopilot.authority.surface import CONFINED, Part, PartChange, Surface, missing, table
from autopilot.authority.trust import Trust
from autopilot.authority.user_folder import UserFolder
from autopilot.domain.errors import AutopilotError, TrustMissing
from autopilot.domain.settings import Settings
from autopilot.domain.value import Value
from autopilot.hiring import looked_at, processes_of
from autopilot.journal.clock import SystemClock
from autopilot.planning import detect
from autopilot.planning.origins import json_place, manifest_place
from autopilot.planning.user_choices import UserChoices
from autopilot.planning.whole import CONFIG, Project
from autopilot.sandbox.agent_view import REPOSITORY_CONFIG
from autopilot.workspace.supplies import scripts_in
from autopilot.workspace.user_files import read_bytes

VARIABLE = "AUTOPILOT_TRUST"
INTERRUPTED = "the interrupted run"
USERS_FILE = "config.toml"
ROADMAP = "roadmap"


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
    *,
    pinned: str = "",
    settings: Settings | None = None,
    unconfined: bool = False,
    sealed: bool = False,
) -> None:
    """
    Raises `TrustMissing` unless the user agreed to all that the repository asks for, or pinned exactly this.

    `settings` are those of a run that goes on: they may be older than what the project says now. `sealed`: commands
    run in a sealed sandbox and nowhere else, so that only what gets more than that needs consent.
    """
    surface = surface_of(root, project, choices, settings)
    if not surface.parts:
        return
    place, trust = place_of(root), Trust(UserFolder())
    known = trust.find(place)
    unknown = missing(surface, known.parts if known else {})
    open_parts = tuple(change for change in unknown if not (sealed and change.part.kind in CONFINED))
    named = pinned or os.environ.get(VARIABLE, "")
    if not open_parts or named == surface.sha256:
        return
    raise TrustMissing(
        _what(root, since=known.at if known else "", named=named),
        why="Nothing of it runs before you agree to what it may do. Nothing was changed.",
        do=f"Type the command again at a terminal, or `autopilot trust`. Without one: --trust {surface.sha256}",
        table=tuple(table(open_parts, unconfined=unconfined)),
        surface=surface.sha256,
        agree=lambda: trust.keep(
            place, _without(surface, [each for each in unknown if each not in open_parts]), SystemClock().now()
        ),
    )


def _without(surface: Surface, unseen: Collection[PartChange]) -> Surface:
    """Nobody agrees to what the table did not show."""
    names = {change.part.name for change in unseen}
    return Surface(parts=tuple(part for part in surface.parts if part.name not in names))


def _what(root: Path, *, since: str, named: str) -> str:
    if named:
        return f"The hash given as consent is not that of {root} as it is now."
    if since:
        return f"{root} changed what it asks for since you agreed on {since[:10]}."
    return f"{root} has not been trusted yet."


def standing(root: Path, project: Project, choices: UserChoices) -> TrustStanding:
    surface, known = surface_of(root, project, choices), Trust(UserFolder()).find(place_of(root))
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
        table=tuple(table(left or whole)),
    )


def agree(root: Path, project: Project, choices: UserChoices) -> None:
    """For a project that its user, or Autopilot itself, has just written: all that it asks for is theirs."""
    if (surface := surface_of(root, project, choices)).parts:
        Trust(UserFolder()).keep(place_of(root), surface, SystemClock().now())


@contextmanager
def kept_through_edit(root: Path, read: Callable[[], Project], choices: UserChoices) -> Iterator[None]:
    """Around an edit that the user types: whoever agreed to the roadmap's commands agrees to their own new ones."""
    trusted = False
    with suppress(AutopilotError):
        trusted = standing(root, read(), choices).trusted
    yield
    if trusted:
        left = standing(root, read(), choices)
        if {part.name for part in left.parts if not part.agreed} == {ROADMAP}:
            agree(root, read(), choices)


def revoke(root: Path) -> bool:
    return Trust(UserFolder()).revoke(place_of(root))


def surface_of(root: Path, project: Project, choices: UserChoices, settings: Settings | None = None) -> Surface:
    """Looks at the project and runs nothing of it."""
    config, told = project.config, _text(root, CONFIG)
    setup = (settings.setup if settings else None) or config.setup
    parts = list[Part]()
    if setup is not None:
        where = _place(setup, config.setup, json_place(told, CONFIG, "setup", setup))
        parts.append(Part(name="setup", kind="setup", text=setup, where=where, files=_scripts(root, setup)))
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
    return Surface(parts=tuple(parts))


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
