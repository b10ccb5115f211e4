"""What an agent's own program gets to see: its tools, its own account, the workspace, and little else."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autopilot.domain.running import Job
from autopilot.sandbox.toolchain import PROJECT_SIGNS, SYSTEM, Toolchain, is_within, look

# Where coding agents keep account and settings below the home folder. They renew their tokens there.
OWN_FOLDERS = (
    ".claude", ".claude.json", ".codex", ".gemini", ".config/opencode", ".local/share/opencode",
    ".local/state/opencode", ".config/goose", ".local/share/goose", ".qwen", ".copilot",
    ".config/github-copilot", ".pi",
)  # fmt: skip
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentView:
    """
    What the user allows an agent. `readable` is shown besides its tools, `own` are further places below the home.
    `hidden` is never shown, whatever it lies in.

    `trusts_repository` lets the agent load settings that come with the repository it works on. Otherwise `settings`
    says which of their names to hide from a call in a folder, and `beside` what else a call in a folder may read.

    `below` is the project's folder in a clone: the agent starts there and may write in the whole clone.
    """

    readable: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    trusts_repository: bool = False
    settings: Callable[[str], Collection[str]] = lambda _: REPOSITORY_CONFIG
    beside: Callable[[str], tuple[str, ...]] = lambda _: ()
    below: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """One call's view: `hidden` lies in what is shown and must not be seen. `place` is where the agent starts."""

    place: str
    home: str
    readable: tuple[str, ...]
    writable: tuple[str, ...]
    hidden: tuple[str, ...]


def sight(job: Job, view: AgentView) -> Sight:
    """Worked out anew for every call: the workspace is another one, and an agent may have written there since."""
    home, (top, place) = _home(job.env), top_and_place(job.cwd, view.below)
    tools, own = _tools(job), tuple(_own_programs(job, home))
    account = (f"{home}/{name}" for name in (*OWN_FOLDERS, *view.own))
    around = () if view.trusts_repository else dict.fromkeys((top, place))
    settings = tuple(path for folder in around for path in repository_config(folder, view.settings(folder)))
    shown = (*view.readable, *view.beside(place))
    readable = tuple(dict.fromkeys((*tools.folders, *own, *shown, *map(os.path.realpath, shown))))
    ours = (path for path in view.hidden if any(is_within(path, shown) for shown in readable))
    return Sight(
        place=place,
        home=home,
        readable=readable,
        writable=(top, *(path for path in account if os.path.exists(path))),  # noqa: PTH110 - may be unreadable
        hidden=(*settings, *filter(os.path.lexists, ours), *(path for folder in own for path in _ours(folder))),
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


def _home(environment: Mapping[str, str]) -> str:
    """A home that is the root of everything is none."""
    home = os.path.realpath(environment.get("HOME") or NO_HOME)
    return NO_HOME if home == "/" else home


def _tools(job: Job) -> Toolchain:
    """Its PATH, and the installation its program belongs to if that is named by a path."""
    program = job.argv[0]
    folders = [job.env.get("PATH", os.defpath), *([str(Path(program).parent)] if program.startswith("/") else [])]
    return look({**_named(job.env), "PATH": os.pathsep.join(folders)})


def _named(environment: Mapping[str, str]) -> dict[str, str]:
    """With the places of data the user's own environment names, which is not passed on to agents."""
    return {**os.environ, **environment}


def _own_programs(job: Job, home: str) -> Iterator[str]:
    """The folders of the files its command names; a file right in the home folder is shown alone."""
    for word in job.argv:
        if not word.startswith("/") or not os.path.isfile(word):  # noqa: PTH113 - may be unreadable
            continue
        folder = _around(Path(os.path.realpath(word)))
        if any(is_within(folder, system) for system in SYSTEM):
            continue
        yield word if is_within(home, folder) else folder


def _around(program: Path) -> str:
    """The folder a program needs: its own, or all the packages it was installed with, which it loads from there."""
    packed = (above for above in reversed(program.parents) if above.name == PACKAGES)
    return str(next(packed, program.parent))


def _ours(folder: str) -> Iterator[str]:
    """What Autopilot keeps in a folder that is shown: journal, repository, and papers a role must not see."""
    for name in PROJECT_SIGNS:
        if os.path.lexists(f"{folder}/{name}"):
            yield f"{folder}/{name}"
