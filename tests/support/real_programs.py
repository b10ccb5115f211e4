"""Finds real agent programs, and calls them in an empty home with a service of this machine: no account is touched."""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from autopilot.agents.backend import Backend
from autopilot.agents.cli_agent import CliAgent, Desk
from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.settings import SandboxChoice
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.agent_view import AgentView
from support.homes import homes_at
from support.set_ups import SET_UPS

# Where the packages that carry a program keep it.
PACKAGED = {"claude": ("claude_agent_sdk", "_bundled/claude"), "codex": ("codex_cli_bin", "bin/codex")}
FOLDERS, NEEDED = "AUTOPILOT_REAL_PROGRAMS", "AUTOPILOT_REAL_NEEDED"
# The oldest Node that a program written for it runs on.
NODE = {"gemini": 20}


def program(name: str) -> str:
    """
    From the folders named in AUTOPILOT_REAL_PROGRAMS, from a package beside the tests, or from PATH.

    The test is skipped where there is none, but for the programs named in AUTOPILOT_REAL_NEEDED: without those it fails.
    """
    found = shutil.which(name, path=os.environ.get(FOLDERS) or os.devnull)
    if found is None and name in PACKAGED:
        package, inside = PACKAGED[name]
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            found = shutil.which(str(Path(place, inside)))
    found = found or shutil.which(name)
    if found is None and name in os.environ.get(NEEDED, "").split(","):
        pytest.fail(f"the real {name} is not installed, and {NEEDED} says that it must be")
    if found is None:
        pytest.skip(f"the real {name} is not installed")
    if node_version() < NODE.get(name, 0):
        pytest.skip(f"the real {name} needs Node {NODE[name]}")
    return found


@cache
def node_version() -> int:
    """The first number of Node's version, 0 where there is no Node."""
    node = shutil.which("node")
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout if node else ""
    return int(told.removeprefix("v").partition(".")[0] or 0)


def at_home(monkeypatch: pytest.MonkeyPatch, home: Path, **variables: str) -> None:
    """The environment of a user who has nothing but these variables."""
    scratch = home.with_name("scratch")
    for folder in (home, scratch):
        folder.mkdir(parents=True, exist_ok=True)
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_TOKEN", "_BASE_URL")) or name.startswith(
            ("ANTHROPIC", "CLAUDE", "CODEX", "OPENAI")
        ):
            monkeypatch.delenv(name)
    for name, value in {"HOME": str(home), "TMPDIR": str(scratch), **variables}.items():
        monkeypatch.setenv(name, value)


def agent(
    backend: Backend,
    folder: Path,
    tier: SandboxChoice = "none",
    readable: tuple[str, ...] = (),
    carry: tuple[str, ...] | None = None,
    proxy: tuple[str, int] | None = None,
) -> CliAgent:
    """
    The adapter of a real program, in the sandbox of that tier; it carries what points it at a service of ours.

    It reaches that service through a proxy of ours; with a `proxy` that and nothing else.
    """
    real = os.path.realpath(program(backend.program))
    try:
        ground = choose(tier, ChildProcesses(territory=str(folder)))
    except SandboxUnavailable as error:
        pytest.skip(error.what)
    view = AgentView(readable=readable)
    processes = ground.agents(view, None, proxy) if tier != "none" else ChildProcesses(territory=str(folder))
    carry = SET_UPS[backend.program].carry if carry is None else carry
    homes = homes_at(folder, {backend.name.partition(":")[0]: carry})
    hosts = tuple(services())
    desk = Desk(processes, folder / "transcripts", "r1", confined=tier != "none", homes=homes, reach=lambda _: hosts)
    return CliAgent(backend, real, desk)


def services() -> Iterator[str]:
    """The services of this machine that the user's own settings name, as a user would list them."""
    texts = [
        *os.environ.values(),
        *(p.read_text(errors="replace") for p in Path(os.environ["HOME"]).rglob("*") if p.is_file()),
    ]
    yield from {found for text in texts for found in re.findall(r"http://(127\.0\.0\.1:\d+)", text)}
