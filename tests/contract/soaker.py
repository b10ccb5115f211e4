"""Makes call after call in a process of its own, each ending in another way, and tells how they ended and what is open."""

import json
import os
import sys
from itertools import cycle, islice
from pathlib import Path
from typing import Any, get_args

import msgspec

from autopilot.agents.accounts.homes import Homes
from autopilot.agents.backends import claude
from autopilot.agents.cli_agent import CliAgent, Desk
from autopilot.domain.agent_call import Call, PhaseRef
from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.settings import SandboxChoice
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.agent_view import AgentView

PHASE = PhaseRef(id="1", name="One", type="mixed", dir=".planning/phases/01-one")
CALL = Call(id="", role="execute", prompt="Do it.", answer_schema={"type": "object"}, phase=PHASE)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - no generator may hold a file open meanwhile


def soak(folder: Path, tier: SandboxChoice, calls: int) -> dict[str, Any]:
    """`programs.json` in the folder has the program and the seconds of each mode."""
    modes: dict[str, tuple[str, int]] = json.loads((folder / "programs.json").read_text())
    children = ChildProcesses(territory=str(folder))
    kept = KeptProcesses(folder / "keep", children, "boot")
    ground = choose(tier, children)
    called, homes = ground.agents(AgentView(), kept), Homes(folder / "lent", folder / "vault", keeping=kept)
    desk = Desk(called, folder / "transcripts", "r1", confined=tier != "none", homes=homes)
    before, ended = open_files(), list[tuple[str, str]]()
    for number, (mode, (program, seconds)) in enumerate(islice(cycle(modes.items()), calls)):
        fields = {"id": f"r1/1/execute/{number}", "seconds": seconds, "folder": str(folder / "work")}
        call = msgspec.structs.replace(CALL, **fields)
        ended.append((mode, CliAgent(claude.BACKEND, program, desk).call(call, lambda _: None).outcome))
        kept.release(call.id)
    return {"ended": ended, "open": [before, open_files()]}


if __name__ == "__main__":
    place, wanted, count = sys.argv[1:]
    (chosen,) = (tier for tier in get_args(SandboxChoice) if tier == wanted)
    try:
        print(json.dumps(soak(Path(place), chosen, int(count))))  # noqa: T201 - how it tells
    except SandboxUnavailable as error:
        sys.stderr.write(error.what)
        sys.exit(error.exit_code)
