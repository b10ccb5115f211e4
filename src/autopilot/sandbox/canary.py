"""Attacks a sandbox before anything depends on it: a sandbox that is only configured may hold nothing at all."""

import secrets
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from autopilot.domain.errors import AutopilotError
from autopilot.domain.running import Sandbox
from autopilot.sandbox.launching import SYSTEM_FOLDERS
from autopilot.sandbox.scratch import scratch_folder

CANARY_SECONDS = 120.0
# A daemon that survived adds to its file every few milliseconds, for about a second.
DAEMON_WAIT_S = 0.03


@dataclass(frozen=True, slots=True)
class Field:
    """Where the attack takes place: `inside` is the command's own folder, all else is out of its bounds."""

    inside: Path
    outside: Path
    secret: str
    listener: socket.socket
    victim: subprocess.Popen[bytes]

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])


@dataclass(frozen=True, slots=True)
class Attack:
    """A line of shell that tries it, and how we see from outside that it worked."""

    what: str
    line: str
    worked: Callable[[Field], bool]
    signals: bool = False


ATTACKS = (
    Attack("wrote outside its folder", "echo x > {outside}/new", lambda f: (f.outside / "new").exists()),
    Attack("wrote through a link", "ln -s {outside} way; echo x > way/new2", lambda f: (f.outside / "new2").exists()),
    Attack("changed a file outside", ": > {outside}/secret", lambda f: _text(f.outside / "secret") != f.secret),
    Attack("read a file outside", "cat {outside}/secret > stolen", lambda f: _text(f.inside / "stolen") == f.secret),
    Attack("reached the network", "exec 3<>/dev/tcp/127.0.0.1/{port}", lambda f: _was_called(f.listener)),
    Attack(
        "read the environment of another process",
        "cat /proc/{pid}/environ > seen",
        lambda f: f.secret in _text(f.inside / "seen"),
    ),
    Attack("killed another process", "kill -9 {pid}", lambda f: f.victim.poll() is not None, signals=True),
    Attack(
        "outlived its end",
        "env -i setsid bash -c 'for i in {{1..99}}; do echo x >> ticks; sleep 0.005; done' & sleep 0.02",
        lambda f: _grows(f.inside / "ticks"),
    ),
)


def attacks(*, signals: bool) -> tuple[Attack, ...]:
    """Those to withstand; where the kernel cannot keep a command from signalling others, that one is left out."""
    return tuple(attack for attack in ATTACKS if signals or not attack.signals)


def weakness(sandbox: Sandbox, tried: tuple[Attack, ...] = ATTACKS) -> str | None:
    """What is wrong with the sandbox; None when it withstood every attack, each of them tried for real."""
    with _field() as field:
        try:
            ran = sandbox.run(_script(tried, field), str(field.inside), CANARY_SECONDS)
        except AutopilotError as error:
            return error.what
        if ran.exit_code != 0 or not (field.inside / "alive").is_file():
            return f"a plain command failed: {ran.stderr.decode(errors='replace').strip()[-200:]}"
        return next((f"a command {attack.what}" for attack in tried if attack.worked(field)), None)


@contextmanager
def _field() -> Iterator[Field]:
    with (
        ExitStack() as stack,
        scratch_folder() as scratch,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        secret = secrets.token_hex(16)
        victim = subprocess.Popen(["sleep", "60"], env={"PATH": SYSTEM_FOLDERS, "SECRET": secret})
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        field = Field(Path(scratch.path, "inside"), Path(scratch.path, "outside"), secret, listener, victim)
        field.inside.mkdir()
        field.outside.mkdir()
        (field.outside / "secret").write_text(field.secret, encoding="utf-8")
        listener.settimeout(0)
        yield field


def _script(tried: tuple[Attack, ...], field: Field) -> str:
    """Each attack in a shell of its own: one that is held back must not keep the next from being tried."""
    lines = (a.line.format(outside=f"'{field.outside}'", port=field.port, pid=field.victim.pid) for a in tried)
    return "\n".join([*(f"({line}) 2>/dev/null || true" for line in lines), "echo alive > alive"])


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _grows(path: Path) -> bool:
    before = _text(path)
    time.sleep(DAEMON_WAIT_S)
    return _text(path) != before


def _was_called(listener: socket.socket) -> bool:
    try:
        connection, _ = listener.accept()
    except BlockingIOError:
        return False
    connection.close()
    return True
