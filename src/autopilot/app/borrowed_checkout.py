"""Runs commands on commits of the user's repository without writing to it, with the project's dependency folders."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from autopilot.app.dependencies import lacking, provide
from autopilot.app.wiring import Warn, cache_folder, processes_of, user_repository
from autopilot.domain.settings import Settings
from autopilot.evidence.facts import CommandFacts
from autopilot.sandbox.choose_tier import Ground
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.processes.dependency_path import EquippedSandbox
from autopilot.sandbox.processes.scratch import clear_abandoned, scratch_folder
from autopilot.text.redact import Redactor
from autopilot.workspace.files.removal import remove
from autopilot.workspace.git_workspace import GitWorkspace, Places
from autopilot.workspace.user_files import read_bytes
from autopilot.workspace.user_repository import UserRepository

NAME = "check"


@dataclass(frozen=True, slots=True, kw_only=True)
class Borrowed:
    """`lacking` tells which dependency folders the checkouts of `workspace` do not have, and why."""

    facts: CommandFacts
    workspace: GitWorkspace
    lacking: Callable[[], Iterator[str]]


@contextmanager
def borrowed(root: Path, settings: Settings, ground: Ground, commit: str, tell: Warn) -> Iterator[Borrowed]:
    """Facts about the commit and those before it; `tell` hears how a set-up went."""
    processes = processes_of(root)
    repository = user_repository(root, processes)
    with _workspace(repository, processes, commit) as workspace:
        # Only the user's own repository knows what git ignores there.
        provision = provide(settings, root, workspace, ground, repository.ignores)
        workspace.supply(provision.source(workspace, ground, tell))
        confined = ground.sandbox((workspace.history, *provision.readable), NAME, workspace.within.prefix)
        facts = CommandFacts(
            workspace=workspace,
            sandbox=EquippedSandbox(confined, provision.kit) if provision.readable else confined,
            limits=settings.limits,
            commands=settings.commands,
            redact=Redactor.of(os.environ),
        )
        yield Borrowed(facts=facts, workspace=workspace, lacking=lambda: lacking(settings, provision, repository))


@contextmanager
def _workspace(repository: UserRepository, processes: ChildProcesses, commit: str) -> Iterator[GitWorkspace]:
    """A workspace over a repository of its own that borrows the user's objects; gone afterwards."""
    cache, git = cache_folder(), repository.git
    cache.mkdir(parents=True, exist_ok=True)
    clear_abandoned(str(cache))
    with scratch_folder(str(cache)) as made:
        place = Path(made.path)
        try:
            shape, borrowing = repository.shape(), place / "repository"
            git.run("init", "-q", "--template=", f"--object-format={shape.object_format}", str(borrowing))
            objects, shallow = borrowing / ".git" / "objects", read_bytes(shape.common_dir / "shallow")
            (objects / "info").mkdir(exist_ok=True)
            (objects / "info" / "alternates").write_text(f"{shape.common_dir / 'objects'}\n", encoding="utf-8")
            if shallow:
                (borrowing / ".git" / "shallow").write_bytes(shallow)
            replace(git, cwd=borrowing).run("update-ref", "--no-deref", "HEAD", commit)
            project = repository.within.laid(borrowing)
            workspace = GitWorkspace(Places(root=project, cache=place / "cache"), processes, NAME, os.environ)
            workspace.start()
            yield workspace
        finally:
            remove(place)  # what was run there may have taken the right to write from its folders
