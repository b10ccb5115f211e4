"""The versions of what facts depend on: the system, git, the sandbox and the project's own tools, each asked once."""

import os
import platform
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from autopilot import __version__
from autopilot.domain.errors import AutopilotError
from autopilot.domain.running import Job, Processes
from autopilot.sandbox.launching import SYSTEM_FOLDERS
from autopilot.sandbox.scratch import scratch_folder
from autopilot.sandbox.toolchain import look

SECONDS = 3.0
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


def tool_versions(processes: Processes, commands: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """A tool that does not answer, or that we do not know how to ask, is left out."""
    found = {
        "autopilot": __version__,
        "python": platform.python_version(),
        "kernel": f"{platform.system()} {platform.release()}",
    }
    path = look(environment).environment("/nonexistent", "", "")["PATH"]
    bwrap = shutil.which("bwrap", path=SYSTEM_FOLDERS) or shutil.which("bwrap", path=path)
    wanted = {"git": shutil.which("git", path=path), "bubblewrap": bwrap}
    wanted |= {name: shutil.which(name, path=path) for name in sorted(set(_programs(commands)))}
    for name, program in wanted.items():
        said = _asked(processes, program, path) if program else None
        if said:
            found[name if name not in found else f"{name} on PATH"] = said
    return found


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


def _programs(commands: Iterable[str]) -> Iterable[str]:
    for command in commands:
        try:
            words = shlex.split(command)
        except ValueError:
            continue
        if words and words[0] in ANSWERING:
            yield words[0]


def _asked(processes: Processes, program: str, path: str) -> str | None:
    """In an empty home and an empty folder, so that nothing of the project can answer in its stead."""
    with scratch_folder() as scratch:
        empty = scratch.path
        env = {"PATH": path, "HOME": empty, "TMPDIR": empty, "LANG": "C.UTF-8"}
        job = Job(argv=(program, "--version"), cwd=empty, env=env, timeout_s=SECONDS, max_output=10_000)
        try:
            ran = processes.run(job)
        except AutopilotError:
            return None
    said = _VERSION.search((ran.stdout + ran.stderr).decode("utf-8", "replace")) if ran.exit_code == 0 else None
    return said[0] if said else None
