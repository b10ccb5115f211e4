"""Keeps an app running in the sandbox while a browser outside looks at it; the app still has no network."""

import os
import queue
import secrets
import shlex
import socket
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from autopilot.domain.errors import AutopilotError, SandboxUnavailable
from autopilot.domain.process import Processes, Ran, Sandbox
from autopilot.sandbox.web_app import relay

PATIENCE_S = 10.0
# How long a connection waits for the relay, which has one ready unless it is gone or not there yet.
LINE_S = 1.0
OUTPUT_SHOWN = 300
LONGEST_PATH = 100
MOST_IDLE = 4 * relay.LINES


@dataclass(frozen=True, slots=True, kw_only=True)
class AppServing:
    """
    Fulfils the protocol `Serving`.

    `sandbox` makes a sandbox whose processes carry the mark it is given, so that each app can be ended by itself.
    """

    sandbox: Callable[[str], Sandbox]
    processes: Processes
    mark: str

    @contextmanager
    def serve(self, command: str, folder: str, port: int, seconds: float) -> Iterator["Child"]:
        mark = f"{self.mark}/{secrets.token_hex(8)}"
        sandbox = self.sandbox(mark)
        if sandbox.tier == "none" and (stranger := relay.reach(port)) is not None:
            stranger.close()
            raise _taken(port)
        with ExitStack() as stack:
            name = f".autopilot-{secrets.token_hex(6)}"
            lines = stack.enter_context(_listening(Path(folder), name))
            bridge = Bridge(lines=lines)
            child = Child(sandbox=sandbox, port=bridge.port)
            script = accompanied(command, name, port, seconds)
            # The bridge goes first at the end: the relay then ends the app, and little is left to be swept up.
            stack.enter_context(self._running(child, mark, (script, folder, seconds)))
            stack.enter_context(bridge)
            yield child

    @contextmanager
    def _running(self, child: "Child", mark: str, what: tuple[str, str, float]) -> Iterator[None]:
        # The kernel ends a child with the thread that started it, so this one waits for it to the end.
        thread = threading.Thread(target=child.run, args=what, daemon=True)
        thread.start()
        try:
            yield
        finally:
            for _ in range(int(PATIENCE_S)):
                self.processes.sweep(mark)
                thread.join(1.0)
                if not thread.is_alive():
                    break


@dataclass(slots=True, kw_only=True)
class Child:
    """Fulfils the protocol `Served`."""

    sandbox: Sandbox
    port: int
    _end: str | None = None

    @property
    def tier(self) -> str:
        return self.sandbox.tier

    def ended(self) -> str | None:
        return self._end

    def run(self, script: str, folder: str, seconds: float) -> None:
        try:
            self._end = told(self.sandbox.run(script, folder, seconds))
        except AutopilotError as error:
            self._end = error.what


def told(ran: Ran) -> str:
    lines = (ran.stdout + ran.stderr).decode("utf-8", "replace").strip().splitlines()
    last = f": {lines[-1].strip()[:OUTPUT_SHOWN]}" if lines else ""
    return f"it was cut off{last}" if ran.exit_code is None else f"it ended with exit code {ran.exit_code}{last}"


def accompanied(command: str, name: str, port: int, seconds: float) -> str:
    """
    The command with the relay beside it.

    A command that only starts the app in the background ends at once, and well; the shell then stays for it.
    """
    text = Path(relay.__file__).read_text(encoding="utf-8")
    words = (interpreter(), "-I", "-S", "-c", text, name, str(port))
    return f"{shlex.join(words)} >/dev/null 2>&1 &\n{command}\nexec sleep {int(seconds) + 1}\n"


def interpreter() -> str:
    """Our own Python where it really is; `-S` lets it do without the environment it was started from."""
    return os.path.realpath(sys.executable)


def readable() -> tuple[str, ...]:
    """What the sandbox has to show for the relay to start."""
    return (os.path.realpath(sys.base_prefix), str(Path(interpreter()).parent))


@dataclass(slots=True, kw_only=True)
class Bridge:
    """A port of 127.0.0.1; each connection to it is handed to a line that the relay has opened to us."""

    lines: socket.socket
    _door: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    _idle: "queue.SimpleQueue[socket.socket]" = field(default_factory=queue.SimpleQueue)
    _sockets: "weakref.WeakSet[socket.socket]" = field(default_factory=weakref.WeakSet)
    _threads: list[threading.Thread] = field(default_factory=list)

    @property
    def port(self) -> int:
        number: int = self._door.getsockname()[1]
        return number

    def __enter__(self) -> Self:
        self._begin(self._take_lines)
        self._begin(self._take_guests)
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is open and no thread is left afterwards."""
        _shut(self.lines, self._door)
        for thread in self._threads[:2]:
            thread.join()
        _shut(*self._sockets)
        for thread in self._threads[2:]:
            thread.join()
        for each in (*self._sockets, self.lines, self._door):
            each.close()

    def _begin(self, work: Callable[..., None], *given: socket.socket) -> None:
        thread = threading.Thread(target=work, args=given, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _take_lines(self) -> None:
        with suppress(OSError):
            while True:
                line = self.lines.accept()[0]
                # An app may call us as well; it must not use up all our file descriptors.
                if self._idle.qsize() < MOST_IDLE:
                    self._sockets.add(line)
                    self._idle.put(line)
                else:
                    line.close()

    def _take_guests(self) -> None:
        with suppress(OSError):
            while True:
                guest = self._door.accept()[0]
                self._sockets.add(guest)
                self._begin(self._hand_over, guest)

    def _hand_over(self, guest: socket.socket) -> None:
        try:
            line = self._idle.get(timeout=LINE_S)
        except queue.Empty:
            guest.close()
            return
        with suppress(OSError):
            line.sendall(relay.GO)
        relay.join(guest, line)


def _shut(*sockets: socket.socket) -> None:
    """Closing alone would not wake a thread that waits for one of them."""
    for each in sockets:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


@contextmanager
def _listening(folder: Path, name: str) -> Iterator[socket.socket]:
    """A socket file in the folder, however long its path is: the kernel takes no more than 107 letters."""
    plain = str(folder / name)
    with ExitStack() as stack:
        holder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, holder)
        listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        try:
            listener.bind(plain if len(os.fsencode(plain)) < LONGEST_PATH else f"/proc/self/fd/{holder}/{name}")
            listener.listen(relay.LINES)
        except OSError as error:
            raise _no_socket(folder, error) from error
        try:
            yield listener
        finally:
            with suppress(OSError):
                os.unlink(name, dir_fd=holder)


def _no_socket(folder: Path, error: OSError) -> SandboxUnavailable:
    return SandboxUnavailable(
        f"no socket could be made in {folder}: {error.strerror}",
        why="the browser reaches the app through it",
        do="put AUTOPILOT_CACHE on a file system that takes socket files",
    )


def _taken(port: int) -> SandboxUnavailable:
    return SandboxUnavailable(
        f"something else already answers on port {port}",
        why="without a sandbox the app shares its ports with the machine, and another program would be looked at",
        do=f"stop what listens on port {port}, or run in the sandbox",
    )
