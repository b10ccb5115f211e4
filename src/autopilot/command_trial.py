"""Runs the detected commands of a project once on its newest commit, to tell which of them do not run here."""

import os
from collections.abc import Iterator
from pathlib import Path

from autopilot.attesting import borrowed_workspace
from autopilot.domain.does_not_run import not_used, why_not_run
from autopilot.domain.errors import AutopilotError, RepositoryInvalid
from autopilot.domain.evidence import CommandRun
from autopilot.domain.phase import Note
from autopilot.domain.settings import Settings, detected
from autopilot.evidence.facts import CommandFacts
from autopilot.hiring import cache_folder, check_repository, processes_of, user_repository
from autopilot.planning.whole import Project
from autopilot.provision import provide
from autopilot.sandbox import choose as sandboxes
from autopilot.sandbox.equipped import EquippedSandbox
from autopilot.workspace.git_workspace import GitWorkspace, Places


def notes(root: Path, project: Project, settings: Settings) -> Iterator[Note]:
    """A note for each that does not run. Nothing is written to the repository."""
    if not detected(settings).configured():
        return
    file = project.detected.manifest or project.roadmap.path
    try:
        runs = _runs(root, settings)
    except RepositoryInvalid:
        return  # There is no commit to try them on, which is for other checks to say.
    except AutopilotError as error:
        yield Note(file=file, line=0, what=f"the detected commands were not tried: {error.what}", severity="info")
        return
    for run in runs:
        if why := why_not_run(run):
            yield Note(file=file, line=0, what=not_used(run, why))


def _runs(root: Path, settings: Settings) -> tuple[CommandRun, ...]:
    processes = processes_of(root)
    base, ground = check_repository(root, processes), sandboxes.choose(settings.sandbox, processes)
    own = GitWorkspace(Places(root=root, cache=cache_folder()), processes, "check", os.environ)
    provision = provide(settings, root, own, ground)
    with borrowed_workspace(root, user_repository(root, processes).git, processes, base) as workspace:
        workspace.supply(provision.source(workspace, ground, lambda _: None))
        confined = ground.sandbox((workspace.history, *provision.readable), "check", workspace.within.prefix)
        sandbox = EquippedSandbox(confined, provision.kit) if provision.readable else confined
        return CommandFacts(workspace=workspace, sandbox=sandbox, limits=settings.limits).gates(
            base, detected(settings)
        )
