"""A small real site, and a real browser to look at it; tests skip where there is none."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest

from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.visual import Look, Route, VisualResults, VisualTesting
from autopilot.evidence.visual import browser
from autopilot.evidence.visual.visit import BrowserLooking
from autopilot.journal.clock import TickingClock
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.processes.scratch import room
from autopilot.sandbox.web_app import relay
from autopilot.sandbox.web_app import run_app as serving
from support.workspaces import Bench, make_bench

Tier = Literal["auto", "none"]
LACKING = browser.missing(os.environ)
needs_browser = pytest.mark.skipif(LACKING is not None, reason=f"nothing to look with: {LACKING}")
HEAD = '<!doctype html><html lang="en"><head><title>Site</title><link rel="icon" href="data:,"></head>'
FINE = f"{HEAD}<body><h1>Hello</h1><p>All is well.</p></body></html>\n"
WIDE = f'{HEAD}<body><h1>Hello</h1><div class="strip" style="width:3000px">wide</div></body></html>\n'


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        number: int = found.getsockname()[1]
        return number


def answers(port: int) -> bool:
    found = relay.reach(port)
    if found is not None:
        found.close()
    return found is not None


def server(port: int) -> str:
    return f"python3 -m http.server {port} --bind 127.0.0.1"


def testing(*routes: Route, port: int, **more: Any) -> VisualTesting:
    fields: dict[str, Any] = {
        "launch_command": server(port),
        "base_url": f"http://localhost:{port}",
        "routes": routes or (Route(path="/", name="home", wait_ms=0),),
        "launch_wait_ms": 0,
        **more,
    }
    return VisualTesting(**fields)


@dataclass(frozen=True, slots=True)
class Site:
    """A repository with the site in it, and what looks at it."""

    bench: Bench
    looking: BrowserLooking
    processes: ChildProcesses
    port: int

    def look(self, commit: str, *routes: Route, redrawn: bool = False, **more: Any) -> VisualResults:
        visual = testing(*routes, port=self.port, **more)
        return self.looking.look(Look(commit=commit, base=self.bench.base, visual=visual, redrawn=redrawn))


@cache
def serving_tier() -> Tier:
    """The strongest tier an app can serve in: what Landlock confines can serve nobody."""
    try:
        return "none" if choose("auto", ChildProcesses()).tier == "landlock" else "auto"
    except SandboxUnavailable:
        return "none"


def make_site(
    folder: Path,
    pages: Mapping[str, str],
    tier: Tier | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Site:
    bench, processes = make_bench(folder, pages), ChildProcesses(territory=str(folder))
    ground = choose(tier or serving_tier(), processes)
    looking = BrowserLooking(
        workspace=bench.workspace,
        serving=serving.AppServing(
            sandbox=lambda mark: ground.sandbox(serving.readable(), mark),
            processes=processes,
            mark="site/app",
        ),
        album=bench.workspace.album,
        processes=processes,
        clock=TickingClock(),
        environment=environment,
        mark="site/browser",
        room=room,
    )
    return Site(bench, looking, processes, free_port())
