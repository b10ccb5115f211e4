"""A run's workspace over a small real repository."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autopilot.workspace.git_workspace import GitWorkspace, Places
from support.processes import PlainProcesses
from support.repos import make_repo

FILES = {"a.txt": "a\n", "src/b.py": "b = 1\n", "c.md": "c\n"}
PLANNING = {".planning/ROADMAP.md": "# roadmap\n"}
ENV = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


@dataclass(frozen=True, slots=True)
class Bench:
    """A repository, a workspace on it, the commit it starts from and every program it ran."""

    root: Path
    workspace: GitWorkspace
    base: str
    processes: PlainProcesses

    def seal(self, files: Mapping[str, str | None], step: str = "s1", base: str | None = None) -> str:
        """An agent's work, as a commit."""
        base = base or self.base
        folder = Path(self.workspace.clone(base, PLANNING))
        change(folder, files)
        return self.workspace.seal(str(folder), base, message(step)).commit


def change(folder: Path, files: Mapping[str, str | None]) -> None:
    for name, text in files.items():
        path = folder / name
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def message(step: str) -> str:
    return f"feat(01): 01-01 - title\n\nAutopilot-Run: run-1\nAutopilot-Step: {step}\n"


def open_workspace(root: Path, run: str = "run-1") -> Bench:
    processes = PlainProcesses()
    workspace = GitWorkspace(Places(root=root, cache=root.parent / "cache"), processes, run, ENV)
    return Bench(root, workspace, workspace.start().base, processes)


def make_bench(folder: Path, files: Mapping[str, str] = FILES) -> Bench:
    return open_workspace(make_repo(folder / "user", files))
