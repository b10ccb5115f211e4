"""Turns the name given with `--agent` into an agent."""

import shutil
from pathlib import Path

from autopilot.agents.exec_agent import ExecAgent, argv_of
from autopilot.agents.scripted import ScriptedAgent
from autopilot.domain.errors import AgentUnavailable
from autopilot.domain.protocols import Agent, Processes


def choose(name: str, processes: Processes, transcripts: Path, run: str, launch_folder: Path) -> Agent:
    """Raises `AgentUnavailable` before anything is spent, when the agent cannot be used here."""
    kind, _, rest = name.partition(":")
    if kind == "scripted" and rest:
        return ScriptedAgent.from_file(launch_folder / rest)
    if kind == "exec":
        program = argv_of(rest, launch_folder)[0]
        if shutil.which(program) is None:
            raise _missing(program, launch_folder)
        return ExecAgent(rest, processes, transcripts, run, launch_folder)
    raise _unknown(name)


def _missing(program: str, launch_folder: Path) -> AgentUnavailable:
    return AgentUnavailable(
        f"the agent's program {program!r} was not found",
        why="every step of a phase asks the agent",
        do=f"install {program}, or name a program by a path that exists in {launch_folder}",
    )


def _unknown(name: str) -> AgentUnavailable:
    return AgentUnavailable(
        f"the agent {name!r} is not built in",
        why="this version reaches coding agents through a program of yours that passes the question on",
        do="use --agent exec:'python3 my_agent.py' (docs/agents.md has one of ten lines), or scripted:FILE.toml",
    )
