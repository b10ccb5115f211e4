"""Turns the name given with `--agent` into an agent."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from autopilot.agents.backend import Backend
from autopilot.agents.backends import acp
from autopilot.agents.backends.catalogue import BY_NAME, PREFERRED
from autopilot.agents.cli_agent import CliAgent, Desk
from autopilot.agents.discovery import place_of, sign_of
from autopilot.agents.exec_agent import ExecAgent, argv_of
from autopilot.agents.replay import ReplayAgent
from autopilot.agents.scripted import ScriptedAgent
from autopilot.domain.errors import AgentUnavailable
from autopilot.domain.settings import Settings
from autopilot.ports.agents import Agent

AUTO = "auto"


def choose(name: str, desk: Desk, launch_folder: Path) -> Agent:
    """Raises `AgentUnavailable` before anything is spent, when the agent cannot be used here."""
    name = resolved(name, os.environ)
    kind, _, rest = name.partition(":")
    if kind == "scripted" and rest:
        return ScriptedAgent.from_file(launch_folder / rest)
    if kind == "replay" and rest:
        return ReplayAgent(rest, desk.transcripts, desk.past_work(rest))
    if kind == "exec":
        _found(argv_of(rest, launch_folder)[0], launch_folder)
        return ExecAgent(rest, desk.processes, desk.transcripts, desk.run, launch_folder, desk.homes, desk.reach)
    if kind == "acp" and rest:
        words = argv_of(rest, launch_folder)
        return CliAgent(acp.backend(words), _found(words[0], launch_folder), desk)
    if name in BY_NAME:
        return CliAgent(BY_NAME[name], _installed(BY_NAME[name]), desk)
    raise _unknown(name)


def command_of(name: str, launch_folder: Path) -> tuple[str, ...]:
    """The words an agent's program is started with, its own file first; none for agents that start no program."""
    kind, _, rest = name.partition(":")
    if kind in {"exec", "acp"} and rest:
        words = argv_of(rest, launch_folder)
        return (_found(words[0], launch_folder), *words[1:])
    return (_installed(BY_NAME[name]),) if name in BY_NAME else ()


def resolved(name: str, environment: Mapping[str, str]) -> str:
    """`auto` becomes the first agent that is installed and signed in; any other name stays."""
    if name != AUTO:
        return name
    installed = [backend for backend in PREFERRED if place_of(backend, environment)]
    for backend in installed:
        if sign_of(backend, environment):
            return backend.name
    raise _none(installed)


def program_of(name: str, environment: Mapping[str, str]) -> Backend | None:
    """The program that calls would go to; None for agents that are no program we know. It need not be installed."""
    try:
        name = resolved(name, environment)
    except AgentUnavailable:
        return PREFERRED[0]
    kind, _, rest = name.partition(":")
    return acp.backend((rest,)) if kind == "acp" and rest else BY_NAME.get(name)


def staffed(settings: Settings, environment: Mapping[str, str]) -> Settings:
    """The settings with agents chosen, so that a resumed run goes on with the same ones."""
    agent = resolved(settings.agent, environment)
    reviewer = settings.reviewer and resolved(settings.reviewer, environment)
    return msgspec.structs.replace(settings, agent=agent, reviewer=reviewer or other_vendor(agent, environment))


def other_vendor(name: str, environment: Mapping[str, str]) -> str | None:
    """An installed, signed-in agent of another vendor than the one named, to review its work."""
    own = BY_NAME.get(name)
    others = (backend for backend in PREFERRED if own and backend.vendor != own.vendor)
    return next((b.name for b in others if place_of(b, environment) and sign_of(b, environment)), None)


def _installed(backend: Backend) -> str:
    place = place_of(backend, os.environ)
    if place is None:
        raise AgentUnavailable(
            f"the agent {backend.name!r} is not installed: there is no {backend.program!r} on PATH",
            why="every step of a phase asks the agent",
            do=f"install {backend.program}, or choose another agent; `autopilot doctor` lists those it finds",
        )
    return place


def _found(program: str, launch_folder: Path) -> str:
    place = shutil.which(program)
    if place is None:
        raise AgentUnavailable(
            f"the agent's program {program!r} was not found",
            why="every step of a phase asks the agent",
            do=f"install {program}, or name a program by a path that exists in {launch_folder}",
        )
    return place


def _none(installed: list[Backend]) -> AgentUnavailable:
    names = ", ".join(backend.name for backend in installed)
    if installed:
        return AgentUnavailable(
            f"no agent is signed in; installed: {names}",
            why="every step of a phase asks the agent, which needs an account",
            do=f"start `{installed[0].program}` once and sign in, or set {installed[0].sign_in.variables[0]}; "
            "an account in the system's keychain cannot be used",
        )
    return AgentUnavailable(
        "no coding agent is installed",
        why="every step of a phase asks the agent",
        do=f"install one of {', '.join(b.name for b in PREFERRED)}, or bring your own with --agent exec:'COMMAND'",
    )


def _unknown(name: str) -> AgentUnavailable:
    return AgentUnavailable(
        f"the agent {name!r} is not built in",
        why="the run would have nobody to ask",
        do=f"use auto, {', '.join(BY_NAME)}, acp:COMMAND, exec:'COMMAND', scripted:FILE.toml or replay:RUN",
    )
