"""Tries every socket attack in the cages of one tier and prints as JSON what was reached. Started as a program."""

import contextlib
import json
import os
import secrets
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from autopilot.domain.process import Job, Ran
from autopilot.sandbox.choose_tier import Ground, choose
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.agent_view import AgentView
from support.waiting import PATIENCE_S

if TYPE_CHECKING:
    from autopilot.domain.settings import SandboxChoice

ATTACKER = Path(__file__).with_name("socket_attacker.py").read_text(encoding="utf-8")
NAMES = (
    "another port", "another address", "multipath TCP", "Fast Open", "Fast Open by a message", "UDP", "SCTP", "IPv6",
    "a unix socket", "a pair of datagram sockets", "an abstract socket", "vsock", "an address changed during connect",
)  # fmt: skip
# Nobody can listen for these here, so having made the socket is having got out.
BY_THE_SOCKET = ("SCTP", "vsock")
SECONDS = 4 * PATIENCE_S


class Doors:
    """Listeners, by the attack that tries to reach each, and a folder for the attacker with a socket in it."""

    def __init__(self, stack: ExitStack, base: Path) -> None:
        self.base, self.inside, self.shown = base, base / "inside", base / "shown"
        self.inside.mkdir()
        self.shown.mkdir()
        self._stack = stack
        self.doors: dict[str, socket.socket] = {}
        self.places: dict[str, list[str | int]] = {}
        port = self._open("proxy", ("127.0.0.1", 0))
        self._open("another address", ("127.0.0.2", port))
        self._open("IPv6", ("::1", port), socket.AF_INET6)
        for name in ("another port", "multipath TCP", "Fast Open", "Fast Open by a message", NAMES[-1]):
            self._open(name, ("127.0.0.1", 0))
        self._open("UDP", ("127.0.0.1", 0), kind=socket.SOCK_DGRAM)
        self._open("an abstract socket", f"\0{secrets.token_hex(8)}", socket.AF_UNIX)
        self.places |= {"SCTP": [], "vsock": []}

    def put_sockets_into(self, folder: Path) -> None:
        self._open("a unix socket", str(folder / "stream"), socket.AF_UNIX)
        self._open("a pair of datagram sockets", str(folder / "datagrams"), socket.AF_UNIX, socket.SOCK_DGRAM)

    def _open(
        self, name: str, address: tuple[str, int] | str, family: int = socket.AF_INET, kind: int = socket.SOCK_STREAM
    ) -> int:
        door = self._stack.enter_context(socket.socket(family, kind))
        door.bind(address)
        if kind == socket.SOCK_STREAM:
            door.listen(512)
        door.setblocking(False)
        self.doors[name] = door
        if isinstance(address, str):
            self.places[name] = [address.lstrip("\0")]
            return 0
        self.places[name] = list(door.getsockname()[:2])
        return int(self.places[name][1])

    def words(self) -> list[str]:
        return [os.path.realpath(sys.executable), "-I", "-S", "-c", ATTACKER, json.dumps(self.places)]

    def judged(self, ran: Ran) -> dict[str, Any]:
        assert ran.exit_code == 0, (ran.exit_code, ran.cut_off, ran.stderr.decode())
        ends = json.loads(ran.stdout)
        reached = {name: calls(door) for name, door in self.doors.items()}
        got = [name for name in NAMES if (not ends[name] if name in BY_THE_SOCKET else reached.get(name))]
        return {"got out": got, "proxy": reached["proxy"], "ends": ends, "changed": reached[NAMES[-1]]}


def calls(door: socket.socket) -> int:
    number = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            if door.type == socket.SOCK_STREAM:
                door.accept()[0].close()
            else:
                door.recv(10)
            number += 1
    return number


@contextlib.contextmanager
def doors() -> Iterator[Doors]:
    with ExitStack() as stack:
        base = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sockets-"))).resolve()
        yield Doors(stack, base)


def by_a_command(ground: Ground) -> dict[str, Any]:
    """Its own folder has no socket in it that is not its own, so that it is one of the folders it is shown."""
    with doors() as place:
        place.put_sockets_into(place.shown)
        sandbox = ground.sandbox((os.path.realpath(sys.base_prefix), str(place.shown)))
        return place.judged(sandbox.run(shlex.join(place.words()), str(place.inside), SECONDS))


def by_an_agent(ground: Ground, *, proxied: bool) -> dict[str, Any]:
    with doors() as place:
        place.put_sockets_into(place.inside)
        view = AgentView(readable=(os.path.realpath(sys.base_prefix),))
        given = {"proxy": tuple(place.places["proxy"])} if proxied else {}
        env = {"PATH": os.environ["PATH"]}
        job = Job(argv=tuple(place.words()), cwd=str(place.inside), env=env, timeout_s=SECONDS, mark="sockets")
        return place.judged(ground.agents(view, None, **cast("dict[str, Any]", given)).run(job))


def by_nobody_confined() -> dict[str, Any]:
    with doors() as place:
        place.put_sockets_into(place.inside)
        done = subprocess.run(place.words(), capture_output=True, check=True)
        return place.judged(Ran(exit_code=0, stdout=done.stdout, stderr=done.stderr, seconds=0.0))


def main(tier: str) -> None:
    if tier == "none":
        found: dict[str, Any] = {"nobody confined": by_nobody_confined()}
    else:
        open_one = choose(cast("SandboxChoice", tier), ChildProcesses())
        closed = choose(cast("SandboxChoice", tier), ChildProcesses(), open_network=False)
        found = {
            "a command": by_a_command(open_one),
            "an agent": by_an_agent(open_one, proxied=False),
            "an agent with a proxy": by_an_agent(closed, proxied=True),
            "egress": closed.egress,
        }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
