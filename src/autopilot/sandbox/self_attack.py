"""Attacks a sandbox before anything depends on it: a sandbox that is only configured may hold nothing at all."""

import os
import secrets
import shlex
import socket
import subprocess
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autopilot.domain.errors import AutopilotError
from autopilot.domain.process import Ran
from autopilot.sandbox.processes.launch import SYSTEM_FOLDERS
from autopilot.sandbox.processes.scratch import scratch_folder
from autopilot.sandbox.tiers import socket_probe as probe
from autopilot.sandbox.web_app import run_app as serving

CANARY_SECONDS = 120.0
LOADED_S = 10.0
# A daemon that survived adds to its file every few milliseconds, for about a second.
DAEMON_WAIT_S = 0.03
PROXY, NEIGHBOR, LOOPBACK6 = "127.0.0.1", "127.0.0.2", "::1"

# What a sandbox may be unable to do: keep signals away, close the network, tell addresses from ports, close sockets of
# the file system in folders that can be written, or anywhere.
Ability = Literal["signals", "network", "addresses", "own sockets", "sockets"]


@dataclass(frozen=True, slots=True)
class Field:
    """
    Where the attack takes place: `inside` is the attacker's own folder, `shown` can be read, all else is out of bounds.

    `doors` are listeners, by the attacks that try to reach them.
    """

    inside: Path
    shown: Path
    outside: Path
    secret: str
    doors: dict[str, socket.socket]
    victim: subprocess.Popen[bytes]

    @property
    def proxy(self) -> tuple[str, int]:
        """What an agent may reach. Nobody serves there."""
        return PROXY, int(self.doors["proxy"].getsockname()[1])


# Runs a script in the sandbox that is attacked.
Cage = Callable[[Field, str], Ran]


@dataclass(frozen=True, slots=True)
class Attack:
    """
    A line of shell that tries it, or the door it is about, and how we see from outside that it worked.

    Only a sandbox with the ability it `needs` can hold it.
    """

    what: str
    line: str = ""
    worked: Callable[[Field], bool] = lambda _: False
    door: str = ""
    needs: Ability | None = None

    def succeeded(self, field: Field) -> bool:
        return _was_reached(field.doors.get(self.door)) if self.door else self.worked(field)


ATTACKS = (
    Attack("wrote outside its folder", "echo x > {outside}/new", lambda f: (f.outside / "new").exists()),
    Attack("wrote through a link", "ln -s {outside} way; echo x > way/new2", lambda f: (f.outside / "new2").exists()),
    Attack("changed a file outside", ": > {outside}/secret", lambda f: _text(f.outside / "secret") != f.secret),
    Attack("read a file outside", "cat {outside}/secret > stolen", lambda f: _text(f.inside / "stolen") == f.secret),
    Attack(
        "read the environment of another process",
        "cat /proc/{pid}/environ > seen",
        lambda f: f.secret in _text(f.inside / "seen"),
    ),
    Attack("killed another process", "kill -9 {pid}", lambda f: f.victim.poll() is not None, needs="signals"),
    Attack(
        "outlived its end",
        "env -i setsid bash -c 'for i in {{1..99}}; do echo x >> ticks; sleep 0.005; done' & sleep 0.02",
        lambda f: _grows(f.inside / "ticks"),
    ),
    Attack("reached another port", door="tcp", needs="network"),
    Attack("reached the proxy's port at another address", door="neighbor", needs="addresses"),
    Attack("reached the proxy's port by IPv6", door="tcp6", needs="addresses"),
    Attack("reached a port by multipath TCP", door="multipath", needs="network"),
    Attack("sent data with the first packet", door="fast_open", needs="network"),
    Attack("sent a message with the first packet", door="fast_message", needs="network"),
    Attack("sent a UDP packet", door="udp", needs="network"),
    Attack("reached an abstract socket", door="abstract", needs="sockets"),
    Attack("reached a socket in a folder that it only reads", door="shown", needs="sockets"),
    Attack("reached a socket in its own folder", door="unix", needs="own sockets"),
    Attack("sent a packet to a socket in its own folder", door="pair", needs="own sockets"),
)


def attacks(lacking: Collection[Ability] = ()) -> tuple[Attack, ...]:
    """Those to withstand by a sandbox that lacks these abilities."""
    return tuple(attack for attack in ATTACKS if attack.needs not in lacking)


def weakness(
    cage: Cage, tried: tuple[Attack, ...] = ATTACKS, *, who: str = "a command", proxied: bool = False
) -> str | None:
    """
    What is wrong with the sandbox; None when it withstood every attack, each of them tried for real.

    One that is `proxied` must let its program reach the proxy.
    """
    with _field() as field:
        try:
            ran = cage(field, _script(tried, field))
        except AutopilotError as error:
            return error.what
        if ran.cut_off:
            return ran.cut_off
        if ran.exit_code != 0 or not (field.inside / probe.DONE).is_file():
            return f"a plain command failed: {ran.stderr.decode(errors='replace').strip()[-200:]}"
        if proxied and not _was_reached(field.doors["proxy"]):
            return f"{who} did not reach its proxy"
        return next((f"{who} {attack.what}" for attack in tried if attack.succeeded(field)), None)


@contextmanager
def _field() -> Iterator[Field]:
    with ExitStack() as stack, scratch_folder() as scratch:
        secret = secrets.token_hex(16)
        victim = subprocess.Popen(["sleep", "60"], env={"PATH": SYSTEM_FOLDERS, "SECRET": secret})
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        _await_environment(victim.pid, secret)
        inside, shown, outside = (Path(scratch.path, name) for name in ("inside", "shown", "outside"))
        for folder in (inside, shown, outside):
            folder.mkdir()
        (outside / "secret").write_text(secret, encoding="utf-8")
        doors = {name: stack.enter_context(door) for name, door in _doors(inside, shown, secret)}
        for door in doors.values():
            door.settimeout(0)
        yield Field(inside, shown, outside, secret, doors, victim)


def _await_environment(pid: int, secret: str) -> None:
    """A process shows no environment until its program is loaded, and an attack that comes too early proves nothing."""
    until = time.monotonic() + LOADED_S
    path = Path(f"/proc/{pid}/environ")
    while path.exists() and secret not in _text(path) and time.monotonic() < until:
        time.sleep(0.001)


def _doors(inside: Path, shown: Path, name: str) -> Iterator[tuple[str, socket.socket]]:
    """Listeners on this machine. Where it cannot listen, as by IPv6 in some containers, nobody can be reached."""
    stream, packets = socket.SOCK_STREAM, socket.SOCK_DGRAM
    proxy = socket.create_server((PROXY, 0))
    yield "proxy", proxy
    port = int(proxy.getsockname()[1])
    wanted: dict[str, tuple[int, int, tuple[str, int] | str]] = {
        "neighbor": (socket.AF_INET, stream, (NEIGHBOR, port)),
        "tcp6": (socket.AF_INET6, stream, (LOOPBACK6, port)),
        **dict.fromkeys(("tcp", "multipath", "fast_open", "fast_message"), (socket.AF_INET, stream, (PROXY, 0))),
        "udp": (socket.AF_INET, packets, (PROXY, 0)),
        "abstract": (socket.AF_UNIX, stream, f"\0{name}"),
        "unix": (socket.AF_UNIX, stream, str(inside / "unix")),
        "shown": (socket.AF_UNIX, stream, str(shown / "unix")),
        "pair": (socket.AF_UNIX, packets, str(inside / "pair")),
    }
    for way, (family, kind, address) in wanted.items():
        with suppress(OSError):
            yield way, _door(family, kind, address)


def _door(family: int, kind: int, address: tuple[str, int] | str) -> socket.socket:
    door = socket.socket(family, kind)
    try:
        door.bind(address)
        if kind == socket.SOCK_STREAM:
            door.listen()
    except OSError:
        door.close()
        raise
    return door


def _script(tried: tuple[Attack, ...], field: Field) -> str:
    """Each attack in a shell of its own: one that is held back must not keep the next from being tried."""
    names = {"outside": shlex.quote(str(field.outside)), "pid": field.victim.pid}
    lines = [attack.line.format(**names) for attack in tried if attack.line]
    words = (_word(way, door) for way, door in field.doors.items())
    text = Path(probe.__file__).read_text(encoding="utf-8")
    probing = shlex.join((serving.interpreter(), "-I", "-S", "-c", text, *words))
    return "\n".join([*(f"({line}) 2>/dev/null || true" for line in lines), probing])


def _word(name: str, door: socket.socket) -> str:
    """What the probe is to try. Its own folder is where it starts, and the others lie beside it."""
    own = {"unix": "unix", "pair": "pair", "shown": "../shown/unix"}
    ways = {"proxy": "tcp", "neighbor": "tcp", "shown": "unix"}
    address = own[name] if name in own else door.getsockname()
    parts = address[:2] if isinstance(address, tuple) else [os.fsdecode(address).lstrip("\0")]
    return "\n".join([ways.get(name, name), *map(str, parts)])


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _grows(path: Path) -> bool:
    before = _text(path)
    time.sleep(DAEMON_WAIT_S)
    return _text(path) != before


def _was_reached(door: socket.socket | None) -> bool:
    try:
        if door is None or door.type == socket.SOCK_DGRAM:
            return door is not None and bool(door.recv(1))
        door.accept()[0].close()
    except BlockingIOError:
        return False
    return True
