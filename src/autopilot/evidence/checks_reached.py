"""Which checks a command comes to run: named in it, or in the scripts and recipes it goes through. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

DEEPEST = 4
_CHECKS = (
    r"tests?|checks?|verif\w*|specs?|ci|lint\w*|smoke|accept\w*|expect\w*|goldens?|snapshots?|approved|baselines?"
    r"|valid\w*"
)
_LIKE_A_CHECK = re.compile(
    rf"(?:^|[/_.-])(?:{_CHECKS})(?:[/_.-]|$)|(?:[a-z]Check|[a-z]Checks|Verifier|Acceptance)\.\w+$|\.bats$"
)
_RECIPES = {
    "makefile": r"\bg?make\b",
    "gnumakefile": r"\bg?make\b",
    "justfile": r"\bjust\b",
    "package.json": r"\b(?:npm|pnpm|yarn|bun)\b",
    "rakefile": r"\brake\b",
    "tox.ini": r"\btox\b",
    "noxfile.py": r"\bnox\b",
}


def like_a_check(path: str) -> bool:
    return _LIKE_A_CHECK.search(path) is not None


def leads_on(path: str) -> bool:
    """A file that may name the checks a command runs."""
    return like_a_check(path) or path.endswith(".sh") or PurePosixPath(path).name.lower() in _RECIPES


def reached(commands: Iterable[str], texts: Mapping[str, str]) -> frozenset[str]:
    """Of the files, those that the commands name, or that are named in one that is reached."""
    found: set[str] = set()
    said = "\n".join(commands)
    for _ in range(DEEPEST):
        new = {path for path in texts if path not in found and _mentions(said, path)}
        if not new:
            break
        found |= new
        said = "\n".join(texts[path] for path in sorted(new))
    return frozenset(found)


def _mentions(said: str, path: str) -> bool:
    recipe = _RECIPES.get(PurePosixPath(path).name.lower())
    if recipe and re.search(recipe, said):
        return True
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", said) for name in _names(path))


def _names(path: str) -> Iterator[str]:
    """As commands write it: the path, its name, the module, the class, the folder it lies in."""
    pure = PurePosixPath(path)
    yield from (path, pure.name)
    if pure.suffix == ".py":
        yield ".".join(pure.with_suffix("").parts)
    if pure.suffix in {".java", ".kt", ".scala", ".cs"}:
        yield pure.stem
    yield from (f"{folder}/" for folder in pure.parents if folder.name)
