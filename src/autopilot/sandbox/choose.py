"""Picks where commands run, and proves it by an attack before anything depends on it."""

import os
import shutil
import socket
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from autopilot.domain.errors import AutopilotError
from autopilot.domain.protocols import Processes, Sandbox
from autopilot.sandbox.bubblewrap import Bubblewrap, Walls
from autopilot.sandbox.launching import SYSTEM_FOLDERS
from autopilot.sandbox.plain import PlainProcess
from autopilot.sandbox.toolchain import look

CANARY_SECONDS = 20.0
UNCONFINED = "commands run unconfined: they can write wherever you can and reach the network; no result is verified"


def choose(
    wanted: Literal["auto", "none"], processes: Processes, readable: Sequence[str], mark: str = ""
) -> tuple[Sandbox, str | None]:
    """The strongest sandbox that withstands the canary, and a warning for the user when there is none."""
    toolchain = look(os.environ)
    plain = PlainProcess(processes, toolchain, mark)
    if wanted == "none":
        return plain, f"The sandbox is switched off: {UNCONFINED}."
    bwrap = shutil.which("bwrap", path=SYSTEM_FOLDERS) or shutil.which("bwrap")
    if bwrap is None:
        return plain, f"bubblewrap (bwrap) is not installed: {UNCONFINED}. Install the package `bubblewrap`."
    reason = ""
    # Inside some containers the sandbox can be built, but further namespaces cannot be forbidden in it.
    for disable_userns in (True, False):
        walls = Walls(bwrap=bwrap, toolchain=toolchain, readable=tuple(readable), disable_userns=disable_userns)
        sandbox = Bubblewrap(processes, walls, mark)
        reason = weakness(sandbox) or ""
        if not reason:
            return sandbox, None
    return plain, f"bubblewrap does not work here ({reason}): {UNCONFINED}."


def weakness(sandbox: Sandbox) -> str | None:
    """What is wrong with the sandbox: a command inside tries to write outside and to connect to us."""
    with (
        tempfile.TemporaryDirectory(prefix="autopilot-canary-") as base,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        inside, outside = Path(base, "inside"), Path(base, "outside")
        inside.mkdir()
        outside.mkdir()
        listener.settimeout(0)
        try:
            ran = sandbox.run(_attack(outside, listener.getsockname()[1]), str(inside), CANARY_SECONDS)
        except AutopilotError as error:
            return error.what
        if ran.exit_code != 0 or not (inside / "alive").is_file():
            return f"a plain command failed: {ran.stderr.decode(errors='replace').strip()[:200]}"
        if (outside / "escaped").exists():
            return "a command wrote outside its folder"
        return "a command reached the network" if _was_called(listener) else None


def _attack(outside: Path, port: int) -> str:
    return (
        f"(echo x > '{outside}/escaped') 2>/dev/null || true\n"
        f"(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null || true\n"
        "echo alive > alive"
    )


def _was_called(listener: socket.socket) -> bool:
    try:
        connection, _ = listener.accept()
    except BlockingIOError:
        return False
    connection.close()
    return True
