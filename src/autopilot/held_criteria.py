"""Runs the roadmap's criteria for `autopilot phases check`, to say which of them hold already."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from autopilot.attesting import borrowed_workspace
from autopilot.domain.errors import AutopilotError
from autopilot.domain.phase import Note, Roadmap
from autopilot.domain.secrets import Redactor
from autopilot.domain.settings import Commands, Limits
from autopilot.evidence.facts import CommandFacts
from autopilot.evidence.held_already import held_already
from autopilot.hiring import processes_of
from autopilot.sandbox import choose as sandboxes
from autopilot.workspace.git import COMMON, Git, user_env

# Whoever asks for a check of a file does not expect to wait for a whole test suite.
SECONDS = 20


def notes(root: Path, roadmap: Roadmap, commands: Commands, limits: Limits) -> tuple[Note, ...]:
    """A finding for each open phase's criterion that holds on the last commit; one remark where none could be run."""
    try:
        return tuple(_found(root, roadmap, commands, limits))
    except AutopilotError as error:
        what = f"the criteria were not run: {error.what}"
        return (Note(file=roadmap.path, line=1, what=what, severity="info"),)


def _found(root: Path, roadmap: Roadmap, commands: Commands, limits: Limits) -> Iterator[Note]:
    open_phases = [phase for phase in roadmap.phases if phase.status not in {"completed", "deferred"}]
    if not any(criterion.command for phase in open_phases for criterion in phase.criteria):
        return
    processes = processes_of(root)
    git = Git(processes=processes, cwd=root, env=user_env(os.environ), flags=COMMON)
    head = git.run("rev-parse", "-q", "--verify", "HEAD^{commit}", ok=(0, 1, 128))
    if head.exit_code:
        return
    commit, ground = head.stdout.decode().strip(), sandboxes.choose("auto", processes)
    with borrowed_workspace(root, git, processes, commit) as workspace:
        facts = CommandFacts(
            workspace=workspace,
            sandbox=ground.sandbox((workspace.history,), "check"),
            limits=msgspec.structs.replace(limits, command_seconds=SECONDS, gate_seconds=SECONDS),
            commands=commands,
            redact=Redactor.of(os.environ),
        )
        for found in held_already(facts, commit, open_phases):
            for criterion, what in zip(found.criteria, found.lines, strict=True):
                severity: Literal["warning", "info"] = "warning" if found.alone else "info"
                where = criterion.line or found.phase.line
                yield Note(file=roadmap.path, line=where, what=what, severity=severity)
