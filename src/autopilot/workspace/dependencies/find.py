"""Folders of installed dependencies in the user's checkout: which can be shown to others, and which lead back there."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autopilot.workspace.files.beneath import parts_of

MOST_ENTRIES = 400_000
MOST_BYTES = 200_000
# Files by which Python finds packages that lie elsewhere.
POINTERS = re.compile(r".*\.(?:pth|egg-link)|__editable__.*\.py|__editable___.*|direct_url\.json")
INTERPRETER = "bin/python"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A folder that is there. `refusal` says why it cannot be linked; empty when it can."""

    name: str
    folder: Path
    refusal: str = ""


def survey(root: Path, names: Iterable[str], is_ignored: Callable[[str], bool]) -> tuple[Offer, ...]:
    """Those of the names that are folders of the checkout. What git tracks is in every clone and is not offered."""
    return tuple(_offer(root, name) for name in dict.fromkeys(names) if _is_there(root, name) and is_ignored(name))


def is_missing(root: Path, places: Iterable[str], is_ignored: Callable[[str], bool]) -> bool:
    """Whether git ignores the folder in one of the places and it is in none of them."""
    known = [place for place in places if _is_inside(place)]
    return not any((root / place).is_dir() for place in known) and any(map(is_ignored, known))


def _is_there(root: Path, name: str) -> bool:
    return _is_inside(name) and (root / name).is_dir()


def _is_inside(name: str) -> bool:
    try:
        parts_of(name)
    except ValueError:
        return False
    return True


def _offer(root: Path, name: str) -> Offer:
    folder = root / name
    if Path(os.path.realpath(folder)) != Path(os.path.realpath(root), name):
        return Offer(name=name, folder=folder, refusal=f"{name} is a link itself")
    found = next(leads_back(folder, root), "")
    return Offer(name=name, folder=folder, refusal=found)


def leads_back(folder: Path, root: Path) -> Iterator[str]:
    """What in the folder leads into the rest of `root`, or nowhere: work would then be judged by other files."""
    inside, around = os.path.realpath(folder), os.path.realpath(root)
    waiting, seen = [inside], 0
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                seen += 1
                if seen > MOST_ENTRIES:
                    yield f"it has more than {MOST_ENTRIES} entries and was not looked through"
                    return
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif target := _elsewhere(entry, inside, around):
                    yield f"{os.path.relpath(entry.path, inside)} leads to {target}"


def _elsewhere(entry: os.DirEntry[str], inside: str, around: str) -> str:
    if entry.is_symlink():
        target = os.path.realpath(entry.path)
        return target if _is_within(target, around) and not _is_within(target, inside) else ""
    if POINTERS.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
        return _pointed(Path(entry.path), inside, around)
    return ""


def _pointed(file: Path, inside: str, around: str) -> str:
    """A path into the rest of the checkout, named by a file Python reads when it starts."""
    with file.open(encoding="utf-8", errors="replace") as opened:
        text = opened.read(MOST_BYTES)
    for line in text.splitlines():
        if file.suffix in {".pth", ".egg-link"} and not line.startswith(("import ", "import\t", "#")):
            target = os.path.realpath(file.parent / line.strip())
            if line.strip() and _is_within(target, around) and not _is_within(target, inside):
                return target
    named = re.search(rf"{re.escape(around)}(?![\w.-])(?!{re.escape(inside[len(around) :])}(?![\w.-]))[^\s'\"]*", text)
    return named[0] if named else ""


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def interpreter_home(folder: Path, root: Path) -> str | None:
    """The installation the Python of a virtual environment belongs to, if that may be shown as a whole."""
    program = folder / INTERPRETER
    if not os.path.lexists(program):
        return None
    prefix = Path(os.path.realpath(program)).parent.parent
    private = any(Path(os.path.realpath(place)).is_relative_to(prefix) for place in (root, Path.home()))
    return None if private or not (prefix / "lib").is_dir() else str(prefix)


ADVICE = (
    ("uv.lock", "uv sync --frozen --no-install-project"),
    ("poetry.lock", "poetry install --no-root"),
    ("pdm.lock", "pdm sync --no-self"),
    ("requirements.txt", "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"),
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn install --immutable"),
    ("bun.lock", "bun install --frozen-lockfile"),
    ("package-lock.json", "npm ci"),
    ("Gemfile.lock", "bundle install --path vendor/bundle"),
    ("package.json", "npm install"),
    ("pyproject.toml", "python3 -m venv .venv && .venv/bin/pip install pytest"),
)


def advice(root: Path) -> str:
    """A set-up command that fits the project's lock file, to be written into the config by its user; else empty."""
    return next((command for file, command in ADVICE if (root / file).is_file()), "")
