"""Makes a listening socket inside the network of a sandbox, to be served from outside it: nothing of ours is inside."""

import ctypes
import fcntl
import os
import socket

from autopilot.sandbox.egress.loopback import refusals_here

PORT = 3128
BACKLOG = 128
MOST = 3  # a listener, and one for refusals of each version of IP
NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000
OWNER_OF = 0xB701  # NS_GET_USERNS
FREE_BIND = 15  # its loopback may not be up yet


def born_in(pid: int) -> tuple[socket.socket, list[socket.socket]]:
    """
    A socket that listens on the loopback of the network that the process is in, and those that hear of refusals there.

    Raises OSError where there is no listener.
    """
    here, there = socket.socketpair()
    with here, there:
        child = os.fork()
        if child == 0:
            _send_from_inside(pid, there)
        there.close()
        told, files, _, _ = socket.recv_fds(here, 200, MOST)
        os.waitpid(child, 0)
    if not files:
        raise OSError(f"no socket could be made in the sandbox: {told.decode(errors='replace') or 'no answer'}")
    for file in files:
        os.set_inheritable(file, False)  # noqa: FBT003 - it takes no name
    listener, *refusals = (socket.socket(fileno=file) for file in files)
    return listener, refusals


def _send_from_inside(pid: int, there: socket.socket) -> None:
    """In a process of its own, since there is no way back from another namespace."""
    try:
        _enter(pid)
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_IP, FREE_BIND, 1)
        listener.bind(("127.0.0.1", PORT))
        listener.listen(BACKLOG)
        sockets = [listener, *refusals_here()]
        socket.send_fds(there, [b"made"], [made.fileno() for made in sockets])
    except OSError as error:
        there.send(str(error)[:200].encode())
    finally:
        os._exit(0)


def _enter(pid: int) -> None:
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    owner = fcntl.ioctl(network, OWNER_OF)
    if not os.path.samestat(os.fstat(owner), os.stat("/proc/self/ns/user")):
        _set(owner, NEW_USER)
    _set(network, NEW_NETWORK)


def _set(namespace: int, kind: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, kind) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"setns: {os.strerror(code)}")
