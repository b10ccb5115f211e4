"""Which coding agents are installed: found on PATH and asked for their version, nothing else."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from autopilot.domain.checkup import Check
from autopilot.domain.errors import AgentUnavailable
from autopilot.domain.protocols import Job, Processes

KNOWN = ("claude", "codex", "gemini", "opencode", "goose", "qwen", "copilot", "pi")
SECONDS = 3.0
# Where each keeps its account: variables, and files below the home. Only whether they are there is looked at.
ACCOUNTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "claude": (("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"), (".claude/.credentials.json",)),
    "codex": (("OPENAI_API_KEY", "CODEX_API_KEY"), (".codex/auth.json",)),
    "gemini": (("GEMINI_API_KEY", "GOOGLE_API_KEY"), (".gemini/oauth_creds.json",)),
    "opencode": (("ANTHROPIC_API_KEY", "OPENAI_API_KEY"), (".local/share/opencode/auth.json",)),
    "goose": (("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), (".config/goose/config.yaml",)),
    "qwen": (("OPENAI_API_KEY", "DASHSCOPE_API_KEY"), (".qwen/oauth_creds.json",)),
    "copilot": (("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"), (".copilot/config.json",)),
    "pi": (("ANTHROPIC_API_KEY", "OPENAI_API_KEY"), (".pi/agent/auth.json",)),
}
_VERSION = re.compile(r"\d+\.\d+[\w.+-]*")


def agent_checks(processes: Processes, environment: Mapping[str, str]) -> Iterator[Check]:
    """One line for each that is there, or one that says that none is."""
    path = environment.get("PATH", os.defpath)
    found = [(name, place) for name in KNOWN if (place := shutil.which(name, path=path))]
    for name, place in found:
        said = version(processes, place, path)
        told = f"{name} {said}" if said else f"{name} (does not tell its version)"
        yield _account(name, f"{told} at {place}", environment)
    if not found:
        yield Check(
            level="warn",
            what="agent",
            found=f"none of {', '.join(KNOWN)} is on PATH",
            fix="Install one, or bring your own with --agent exec:'COMMAND' (docs/agents.md).",
        )


def _account(name: str, told: str, environment: Mapping[str, str]) -> Check:
    """Whether the agent seems signed in; an account in the system's own keychain cannot be seen."""
    variables, files = ACCOUNTS[name]
    home = environment.get("HOME", "")
    sign = next((v for v in variables if environment.get(v)), None)
    sign = sign or next((f"~/{file}" for file in files if home and Path(home, file).is_file()), None)
    if sign:
        return Check(level="ok", what="agent", found=f"{told}, signed in by {sign}")
    return Check(
        level="warn",
        what="agent",
        found=f"{told}, no sign of an account",
        fix=f"Start `{name}` once and sign in, unless its account is in the system's keychain.",
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
