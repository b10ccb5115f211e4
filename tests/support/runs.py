"""Whole runs through `app`, watched: real git, real journal, the scripted agent."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from autopilot.app import prepare as app
from autopilot.domain.errors import AutopilotError
from autopilot.domain.events import AgentAnswered, Entry, StepFinished
from autopilot.domain.people import NOBODY, Person
from autopilot.domain.request import Resumption, RunEnd, RunRequest, VerdictEnd
from autopilot.views.lines.run_lines import Narrator
from support.adoption import adopted
from support.project import make_project, toml
from support.repos import git
from support.trusting import trust

E = TypeVar("E")
MEMORY = Path("/dev/shm")


@contextmanager
def playground() -> Iterator[Path]:
    """
    A folder for a project and its clones, in memory where the system has such a place.

    These tests are about order, not about the disk, and a run waits for the disk after every step.
    """
    usable = MEMORY.is_dir() and os.access(MEMORY, os.W_OK)
    folder = Path(tempfile.mkdtemp(prefix="autopilot-flow-", dir=MEMORY if usable else None))
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AUTOPILOT_CACHE", str(folder / "cache"))
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Stage:
    """A project brought to a certain point once, and brought back to it for every test."""

    place: Path
    kept: Path
    entries: tuple[tuple[str, Entry], ...]

    @staticmethod
    def of(place: Path, kept: Path, project: "Drive") -> "Stage":
        shutil.copytree(place, kept / "copy", symlinks=True)
        return Stage(place, kept / "copy", tuple(project.entries))

    def again(self) -> "Drive":
        """At the very same path, which the project's own git and journal know."""
        for child in self.place.iterdir():
            shutil.rmtree(child) if child.is_dir() else child.unlink()
        shutil.copytree(self.kept, self.place, symlinks=True, dirs_exist_ok=True)
        return Drive(adopted(self.place / "project"), entries=list(self.entries))


def roadmap_of(*phases: str) -> str:
    """Each phase is `id` or `id>need`; its criterion wants the word done in its letter."""
    parts = ["# Roadmap: Letters\n"]
    for said in phases:
        name, _, need = said.partition(">")
        parts.append(
            f"### Phase {name}: Letter {name}\n**Goal**: Write letter {name}.\n"
            f"**Depends on**: {f'Phase {need}' if need else 'Nothing'}\n**Success Criteria** (what must be TRUE):\n"
            f"  1. The letter is there -- verified by: `grep -q done letter{name}.txt`\n"
        )
    return "\n".join(parts)


@dataclass(slots=True)
class Drive:
    """One project and everything its runs reported. `meanwhile` is what the user does while a run goes on."""

    root: Path
    agent: str = ""
    entries: list[tuple[str, Entry]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    meanwhile: Callable[[Entry], None] = lambda _: None
    person: Person = NOBODY

    def run(self, phases: str = "all", person: Person | None = None, **more: Any) -> RunEnd:
        fields: dict[str, Any] = {
            "folder": str(self.root),
            "phases": phases,
            "agent": self.agent or f"scripted:{self.script}",
            "sandbox": "none",
            **more,
        }
        trust(self.root)
        return app.start(RunRequest(**fields), self.hear, self.warnings.append, person or self.person)

    def resume(self, **more: Any) -> RunEnd:
        trust(self.root)
        return app.resume(str(self.root), self.hear, self.warnings.append, Resumption(**more), self.person)

    def verdict(self, phase: str, word: str, *issues: str) -> VerdictEnd:
        return app.verdict(str(self.root), phase, word, issues, self.warnings.append)

    def state(self) -> dict[str, Any]:
        """state.json, or what the newest run left in the archive."""
        kept = self.root / ".autopilot" / "state.json"
        found = kept if kept.exists() else max((kept.parent / "archive").glob("run-*.json"))
        held: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
        return held

    def told(self) -> list[str]:
        """What a plain view would have shown."""
        narrator = Narrator()
        return [line for stream, entry in self.entries for line in narrator.tell(stream, entry)]

    def hear(self, stream: str, entry: Entry) -> None:
        self.entries.append((stream, entry))
        self.meanwhile(entry)

    @property
    def script(self) -> Path:
        return self.root.parent / f"{self.root.name}.toml"

    def rewrite(self, answers: Iterable[Mapping[str, Any]]) -> None:
        self.script.write_text(toml(answers), encoding="utf-8")

    def of(self, kind: type[E]) -> list[E]:
        return [entry.event for _, entry in self.entries if isinstance(entry.event, kind)]

    @property
    def steps(self) -> list[str]:
        """The finished steps of all passes, in order."""
        return [done.step for done in self.of(StepFinished)]

    @property
    def calls(self) -> list[str]:
        return [answer.call.partition("/")[2] for answer in self.of(AgentAnswered)]

    def log(self) -> list[str]:
        return git(self.root, "log", "--format=%s").splitlines()

    def branches(self) -> list[str]:
        return git(self.root, "branch", "--format=%(refname:short)").splitlines()

    def reads(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")


def driven(folder: Path, answers: Iterable[Mapping[str, Any]], *phases: str) -> Drive:
    """A project of the named phases, and the script beside it."""
    return Drive(make_project(folder / "project", answers, roadmap_of(*(phases or ("1",)))))


def snapshot(folder: Path) -> dict[str, bytes | str]:
    """Every file, folder and link below the folder, byte for byte."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = str(path.readlink())
        else:
            found[name] = path.read_bytes() if path.is_file() else "folder"
    return found


def parts_of(error: AutopilotError) -> tuple[str, str, str]:
    return error.what, error.why, error.do
