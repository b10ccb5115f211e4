"""Asks the tools that facts depend on for their versions, each once; a tool that does not run is absent."""

import os
import platform
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from autopilot import __version__
from autopilot.domain.errors import AutopilotError
from autopilot.domain.process import Job, Processes
from autopilot.domain.request import Check
from autopilot.sandbox.processes.launch import SYSTEM_FOLDERS
from autopilot.sandbox.processes.scratch import scratch_folder
from autopilot.sandbox.toolchain import Toolchain, is_within, look

SECONDS = 20.0
# Programs that answer `--version` at once and do nothing else.
ANSWERING = frozenset(
    {
        "bash", "biome", "bun", "cargo", "cmake", "ctest", "deno", "eslint", "gcc", "jest", "make", "mypy", "ninja",
        "node", "npm", "npx", "nox", "php", "pnpm", "poetry", "prettier", "pyright", "pytest", "python", "python3",
        "ruby", "ruff", "rustc", "tox", "tsc", "uv", "vitest", "yarn",
    }
)  # fmt: skip
BUILT_IN = frozenset({"cd", "export", "test", "[", "set", "source", ".", "if", "for", "(", "{", "true", "false"})
_VERSION = re.compile(r"\d+\.\d+[\w.+-]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


class Asked(NamedTuple):
    """What a program said to `--version`: its version, or why it does not run. Both are empty if it said neither."""

    version: str = ""
    trouble: str = ""


def tool_versions(processes: Processes, commands: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """A tool that does not answer, or that we do not know how to ask, is left out."""
    found = {
        "autopilot": __version__,
        "python": platform.python_version(),
        "kernel": f"{platform.system()} {platform.release()}",
    }
    tools = look(environment)
    bwrap = shutil.which("bwrap", path=SYSTEM_FOLDERS) or _place("bwrap", tools)
    wanted = {"git": _place("git", tools), "bubblewrap": bwrap}
    wanted |= {name: _place(name, tools) for name in programs(commands)}
    for name, program in wanted.items():
        said = ask(processes, program, tools).version if program else ""
        if said:
            found[name if name not in found else f"{name} on PATH"] = said
    return found


def tool_check(
    processes: Processes, commands: Iterable[str], environment: Mapping[str, str], top: Path
) -> Iterator[Check]:
    """
    Whether the programs that the project's commands start with run here; nothing if we know none of them.

    A program that lies in the repository below `top` is not started: whoever looks starts nothing of it.
    """
    tools, there, troubles = look(environment), list[str](), list[str]()
    for name in programs(commands):
        program = _place(name, tools)
        if program and is_of_repository(program, top):
            there.append(f"{name} of the project (not asked)")
            continue
        said = ask(processes, program, tools) if program else Asked(trouble="is not on PATH")
        if said.trouble:
            troubles.append(f"{name} {said.trouble}")
        else:
            there.append(f"{name} {said.version}".strip())
    if there or troubles:
        yield Check(
            level="warn" if troubles else "ok",
            what="tools",
            found="; ".join([*troubles, *([", ".join(there)] if there else [])]),
            fix="Install it, or choose a version of it, until it answers `--version`. Commands that need it fail.",
        )


def is_of_repository(program: str, top: Path) -> bool:
    """Whether a program lies there, by its path or by where that leads; one found by a relative path counts as well."""
    return not Path(program).is_absolute() or any(
        is_within(path, str(top.resolve())) for path in (program, os.path.realpath(program))
    )


def missing_program(command: str, root: Path, environment: Mapping[str, str]) -> str:
    """The program the command starts with, if it is neither on the PATH nor a file of the project; else empty."""
    try:
        words = [word for word in shlex.split(command) if "=" not in word.partition("/")[0]]
    except ValueError:
        return ""
    program = words[0] if words else ""
    if not program or program in BUILT_IN:
        return ""
    if "/" in program:
        return "" if os.access(root / program, os.X_OK) else program
    linked = (root / folder / "bin" / program for folder in (".venv", "venv"))
    there = shutil.which(program, path=environment.get("PATH", os.defpath)) or any(path.exists() for path in linked)
    return "" if there else program


def programs(commands: Iterable[str]) -> list[str]:
    """The programs that commands start with, as far as they are known to answer `--version`."""
    return sorted({word for command in commands if (word := _first(command)) in ANSWERING})


def _first(command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return next((word for word in words if not _ASSIGNMENT.match(word)), "")


def _place(name: str, tools: Toolchain) -> str | None:
    return shutil.which(name, path=tools.environment("/nonexistent", "", "")["PATH"])


def ask(processes: Processes, program: str, tools: Toolchain) -> Asked:
    """
    In an empty home and an empty folder, so that nothing of the project can answer in its stead.

    Otherwise as commands are run: a toolchain that a variable names is found.
    """
    with scratch_folder() as scratch:
        env = tools.environment("/nonexistent", scratch.path, scratch.path)
        job = Job(argv=(program, "--version"), cwd=scratch.path, env=env, timeout_s=SECONDS, max_output=10_000)
        try:
            ran = processes.run(job)
        except AutopilotError as error:
            return Asked(trouble=f"does not run: {error.what}")
    text = (ran.stdout + ran.stderr).decode("utf-8", "replace")
    if ran.exit_code == 0:
        said = _VERSION.search(text)
        return Asked(version=said[0] if said else "")
    first = text.strip().partition("\n")[0] or "it says nothing"
    how = f"exit code {ran.exit_code}" if ran.exit_code is not None else f"no answer within {SECONDS:g} seconds"
    return Asked(trouble=f"does not run ({how}): {first}")
