"""Which coding agents are installed: found on PATH and asked for their version, nothing else."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping

from autopilot.domain.checkup import Check
from autopilot.domain.errors import AgentUnavailable
from autopilot.domain.protocols import Job, Processes

KNOWN = ("claude", "codex", "gemini", "opencode", "goose", "qwen", "copilot", "pi")
SECONDS = 3.0
_VERSION = re.compile(r"\d+\.\d+[\w.+-]*")


def agent_checks(processes: Processes, environment: Mapping[str, str]) -> Iterator[Check]:
    """One line for each that is there, or one that says that none is."""
    path = environment.get("PATH", os.defpath)
    found = [(name, place) for name in KNOWN if (place := shutil.which(name, path=path))]
    for name, place in found:
        said = version(processes, place, path)
        told = f"{name} {said}" if said else f"{name} (does not tell its version)"
        yield Check(level="ok", what="agent", found=f"{told} at {place}")
    if not found:
        yield Check(
            level="warn",
            what="agent",
            found=f"none of {', '.join(KNOWN)} is on PATH",
            fix="Install one, or bring your own with --agent exec:'COMMAND' (docs/agents.md).",
        )


def version(processes: Processes, program: str, path: str) -> str | None:
    """Asked in an empty home and an empty folder, without a variable of the user's: it cannot sign in to anything."""
    with tempfile.TemporaryDirectory(prefix="autopilot-doctor-") as empty:
        env = {"PATH": path, "HOME": empty, "TMPDIR": empty, "LANG": "C.UTF-8"}
        job = Job(argv=(program, "--version"), cwd=empty, env=env, timeout_s=SECONDS, max_output=10_000)
        try:
            ran = processes.run(job)
        except AgentUnavailable:
            return None
    said = _VERSION.search((ran.stdout + ran.stderr).decode("utf-8", "replace")) if ran.exit_code == 0 else None
    return said[0] if said else None
