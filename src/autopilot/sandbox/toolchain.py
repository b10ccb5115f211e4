"""What a confined command may see of the user's machine: a PATH, the folders its programs live in, and packages."""

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autopilot.domain.process import TOOL_DATA

# Shown anyway, as a whole.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc")
# Followed to where they really live: a virtual environment's python is a link to another prefix.
INTERPRETERS = (
    "python3", "python", "node", "ruby", "java", "go", "php", "deno", "bun", "uv", "git", "perl", "make", "bash",
)  # fmt: skip
# A `bin` is part of a whole installation if one of these lies beside it.
INSTALLATION_SIGNS = ("lib", "lib64", "libexec", "versions", "pyvenv.cfg", "share")
# Never shown as a whole: what Autopilot keeps there must stay out of sight of the commands it runs.
PROJECT_SIGNS = (".planning", ".autopilot")
# Where keys, accounts and settings of the user lie: the variable that may say so, and the usual place below the home.
OWN_PLACES = {
    "XDG_STATE_HOME": ".local/state",
    "XDG_DATA_HOME": ".local/share",
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """
    `places` are where the folders of `path` really are; `folders` are shown read-only, `variables` point at them.

    `lent` are folders that a command finds below its own home, read-only: the path there, and where they really are.
    """

    path: tuple[str, ...]
    places: tuple[str, ...]
    folders: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()
    lent: tuple[tuple[str, str], ...] = ()

    def environment(self, folder: str, home: str, temporary: str, *, online: bool = False) -> dict[str, str]:
        """The whole environment of a command run in `folder`; nothing inside it is on the PATH."""
        inside = f"{os.path.realpath(folder)}/"
        outside = [
            entry
            for entry, place in zip(self.path, self.places, strict=True)
            if not f"{place}/".startswith(inside) and not f"{entry}/".startswith(inside)
        ]
        return {
            **dict(self.variables),
            **({} if online or not self.lent else {"CARGO_NET_OFFLINE": "true"}),
            "PATH": os.pathsep.join(outside) or "/usr/local/bin:/usr/bin:/bin",
            "HOME": home,
            "TMPDIR": temporary,
            "LANG": "C.UTF-8",
        }

    def lend(self, home: str) -> None:
        """Link the lent folders into a private home, where they cannot be mounted."""
        for below, folder in self.lent:
            link = Path(home, below)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(folder)

    @property
    def readable(self) -> tuple[str, ...]:
        """Everything shown of the machine, where nothing can be mounted elsewhere."""
        return (*self.folders, *(folder for _, folder in self.lent))


def look(environment: Mapping[str, str]) -> Toolchain:
    """Find the user's tools. The home folder, their own places, and any folder one of them lies in, are never shown."""
    home = os.path.realpath(environment.get("HOME") or "/nonexistent")
    entries = environment.get("PATH", os.defpath).split(os.pathsep)
    path = tuple(dict.fromkeys(entry for entry in entries if entry.startswith("/") and os.path.isdir(entry)))  # noqa: PTH112 - says no where Path raises
    own = tuple(_own(environment, home))
    data = [(name, found) for name, found in _data(environment, home) if not _holds(found, own)]
    shown = {folder for entry in (*path, *_real_homes(path)) for folder in _prefixes(entry, own)}
    shown |= {found for _, found in data}
    outside = {folder for folder in shown if not any(is_within(folder, system) for system in SYSTEM)}
    places = tuple(os.path.realpath(entry) for entry in path)
    lent = tuple(_packages(environment, home))
    return Toolchain(path=path, places=places, folders=_outermost(outside), variables=tuple(data), lent=lent)


def is_within(path: str, folder: str) -> bool:
    """Whether the path is the folder or lies in it, links followed on both sides."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def private_places(folder: str = "/etc") -> Iterator[str]:
    """What not everyone may read there but we can, as root can read keys: a command must not have it from us."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        needed = 0o005 if is_folder else 0o004
        if entry.is_symlink() or (mode := _mode(entry)) is None:
            continue
        if mode & needed != needed and os.access(entry.path, os.R_OK):
            yield entry.path
        elif is_folder:
            yield from private_places(entry.path)


def _mode(entry: "os.DirEntry[str]") -> int | None:
    """Of a file that may be gone by now: others write there while we look."""
    try:
        return entry.stat(follow_symlinks=False).st_mode
    except OSError:
        return None


def _own(environment: Mapping[str, str], home: str) -> Iterator[str]:
    """The home and what else is the user's alone, where it really is."""
    yield home
    yield from (os.path.realpath(f"{home}/{below}") for below in OWN_PLACES.values())
    yield from (os.path.realpath(named) for name in OWN_PLACES if (named := environment.get(name, "")).startswith("/"))


def _holds(folder: str, own: tuple[str, ...]) -> bool:
    real = Path(os.path.realpath(folder))
    return any(Path(place).is_relative_to(real) for place in own)


def _prefixes(entry: str, own: tuple[str, ...]) -> Iterator[str]:
    """The installation a `bin` folder belongs to, both as it is written and where it really is."""
    for folder in dict.fromkeys((entry, os.path.realpath(entry))):
        parent = Path(folder).parent
        if folder.startswith("/nix/"):
            yield "/nix"
        elif _is_installation(parent) and not _holds(str(parent), own):
            yield str(parent)
        elif not _holds(folder, own):
            yield folder


def _is_installation(folder: Path) -> bool:
    if folder == Path("/") or any(_is_there(folder / sign) for sign in PROJECT_SIGNS):
        return False
    return any(_is_there(folder / sign) for sign in INSTALLATION_SIGNS)


def _is_there(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110 - what may not be looked at is not there; Path would raise


def _real_homes(path: tuple[str, ...]) -> Iterator[str]:
    joined = os.pathsep.join(path)
    for name in INTERPRETERS:
        found = shutil.which(name, path=joined)
        if found is not None:
            yield str(Path(os.path.realpath(found)).parent)


def _data(environment: Mapping[str, str], home: str) -> Iterator[tuple[str, str]]:
    for name, below_home in TOOL_DATA.items():
        usual = str(Path(home, below_home)) if below_home else ""
        found = environment.get(name) or usual
        if found.startswith("/") and os.path.isdir(found):  # noqa: PTH112 - as above
            yield name, found


def _packages(environment: Mapping[str, str], home: str) -> Iterator[tuple[str, str]]:
    """
    What cargo and Go downloaded: each works in a private home of its own, which it locks and writes, with these in it.

    Of cargo's home only the packages: next to them are its credentials and a config that may hold tokens. Of the Go
    modules not `cache/vcs`: clones whose settings may name a password.
    """
    cargo = environment.get("CARGO_HOME") or f"{home}/.cargo"
    gopath = environment.get("GOPATH", "").split(os.pathsep)[0] or f"{home}/go"
    modules = environment.get("GOMODCACHE") or f"{gopath}/pkg/mod"
    parts = (
        *(
            (f".cargo/{part}/{name}", f"{cargo}/{part}/{name}")
            for part in ("registry", "git")
            for name in _inside(f"{cargo}/{part}")
        ),
        *((f"go/pkg/mod/{name}", f"{modules}/{name}") for name in _inside(modules) if name != "cache"),
        *(
            (f"go/pkg/mod/cache/{name}", f"{modules}/cache/{name}")
            for name in _inside(f"{modules}/cache")
            if name != "vcs"
        ),
    )
    for below, found in parts:
        if not is_within(home, found):
            yield below, os.path.realpath(found)


def _inside(folder: str) -> list[str]:
    """The names of the folders in it; none where it may not be read or is not given as a full path."""
    try:
        found = list(os.scandir(folder)) if folder.startswith("/") else []
    except OSError:
        return []
    return sorted(entry.name for entry in found if entry.is_dir())


def _outermost(folders: set[str]) -> tuple[str, ...]:
    """Without those that lie in another one."""
    kept: list[str] = []
    for folder in sorted(folders):
        if not any(Path(folder).is_relative_to(outer) for outer in kept):
            kept.append(folder)
    return tuple(kept)
