"""Runs a project's commands once on its newest commit: which do not run here, and which criteria hold already."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from autopilot.app.borrowed_checkout import borrowed
from autopilot.app.dependencies import suggested
from autopilot.app.wiring import check_repository, processes_of
from autopilot.domain.errors import AutopilotError, RepositoryInvalid
from autopilot.domain.phase import NEVER_RUN, Note, Phase
from autopilot.domain.settings import Settings, detected
from autopilot.evidence.facts import CommandFacts
from autopilot.evidence.held_already import held_already
from autopilot.planning.start.read_project import Project
from autopilot.policy.facts.commands import first_results, why_not_run
from autopilot.sandbox import choose_tier as sandboxes

# A user who checks a file does not expect to wait for a whole test suite.
SECONDS = 20


def notes(root: Path, project: Project, settings: Settings) -> tuple[Note, ...]:
    """A finding for each detected command that does not run, and for each criterion of an open phase that holds."""
    phases = [phase for phase in project.roadmap.phases if phase.status not in {"completed", *NEVER_RUN}]
    criteria = any(criterion.command for phase in phases for criterion in phase.criteria)
    if not criteria and not settings.commands.configured():
        return ()
    try:
        with _facts(root, settings) as (facts, base):
            return (*_dead(root, facts, base, project, settings), *_held(facts, base, phases, project.roadmap.path))
    except RepositoryInvalid:
        return ()  # There is no commit to try them on, which is for other checks to say.
    except AutopilotError as error:
        what = f"the project's commands and criteria were not run: {error.what}"
        return (Note(file=project.roadmap.path, line=0, what=what, severity="info"),)


def _dead(root: Path, facts: CommandFacts, base: str, project: Project, settings: Settings) -> Iterator[Note]:
    file = project.detected.manifest or project.roadmap.path
    ours = dict(detected(settings).configured())
    ended = [
        run
        for run in facts.gates(base, settings.commands)
        if run.exit_code is not None or run.not_run  # a suite that takes longer is no failure
    ]
    unused = {run.check: why for run in ended if run.check in ours and (why := why_not_run(run))}
    for _, told in first_results(ended, unused, suggested(settings, root)):
        yield Note(file=file, line=0, what=told)


def _held(facts: CommandFacts, base: str, phases: list[Phase], path: str) -> Iterator[Note]:
    for found in held_already(facts, base, phases):
        for criterion, what in zip(found.criteria, found.lines, strict=True):
            where = criterion.line or found.phase.line
            yield Note(file=path, line=where, what=what, severity="warning" if found.alone else "info")


@contextmanager
def _facts(root: Path, settings: Settings) -> Iterator[tuple[CommandFacts, str]]:
    """Facts about the newest commit, and that commit. Nothing is written to the repository."""
    processes = processes_of(root)
    base, ground = check_repository(root, processes), sandboxes.choose(settings.sandbox, processes)
    limits = msgspec.structs.replace(settings.limits, command_seconds=SECONDS, gate_seconds=SECONDS)
    quick = msgspec.structs.replace(settings, limits=limits)
    with borrowed(root, quick, ground, base, lambda _: None) as borrow:
        yield borrow.facts, base
