"""Dependency folders in clones and checkouts: links to what was installed once, outside every commit."""

import fcntl
import hashlib
import os
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import msgspec

from autopilot.domain.process import Ran
from autopilot.workspace.dependencies.find import leads_back
from autopilot.workspace.files.beneath import made_folder, opened, parts_of
from autopilot.workspace.files.removal import remove
from autopilot.workspace.project_folder import Within

# What a set-up depends on: a tree with the same of these gets the same folders.
MANIFESTS = frozenset({
    "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml",
    "bun.lock", "bun.lockb", ".npmrc", "pyproject.toml", "uv.lock", "poetry.lock", "pdm.lock", "requirements.txt",
    "requirements-dev.txt", "requirements", "setup.py", "setup.cfg", "Pipfile", "Pipfile.lock", "Gemfile",
    "Gemfile.lock", "Makefile", ".python-version", ".nvmrc", ".tool-versions",
})  # fmt: skip
MOST_KEPT = 4
_SEPARATORS = re.compile(r"[\s;&|()<>'\"=,]+")
TAIL = 400


class Source(Protocol):
    """Where the links of a commit lead, by the name each gets in the checkout."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def links(self, commit: str) -> dict[str, str]: ...


@dataclass(frozen=True, slots=True)
class Nothing:
    """No dependency folders: clones hold what is in the commit and no more."""

    names: tuple[str, ...] = ()

    def links(self, commit: str) -> dict[str, str]:  # noqa: ARG002 - one signature
        return {}


@dataclass(frozen=True, slots=True)
class Installed:
    """The folders of the user's own checkout, the same for every commit."""

    folders: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.folders)

    def links(self, commit: str) -> dict[str, str]:  # noqa: ARG002 - one signature
        return self.folders


class Made(msgspec.Struct, frozen=True):
    """A set-up that ended well, and which of the folders it made can be linked."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """
    Runs the user's command once for every state of the manifests, in a place of its own below `folder`.

    `manifests` tells a commit's, `lay` writes it out, `run` runs the command there; `tell` hears how it went.
    """

    command: str
    names: tuple[str, ...]
    folder: Path
    manifests: Callable[[str], dict[str, str]]
    lay: Callable[[Path, str], None]
    run: Callable[[str, str], Ran]
    tell: Callable[[str], None]
    within: Within = Within()  # noqa: RUF009 - frozen, so it is safe to share
    _known: dict[str, dict[str, str]] = field(default_factory=dict)

    def links(self, commit: str) -> dict[str, str]:
        told = sorted(
            (name, oid) for name, oid in self.manifests(commit).items() if name.rpartition("/")[2] in MANIFESTS
        )
        key = hashlib.sha256(repr((self.command, self.names, told)).encode()).hexdigest()[:16]
        if key not in self._known:
            with self._guarded(key):
                place = self.folder / key
                made = self._made(place) or self._make(place, commit)
            self._known[key] = {name: str(place / name) for name in made.names}
        return self._known[key]

    def _made(self, place: Path) -> Made | None:
        try:
            made = msgspec.json.decode(_note(place).read_bytes(), type=Made)
            os.utime(_note(place))
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        return made if all((place / name).is_dir() for name in made.names) else None

    def _make(self, place: Path, commit: str) -> Made:
        """The note comes last, so that a set-up cut off half-way is done again. A failed one is tried once a run."""
        self._prune()
        _note(place).unlink(missing_ok=True)
        self.lay(place, commit)
        ran = self.run(self.command, str(self.within.below(place)))
        if ran.exit_code != 0:
            said = (ran.stdout + ran.stderr).decode("utf-8", "replace").strip()[-TAIL:]
            ended = "took too long" if ran.exit_code is None else f"ended with exit code {ran.exit_code}"
            lacking = ", ".join(self.names)
            self.tell(f"The set-up command `{self.command}` {ended}; clones are without {lacking}: {said}")
            return Made(names=())
        made = Made(names=tuple(self._usable(place)))
        self.tell(f"Set up {', '.join(made.names) or 'nothing'} with `{self.command}` in {ran.seconds:.0f} s.")
        part = _note(place).with_suffix(".part")
        part.write_bytes(msgspec.json.encode(made))
        part.replace(_note(place))
        return made

    def _usable(self, place: Path) -> Iterator[str]:
        for name in self.names:
            if (place / name).is_dir() and not (place / name).is_symlink():
                if back := next(leads_back(place / name, place), ""):
                    self.tell(f"{name} made by `{self.command}` is not linked: {back}, which is not the work itself.")
                else:
                    yield name

    def _prune(self) -> None:
        """Keep the few used last."""
        notes = sorted(self.folder.glob("*.json"), key=lambda note: note.stat().st_mtime, reverse=True)
        for note in notes[MOST_KEPT:]:
            note.unlink(missing_ok=True)
            remove(note.with_suffix(""))

    @contextmanager
    def _guarded(self, key: str) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        guard = os.open(self.folder / f"{key}.guard", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(guard, fcntl.LOCK_EX)
            yield
        finally:
            os.close(guard)


def scripts_in(command: str) -> tuple[str, ...]:
    """
    Words of a set-up command that may be files of the project, such as a script it starts.

    Whoever changes one changes what the command does. Manifests are no scripts: they change in everyday work.
    """
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        words = []
    loose = (word for word in _SEPARATORS.split(command) if word)
    found = (word.removeprefix("./") for word in (*words, *loose))
    paths = (word for word in found if word and not word.startswith(("/", "-", "~", ":")))
    return tuple(dict.fromkeys(path for path in paths if path.rpartition("/")[2] not in MANIFESTS))


def _note(place: Path) -> Path:
    return place.with_name(f"{place.name}.json")


def lay_links(folder: Path, links: dict[str, str]) -> None:
    """A link for each; where something of the commit stands already, that stays."""
    with opened(folder) as top:
        for name, target in links.items():
            *parents, last = parts_of(name)
            with suppress(FileExistsError, NotADirectoryError), made_folder(top, parents) as parent:
                os.symlink(target, last, dir_fd=parent)
