"""A proxy as a program of its own, a host behind it that writes down all it hears, and honest and dishonest guests."""

import base64
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from autopilot.sandbox.egress import program
from autopilot.sandbox.egress.ledger import rows_in
from support.waiting import PATIENCE_S

TOKEN = "of-this-call"


@dataclass
class Host:
    """Answers every connection with one plain answer, or what it heard, and remembers all it heard."""

    listener: socket.socket
    heard: list[bytes] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    @property
    def all(self) -> bytes:
        return b"".join(self.heard)

    def serve(self) -> None:
        while True:
            try:
                guest, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._hear, args=(guest,), daemon=True).start()

    def _hear(self, guest: socket.socket) -> None:
        with guest, suppress(OSError):
            while piece := guest.recv(1 << 16):
                self.heard.append(piece)
                whole = self.all.endswith((b"abcdef", b"0\r\n\r\n") if self.all.startswith(b"POST") else b"")
                if whole:
                    guest.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                if whole and b"Connection: close" in self.all:
                    return


@contextmanager
def host() -> Iterator[Host]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Host(listener)
        threading.Thread(target=made.serve, daemon=True).start()
        yield made
        listener.shutdown(socket.SHUT_RDWR)


@dataclass
class Running:
    """The program with a listener on our own loopback; the agent it has started is `cat`, which waits for its input."""

    process: "subprocess.Popen[bytes]"
    port: int
    record: int

    def say(self, request: bytes, *more: bytes, stay: bool = False) -> bytes:
        """All that comes back. What goes through a tunnel is all there is to say, unless we `stay`."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE_S) as guest:
            guest.sendall(request)
            heard = b""
            for piece in more:
                while b"\r\n\r\n" not in heard and (got := guest.recv(1 << 16)):
                    heard += got
                guest.sendall(piece)
            if more and not stay:
                guest.shutdown(socket.SHUT_WR)
            with suppress(ConnectionResetError):
                while got := guest.recv(1 << 16):
                    heard += got
            return heard

    def rows(self) -> list[list[Any]]:
        return rows_in(os.pread(self.record, 1 << 20, 0))

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)


@contextmanager
def running(**told: Any) -> Iterator[Running]:
    policy, record = os.memfd_create("policy"), os.memfd_create("record")
    os.write(policy, json.dumps(told).encode())
    os.lseek(policy, 0, os.SEEK_SET)
    with socket.create_server(("127.0.0.1", 0), backlog=200) as listener:
        files = (policy, record, listener.fileno())
        words = (str(policy), str(record), str(listener.fileno()), program.NONE, "--", "/bin/cat")
        process = subprocess.Popen(
            (sys.executable, "-I", "-S", program.__file__, *words), stdin=subprocess.PIPE, pass_fds=files
        )
        port = listener.getsockname()[1]
    try:
        yield Running(process, port, record)
    finally:
        process.kill()
        process.wait()
        if process.stdin is not None:
            process.stdin.close()
        for file in (policy, record):
            os.close(file)


def connect(place: str, *more: str, token: str = TOKEN) -> bytes:
    return request(f"CONNECT {place} HTTP/1.1", *more, token=token)


def request(*lines: str, token: str = TOKEN) -> bytes:
    account = base64.b64encode(f"autopilot:{token}".encode()).decode()
    said = (f"Proxy-Authorization: Basic {account}",) if token else ()
    return "\r\n".join((*lines, *said, "", "")).encode("latin-1")


def greeting(name: str | None) -> bytes:
    """A TLS greeting as OpenSSL makes it."""
    import ssl

    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    side = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with suppress(ssl.SSLWantReadError):
        side.do_handshake()
    return outgoing.read()
