"""Which new files are what a build makes, so that a fresh build must make them and not the change. Pure."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_PROGRAM = re.compile(
    r"\.(?:class|jar|war|ear|pyc|pyo|pyd|so(?:\.\d+)*|dylib|dll|exe|wasm|o|obj|a|lib|node|whl|egg|beam|elc|rlib|rmeta)$",
    re.IGNORECASE,
)
_RULE = re.compile(r"^(?P<targets>[^\s#=:][^=:#\n]*?)\s*&?::?(?!=)", re.MULTILINE)
_HEAD = 8_000


def is_program(path: str) -> bool:
    """Compiled code or an archive of it, by its name."""
    return _PROGRAM.search(path) is not None


def may_be_program(path: str) -> bool:
    """Without an ending only its content tells."""
    return not PurePosixPath(path).suffix


def is_binary(text: str | None) -> bool:
    return "\0" in (text or "")[:_HEAD]


def make_targets(makefile: str | None) -> frozenset[str]:
    """The names that rules make, patterns and special targets left out."""
    words = (name for rule in _RULE.finditer(makefile or "") for name in rule["targets"].split())
    names = (word.removeprefix("./") for word in words)
    return frozenset(name for name in names if name and "%" not in name and not name.startswith("."))


def ignored(path: str, ignore_list: str | None) -> bool:
    """Whether the ignore list at the top of the project leaves the path out; of several lines the last counts."""
    told = False
    for line in (ignore_list or "").splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        kept = pattern.startswith("!")
        if any(_matches(place, pattern.removeprefix("!"), folder=place != path) for place in _places(path)):
            told = not kept
    return told


def _places(path: str) -> Iterator[str]:
    """The path and every folder above it."""
    yield path
    yield from (str(folder) for folder in PurePosixPath(path).parents if folder.name)


def _matches(place: str, pattern: str, *, folder: bool) -> bool:
    if pattern.endswith("/") and not folder:
        return False
    bare = pattern.rstrip("/")
    if "/" not in bare:
        return fnmatchcase(PurePosixPath(place).name, bare)
    wanted, parts = bare.lstrip("/").split("/"), place.split("/")
    if wanted[0] == "**":
        wanted, parts = wanted[1:], parts[1 - len(wanted) :]
    return len(wanted) == len(parts) and all(map(fnmatchcase, parts, wanted))
