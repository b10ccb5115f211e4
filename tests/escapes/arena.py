"""Runs every attack in one tier and prints as JSON what came of each, judged from outside. Started as a program."""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from autopilot.domain.process import Sandbox
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.processes.launch import Ceilings
from autopilot.sandbox.tiers import confine, seccomp
from escapes.attacks import ATTACKS, Attack

if TYPE_CHECKING:
    from autopilot.domain.settings import SandboxChoice

LARGEST = 2_000_000
SHARED = ("/usr", "/etc", "", "/opt", "/var", "/tmp", "/var/tmp", "/dev/shm")


@dataclass(frozen=True, slots=True)
class Arena:
    """`inside` is the attacker's folder. `keys` is what must never turn up there."""

    base: Path
    secret: str
    token: str
    victim: subprocess.Popen[bytes]
    listeners: tuple[socket.socket, ...]

    @property
    def inside(self) -> Path:
        return self.base / "inside"

    def script(self, attack: Attack) -> str:
        tcp, udp = (listener.getsockname()[1] for listener in self.listeners[:2])
        names = {
            "O": self.base / "outside", "H": self.base / "home", "V": self.victim.pid, "TCP": tcp, "UDP": udp,
            "ABSTRACT": self.token, "TOKEN": self.token,
        }  # fmt: skip
        given = "; ".join(f"export {name}='{value}'" for name, value in names.items())
        return f"{given}\nset +e\n{attack.script}"

    def outside(self) -> dict[str, tuple[int, bytes]]:
        """Modes and contents of all that the attacker must not change."""
        places = (self.base / "outside", self.base / "home")
        files = (path for place in places for path in sorted(place.rglob("*")) if path.is_file())
        return {str(path): (path.stat().st_mode, path.read_bytes()) for path in files}


@contextlib.contextmanager
def arena() -> Iterator[Arena]:
    with ExitStack() as stack:
        base = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="escape-"))).resolve()
        secret, token = secrets.token_hex(16), str(secrets.randbelow(10**12) + 10**12)
        for folder in ("inside", "outside/project/.git/hooks", "outside/project/.autopilot", "home/.ssh"):
            (base / folder).mkdir(parents=True)
        (base / "outside/kept").write_text("kept")
        (base / "home/.profile").write_text("mine")
        for name in ("home/.ssh/id", "outside/project/.autopilot/journal.db"):
            (base / name).write_text(secret)
        victim = subprocess.Popen(
            ["sleep", "600"], cwd=base / "outside", env={"PATH": os.environ["PATH"], "SECRET": secret}
        )
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        listeners = tuple(stack.enter_context(made) for made in sockets(base / "outside", token))
        yield Arena(base, secret, token, victim, listeners)


def sockets(folder: Path, token: str) -> Iterator[socket.socket]:
    """TCP, UDP, and unix sockets by a path, by an abstract name, and for datagrams."""
    wanted = (
        (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        (socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "socket")),
        (socket.AF_UNIX, socket.SOCK_STREAM, f"\0{token}"),
        (socket.AF_UNIX, socket.SOCK_DGRAM, str(folder / "datagrams")),
    )
    for family, kind, address in wanted:
        made = socket.socket(family, kind)
        made.bind(address)
        if kind == socket.SOCK_STREAM:
            made.listen()
        made.setblocking(False)
        yield made


def breaches(sandbox: Sandbox, attack: Attack) -> list[str]:
    """What the attack achieved; nothing when it was held."""
    with arena() as place:
        before = place.outside()
        ran = sandbox.run(place.script(attack), str(place.inside), 10)
        return list(judged(place, before, ran.stdout))


def judged(place: Arena, before: dict[str, tuple[int, bytes]], printed: bytes) -> Iterator[str]:
    held = [path for path in place.inside.rglob("*") if path.is_file() and not path.is_symlink()]
    taken = b"".join([printed, *(path.read_bytes() for path in held)])
    shared = [path for path in (Path(f"{folder}/{place.token}") for folder in SHARED) if path.exists()]
    for path in shared:
        path.unlink()
    seen = {
        "something outside changed": place.outside() != before,
        "a secret was read": any(line in taken for line in (place.secret.encode(), *hashes())),
        "a file grew past its limit": any(path.stat().st_size > LARGEST for path in held),
        "a listener was reached": any(was_reached(listener) for listener in place.listeners),
        "a process was killed": place.victim.poll() is not None,
        "a shared folder was written to": bool(shared),
        "it gained powers": (place.inside / "gained").exists(),
        "a process survived": bool(survivors(place.token)),
    }
    return (what for what, happened in seen.items() if happened)


def hashes() -> list[bytes]:
    try:
        return [line for line in Path("/etc/shadow").read_bytes().splitlines() if line]
    except OSError:
        return []


def was_reached(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_STREAM:
            listener.accept()[0].close()
        else:
            listener.recv(10)
    except BlockingIOError:
        return False
    return True


def survivors(token: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if f"6.{token}".encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def main(tier: str, context: str) -> None:
    if context == "without namespaces":
        machine = seccomp.machine_here()
        assert machine is not None
        confine.libc().prctl(confine.NO_NEW_PRIVS, 1, 0, 0, 0)
        confine.apply_filter(seccomp.compiled(seccomp.LIKE_A_CONTAINER, machine))
    ground = choose(cast("SandboxChoice", tier), ChildProcesses(), Ceilings(file_bytes=LARGEST))
    sandbox = ground.sandbox()
    tried = [attack for attack in ATTACKS if attack.tame or ground.tier != "none"]
    found = {attack.name: breaches(sandbox, attack) for attack in tried}
    sys.stdout.write(json.dumps({"tier": ground.tier, "label": ground.label, "user": os.getuid(), "found": found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
