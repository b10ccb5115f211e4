"""
Runs beside an app in its sandbox: carries our connections to the port the app listens on.

It calls us, over a socket file, and never the other way round: so nothing the app does to the file can lead us
elsewhere. When we are gone, it ends its whole process group. It is started from its own text, so it uses the
standard library alone.
"""

import contextlib
import os
import signal
import socket
import sys
import threading

LINES = 16
CHUNK = 1 << 16
GO = b"g"
HOSTS = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))


def reach(port: int) -> socket.socket | None:
    """A connection to the app on this machine, whichever loopback address it listens on."""
    for family, host in HOSTS:
        try:
            found = socket.socket(family, socket.SOCK_STREAM)
        except OSError:
            continue
        try:
            found.connect((host, port))
        except OSError:
            found.close()
        else:
            return found
    return None


def join(left: socket.socket, right: socket.socket) -> None:
    """Carry bytes both ways until both sides have said all."""
    back = threading.Thread(target=_carry, args=(right, left), daemon=True)
    back.start()
    _carry(left, right)
    back.join()
    left.close()
    right.close()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(CHUNK):
            target.sendall(chunk)
    for end, how in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
        with contextlib.suppress(OSError):
            end.shutdown(how)


def main(path: str, port: int) -> None:
    """Keep a few lines to us open; each carries one connection when we say so."""
    free = threading.Semaphore(LINES)
    while True:
        free.acquire()
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            line.connect(path)
        except OSError:
            break
        threading.Thread(target=_wait, args=(line, port, free), daemon=True).start()
    os.killpg(0, signal.SIGKILL)


def _wait(line: socket.socket, port: int, free: threading.Semaphore) -> None:
    try:
        said = line.recv(1)
    except OSError:
        said = b""
    if said != GO:
        os.killpg(0, signal.SIGKILL)
    free.release()
    app = reach(port)
    if app is None:
        line.close()
    else:
        join(line, app)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
