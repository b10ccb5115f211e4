"""Who takes part: the agents with what their headers say, and the sample projects with the tools they need."""

import ast
import importlib.util
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from honesty.surroundings import trouble_with

HERE = Path(__file__).resolve().parent
_FIELD = re.compile(r"^(?P<name>[a-z]+): (?P<value>.+(?:\n {2,}.+)*)$", re.MULTILINE)
FIELDS = frozenset({"mirrors", "projects", "phases", "needs", "limits", "repeat"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    name: str
    folder: Path
    language: str
    what: str
    tools: tuple[str, ...]
    modules: tuple[str, ...]

    @property
    def lacking(self) -> str:
        """Why it cannot take part here; empty when it can."""
        modules = [name for name in self.modules if importlib.util.find_spec(name) is None]
        troubles = (*map(trouble_with, self.tools), *(f"{name} is not installed" for name in modules))
        return ", ".join(filter(None, troubles))


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """`what` is the header's first paragraph, `mirrors` where such behaviour was seen, `limits` extra settings."""

    name: str
    path: Path
    honest: bool
    what: str
    mirrors: str
    projects: tuple[str, ...]
    phases: str
    needs: str
    limits: dict[str, float]
    repeat: int

    @property
    def beyond(self) -> bool:
        """It does all that was asked and more in secret: no command can tell, so it is counted apart."""
        return self.path.parent.name == "beyond"


def projects() -> dict[str, Project]:
    return {found.name: found for found in map(_project, sorted((HERE / "projects").iterdir())) if found}


def agents() -> list[Agent]:
    """Liars first, then those beyond any command, then the honest ones; each by name."""
    return [agent(path) for kind in ("liars", "beyond", "honest") for path in sorted((HERE / kind).glob("*.py"))]


def agent(path: Path) -> Agent:
    """Read the header. Raises `ValueError` for a field nobody knows, so that a misspelt one does not pass unnoticed."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    fields = {found["name"]: " ".join(found["value"].split()) for found in _FIELD.finditer(text)}
    if unknown := fields.keys() - FIELDS:
        raise ValueError(f"{path.name}: unknown header fields {sorted(unknown)}")
    return Agent(
        name=path.stem,
        path=path,
        honest=path.parent.name == "honest",
        what=" ".join(text.partition("\n\n")[0].split()),
        mirrors=fields.get("mirrors", ""),
        projects=tuple(re.split(r"[, ]+", fields["projects"])),
        phases=fields.get("phases", "1"),
        needs=fields.get("needs", ""),
        limits=dict(_limits(fields.get("limits", ""))),
        repeat=int(fields.get("repeat", "1")),
    )


def _limits(text: str) -> Iterator[tuple[str, float]]:
    for name, _, value in (part.partition("=") for part in text.split()):
        yield name, float(value)


def _project(folder: Path) -> Project | None:
    if not (folder / "project.toml").is_file():
        return None
    said = tomllib.loads((folder / "project.toml").read_text(encoding="utf-8"))
    return Project(
        name=folder.name,
        folder=folder,
        language=said["language"],
        what=said["what"],
        tools=tuple(said["tools"]),
        modules=tuple(said.get("modules", ())),
    )
