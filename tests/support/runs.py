"""Whole runs through `app`, watched: real git, real journal, the scripted agent."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from autopilot import app
from autopilot.domain.asking_people import Person
from autopilot.domain.errors import AutopilotError
from autopilot.domain.events import AgentAnswered, Entry, StepFinished
from autopilot.domain.request import RunEnd, RunRequest
from support.project import make_project, toml
from support.repos import git

E = TypeVar("E")


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

    def run(self, phases: str = "all", person: Person | None = None, **more: Any) -> RunEnd:
        fields: dict[str, Any] = {
            "folder": str(self.root),
            "phases": phases,
            "agent": self.agent or f"scripted:{self.script}",
            "sandbox": "none",
            **more,
        }
        return app.start(RunRequest(**fields), self.hear, self.warnings.append, person)

    def resume(self) -> RunEnd:
        return app.resume(str(self.root), self.hear, self.warnings.append)

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
