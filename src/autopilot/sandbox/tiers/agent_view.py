"""What an agent's own program gets to see: its tools, the home it was lent, the workspace, and little else."""

import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autopilot.domain.process import Job
from autopilot.sandbox.toolchain import PROJECT_SIGNS, SYSTEM, Toolchain, is_within, look

# Files of a repository that agents take for their own settings: they can name hooks, servers and keys.
REPOSITORY_CONFIG = (
    ".claude",
    ".codex",
    ".gemini",
    ".mcp.json",
    ".env",
    ".cursor",
    ".opencode",
    "opencode.json",
    ".qwen",
)
RESOLVER = "/etc/resolv.conf"
PACKAGES = "node_modules"
NO_HOME = "/nonexistent"
# What tells a project from any other folder, the strongest first.
REPOSITORY = (".git",)
MANIFESTS = ("pyproject.toml", "setup.py", "package.json", "Cargo.toml", "go.mod", "Gemfile")
PYTHON_PACKAGE = "__init__.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentView:
    """
    What the user allows an agent. `readable` is shown besides its tools. `hidden` is never shown, whatever it lies in.

    `trusts_repository` lets the agent load settings that come with the repository it works on. Otherwise `settings`
    says which of their names to hide from a call in a folder, and `beside` what else a call in a folder may read.

    `below` is the project's folder in a clone: the agent starts there and may write in the whole clone.

    With an `open_network` it reaches all that the user can. Otherwise what it tried is written down in `records`, a
    folder, where it outlives us.
    """

    readable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    trusts_repository: bool = False
    settings: Callable[[str], Collection[str]] = lambda _: REPOSITORY_CONFIG
    beside: Callable[[str], tuple[str, ...]] = lambda _: ()
    below: str = ""
    open_network: bool = False
    records: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """
    One call's view: `hidden` lies in what is shown and must not be seen. `place` is where the agent starts, `own` where
    its program comes from, `home` the folder it was lent, empty without one. The user's own home is never shown.

    Python must list a folder to load a module from it, so names in `own` can be listed. Landlock cannot except a
    folder from that: there the names of what is hidden can be listed too, never read.
    """

    place: str
    home: str
    own: tuple[str, ...]
    readable: tuple[str, ...]
    writable: tuple[str, ...]
    hidden: tuple[str, ...]


def sight(job: Job, view: AgentView) -> Sight:
    """Worked out anew for every call: the workspace is another one, and an agent may have written there since."""
    home, (top, place) = os.path.realpath(job.home) if job.home else "", top_and_place(job.cwd, view.below)
    tools, own = _tools(job), tuple(_own_programs(job, users_home(os.environ)))
    around = () if view.trusts_repository else dict.fromkeys((top, place))
    settings = tuple(path for folder in around for path in repository_config(folder, view.settings(folder)))
    shown = (*view.readable, *view.beside(place))
    readable = tuple(dict.fromkeys((*tools.folders, *own, *shown, *map(os.path.realpath, shown))))
    ours = (path for path in view.hidden if any(is_within(path, shown) for shown in readable))
    return Sight(
        place=place,
        home=home,
        own=own,
        readable=readable,
        writable=(top, *((home,) if home else ())),
        hidden=(*settings, *filter(os.path.lexists, ours), *_kept_back(job, own)),
    )


def top_and_place(folder: str, below: str) -> tuple[str, str]:
    """
    The top of the clone that `folder` is in, and the folder itself.

    Only the top is trusted: below it an agent may have put a link, which must not make anything else writable.
    """
    if not below or not folder.endswith(f"/{below}"):
        place = os.path.realpath(folder)
        return place, place
    top = os.path.realpath(folder.removesuffix(f"/{below}"))
    return top, f"{top}/{below}"


def repository_config(folder: str, names: Collection[str] = REPOSITORY_CONFIG) -> Iterator[str]:
    """The settings files that are there; a link counts as what it points to, if that is in the folder as well."""
    for name in names:
        path = os.path.realpath(f"{folder}/{name}")
        if os.path.lexists(path) and path != folder and is_within(path, folder):
            yield path


def users_home(environment: Mapping[str, str]) -> str:
    """A home that is the root of everything is none."""
    home = os.path.realpath(environment.get("HOME") or NO_HOME)
    return NO_HOME if home == "/" else home


def _tools(job: Job) -> Toolchain:
    """Its PATH, and the installation its program belongs to if that is named by a path."""
    program = job.argv[0]
    folders = [job.env.get("PATH", os.defpath), *([str(Path(program).parent)] if program.startswith("/") else [])]
    return look({**_named(job.env), "PATH": os.pathsep.join(folders)})


def _named(environment: Mapping[str, str]) -> dict[str, str]:
    """
    With the places of data the user's own environment names, which is not passed on to agents.

    Tools lie below the user's home, whatever home the program has.
    """
    return {**os.environ, **environment, "HOME": users_home(os.environ)}


def _own_programs(job: Job, home: str) -> Iterator[str]:
    """What the files its command names need; a file right in the home folder is shown alone."""
    for program in _named_files(job):
        folder = str(_around(program, home))
        if any(is_within(folder, system) for system in SYSTEM):
            continue
        yield str(program) if is_within(home, folder) else folder


def _named_files(job: Job) -> Iterator[Path]:
    for word in job.argv:
        if word.startswith("/") and os.path.isfile(word):  # noqa: PTH113 - may be unreadable
            yield Path(os.path.realpath(word))


def _around(program: Path, home: str) -> Path:
    """
    The folder that holds all a program loads from its neighborhood: its project, as it would find it in a shell.

    That is its repository, else the nearest folder with a manifest, else what its Python package lies in, else its
    own folder. A program that a package manager installed needs the packages beside it.
    """
    packed = next((above for above in reversed(program.parents) if above.name == PACKAGES), None)
    if packed is not None:
        return packed
    above = [folder for folder in program.parents if _may_be_shown(folder, home)]
    for signs in (REPOSITORY, MANIFESTS):
        found = next((folder for folder in above if any(os.path.lexists(folder / sign) for sign in signs)), None)
        if found is not None:
            return found
    around = program.parent
    while os.path.lexists(around / PYTHON_PACKAGE) and around.parent in above:
        around = around.parent
    return around


def _may_be_shown(folder: Path, home: str) -> bool:
    """Never the home folder, one that it lies in, or one that everybody writes to, like `/tmp`."""
    try:
        return not is_within(home, str(folder)) and not folder.stat().st_mode & stat.S_IWOTH
    except OSError:
        return False


def _kept_back(job: Job, own: Collection[str]) -> Iterator[str]:
    """
    What a program's project has and no agent may see: the run's state, papers of other roles, history that holds both.

    Settings and keys at its top belong to another program, unless the program itself lies there.
    """
    beside = {str(program.parent) for program in _named_files(job)}
    for folder in own:
        names = (*PROJECT_SIGNS, *REPOSITORY, *(() if folder in beside else REPOSITORY_CONFIG))
        yield from (path for name in names if os.path.lexists(path := f"{folder}/{name}"))
