"""
Started as a program of its own: confines a child by Landlock and seccomp, and ends all that is left of it.

A child that may reach a proxy and nothing else asks for its connections: the launcher compares the address and connects
the child's socket to its own copy of it. Once the launcher is gone, every such call fails.

Run by path with `python -I -S`, so it imports nothing but the standard library's own modules and none of ours.
"""

# All that is used is imported here: once a child is confined, Python's own modules may be out of its sight.
import _thread
import ctypes
import errno
import os
import select
import signal
import stat
import struct
import sys

# System calls that have the same number on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF, PIDFD_GETFD = 444, 445, 446, 438
PATH_BENEATH, NET_PORT, ASK_VERSION = 1, 2, 1
PDEATHSIG, SECCOMP, CAPBSET_DROP, SECUREBITS, CHILD_SUBREAPER, NO_NEW_PRIVS, CAP_AMBIENT = 1, 22, 24, 28, 36, 38, 47
MODE_FILTER, CLEAR_ALL = 2, 4
NO_ROOT_POWERS = 0x2F  # being the superuser gives no capability, and these bits cannot be changed again
CAPABILITY_V3 = 0x20080522
# Rights on files: those of the first version, then by the version that brought them.
READ_ONLY = 0b1101  # execute, read a file, read a folder
LIST_ONLY = 0b1000  # names, of the folder and of all below it; no content
FIRST, REFER, TRUNCATE, IOCTL_DEV = (1 << 13) - 1, 1 << 13, 1 << 14, 1 << 15
ON_FILES = 0b111 | TRUNCATE | IOCTL_DEV  # those that mean something for what is no folder
SCOPED = 0b11  # abstract sockets and signals of others
SINCE = ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV))
NETWORK_SINCE, SIGNALS_SINCE = 4, 6
BIND_TCP, CONNECT_TCP = 0b01, 0b10
LIST, READ, WRITE = "--list", "--read", "--write"
FILTER, ASK, PORT, TELL = "--filter", "--ask", "--port", "--tell"
CANNOT, COMPLAINT = 125, "confine: "
# How a filter asks us, and we answer.
SET_FILTER, NEW_LISTENER, WAIT_KILLABLE, PIDFD_THREAD = 1, 1 << 3, 1 << 5, os.O_EXCL
RECEIVE, SEND, IS_VALID = 0xC0502100, 0xC0182101, 0x40082102
NOTICE, ANSWER = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
INET, INET6, NETLINK, LONGEST_ADDRESS, HIGHEST = 2, 10, 16, 128, 1 << 62
SOL_SOCKET, SO_DOMAIN, MOST_WAITING = 1, 39, 4096
SIZES = {INET: 16, INET6: 24, NETLINK: 12}
ANY_PORT, EVERYWHERE, LOOPBACK, LOOPBACK6 = bytes(2), bytes(16), bytes((127, 0, 0, 1)), bytes(15) + b"\1"
MAPPED = bytes(10) + b"\xff\xff"
NAMES = {LOOPBACK: "127.0.0.1", MAPPED + LOOPBACK: "127.0.0.1", LOOPBACK6: "::1"}


def abi() -> int:
    """The version of Landlock this kernel has; 0 without it."""
    return max(0, int(libc().syscall(CREATE_RULESET, None, 0, ASK_VERSION)))


def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def restrict(paths: dict[str, list[str]], version: int, ports: list[int] | None = None) -> None:
    """
    From here on only these paths, and what lies beneath them, can be opened, each kind in its way.

    With `ports` only those can be connected to by TCP, at any address, and none can be bound.
    """
    call = libc().syscall
    if ports is not None and version < NETWORK_SINCE:
        raise OSError(errno.ENOSYS, f"Landlock ABI {version} cannot close the network")
    all_rights = FIRST | sum(right for since, right in SINCE if version >= since)
    fields = (all_rights, 0 if ports is None else BIND_TCP | CONNECT_TCP, SCOPED)
    known = 3 if version >= SIGNALS_SINCE else 2 if version >= NETWORK_SINCE else 1
    attributes = struct.pack(f"={known}Q", *fields[:known])
    ruleset = _checked(call(CREATE_RULESET, attributes, len(attributes), 0), "landlock_create_ruleset")
    kinds = {LIST: LIST_ONLY, READ: READ_ONLY, WRITE: all_rights}
    for path, rights in ((path, rights) for kind, rights in kinds.items() for path in paths[kind]):
        rule = _rule(path, rights)
        if rule is not None:
            _checked(call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", *rule), 0), "landlock_add_rule")
            os.close(rule[1])
    for port in ports or ():
        _checked(call(ADD_RULE, ruleset, NET_PORT, struct.pack("=QQ", CONNECT_TCP, port), 0), "landlock_add_rule")
    _checked(call(RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def _rule(path: str, rights: int) -> tuple[int, int] | None:
    """The rights as the kernel takes them, and the opened path; what is not there needs no rule."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return None
    is_folder = stat.S_ISDIR(os.fstat(place).st_mode)
    return (rights if is_folder else rights & ON_FILES), place


def drop_powers() -> None:
    """No capability is left and none comes back, also not for the superuser; no program can raise its rights."""
    prctl = libc().prctl
    _checked(prctl(NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    prctl(CAP_AMBIENT, CLEAR_ALL, 0, 0, 0)
    if os.geteuid() == 0:
        for capability in range(64):
            prctl(CAPBSET_DROP, capability, 0, 0, 0)
        prctl(SECUREBITS, NO_ROOT_POWERS, 0, 0, 0)
    head = struct.pack("=Ii", CAPABILITY_V3, 0)
    _checked(libc().syscall(_number(126, 91), head, bytes(24)), "capset")


def apply_filter(program: bytes, *, asking: bool = False) -> int:
    """
    No way back: the filter holds for this process and all its children. Returns where to hear what it asks.

    Nothing but the end of a program interrupts a call that we have heard of. It would ask again.
    """
    code = ctypes.create_string_buffer(program, len(program))
    fprog = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    if asking:
        return _checked(libc().syscall(_number(317, 277), SET_FILTER, NEW_LISTENER | WAIT_KILLABLE, fprog), "seccomp")
    return _checked(libc().prctl(SECCOMP, MODE_FILTER, fprog, 0, 0), "seccomp")


def _number(x86_64: int, aarch64: int) -> int:
    return x86_64 if os.uname().machine == "x86_64" else aarch64


def _checked(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


class Order:
    """What the words say: how to confine, and the program behind `--` with its own words."""

    def __init__(self, words: list[str]) -> None:
        end = words.index("--")
        options = list(zip(words[:end:2], words[1:end:2], strict=True))
        self.paths = {kind: [value for name, value in options if name == kind] for kind in (LIST, READ, WRITE)}
        self.filter = bytes.fromhex(dict(options)[FILTER])
        self.proxy = next((int(value) for name, value in options if name == ASK), None)
        self.telling = next((int(value) for name, value in options if name == TELL), None)
        ports = [int(value) for name, value in options if name == PORT]
        self.ports = ports if ports or self.proxy is not None else None
        self.argv = words[end + 1 :]


class HandOver:
    """The child says where its filter is heard, and waits until we hear it."""

    def __init__(self) -> None:
        self._told, self._telling = os.pipe()
        self._going, self._go = os.pipe()

    def offer(self, listener: int) -> None:
        """In the child. Raises where we cannot take it."""
        os.close(self._go)
        os.write(self._telling, str(listener).encode())
        if not os.read(self._going, 1):
            raise OSError(errno.EACCES, "the launcher cannot hear what the filter asks")

    def take(self, child: int) -> int | None:
        """The child's listener, now ours. Without one the child ends by itself."""
        os.close(self._telling)
        number = os.read(self._told, 16)
        listener = None
        try:
            if number:
                listener = taken_from(os.pidfd_open(child), int(number))
                os.write(self._go, b"x")
        except OSError:
            listener = None
        os.close(self._go)
        return listener


def become_child(order: Order, hand_over: HandOver) -> None:
    """Confine ourselves as the order says and turn into its program."""
    libc().prctl(PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    program = find(order.argv[0])
    restrict(order.paths, abi(), order.ports)
    if order.proxy is None:
        apply_filter(order.filter)
    else:
        hand_over.offer(apply_filter(order.filter, asking=True))
    os.execv(program, order.argv)  # noqa: S606 - the confined command itself, and no shell of ours


def find(name: str) -> str:
    """Where the program is: looked for before we are confined, as Python loads modules of its own for a search."""
    folders = [] if "/" in name else os.environ.get("PATH", os.defpath).split(os.pathsep)
    places = (f"{folder or '.'}/{name}" for folder in folders)
    return next((place for place in places if os.access(place, os.X_OK) and not os.path.isdir(place)), name)  # noqa: PTH112 - `pathlib` would take longer to load than all of this


class Gate:
    """
    Carries out what the child asks for: connections to its proxy, and servers that only this machine can reach.

    We read an address once and act on our copy, with our hold of the socket. So it does not matter what another
    thread of the child changes meanwhile. `telling` is where we say which loopback ports we refused, for the user.
    """

    def __init__(self, listener: int, port: int, telling: int | None) -> None:
        self.listener, self._port, self._system = listener, port.to_bytes(2, "big"), libc()
        self._telling = telling
        self._bound: set[int] = set()
        self._calls = {_number(42, 203): self._connect, _number(49, 200): self._bind, _number(50, 201): self._listen}

    def hear(self) -> None:
        """Take one question. A thread answers it: a connection may have to wait, and others must not wait for it."""
        notice = ctypes.create_string_buffer(NOTICE.size)
        if self._control(RECEIVE, notice) < 0:
            return  # the task that asked is gone
        try:
            _thread.start_new_thread(self._answer, NOTICE.unpack(notice.raw))
        except RuntimeError:
            self._send(NOTICE.unpack(notice.raw)[0], errno.EAGAIN)

    def _answer(self, question: int, task: int, _flags: int, number: int, _arch: int, _at: int, *words: int) -> None:
        error = errno.EACCES
        try:
            self._perform(question, task, number, words)
            error = 0
        except OSError as refusal:
            error = refusal.errno or errno.EACCES
        finally:
            self._send(question, error)

    def _perform(self, question: int, task: int, number: int, words: tuple[int, ...]) -> None:
        call, opened = self._calls[number], list[int]()
        try:
            opened.append(task_handle(task))
            opened.append(taken_from(opened[0], words[0] & 0xFFFFFFFF))
            address = b"" if call == self._listen else copied(task, words[1], words[2] & 0xFFFFFFFF)
            # As long as the question is open its task waits for us: what we have taken is that task's.
            if self._control(IS_VALID, struct.pack("=Q", question)) < 0:
                raise OSError(errno.ESRCH, "the task is gone")
            call(opened[1], address, words[1] & 0xFFFFFFFF)
        finally:
            for each in opened:
                os.close(each)

    def _connect(self, socket: int, address: bytes, _: int) -> None:
        family, port, host = parts_of(address)
        proxy = port == self._port and host in {LOOPBACK, MAPPED + LOOPBACK}
        kernel = family == NETLINK and not any(address[2:])
        if not proxy and not kernel:
            self._tell(host, port)
            raise OSError(errno.EACCES, "neither the proxy nor the kernel")
        done(self._system.connect(socket, address, len(address)))

    def _tell(self, host: bytes, port: bytes) -> None:
        if self._telling is None or host not in NAMES:
            return
        try:
            os.write(self._telling, f"{NAMES[host]} {int.from_bytes(port, 'big')}".encode())
        except OSError:
            return  # more than anyone reads

    def _bind(self, socket: int, address: bytes, _: int) -> None:
        family, port, host = parts_of(address)
        if family == NETLINK:
            done(self._system.bind(socket, address, len(address)))
        elif host in {EVERYWHERE[: len(host)], LOOPBACK, LOOPBACK6}:
            self._bind_here(socket, family, port)
        else:
            raise OSError(errno.EADDRNOTAVAIL, "reached from other machines")

    def _bind_here(self, socket: int, family: int, port: bytes) -> None:
        """To the loopback address, also where every address was asked for."""
        v4, v6 = port + LOOPBACK + bytes(8), port + bytes(4) + LOOPBACK6 + bytes(4)
        here = family.to_bytes(2, sys.byteorder) + (v4 if family == INET else v6)
        done(self._system.bind(socket, here, len(here)))
        self._bound.add(os.fstat(socket).st_ino)

    def _listen(self, socket: int, _: bytes, backlog: int) -> None:
        """The kernel would bind a socket that is not bound yet to every address."""
        if os.fstat(socket).st_ino not in self._bound:
            self._bind_here(socket, family_of(socket), ANY_PORT)
        done(self._system.listen(socket, min(backlog, MOST_WAITING)))

    def _send(self, question: int, error: int) -> None:
        self._control(SEND, ANSWER.pack(question, 0, -error, 0))

    def _control(self, request: int, content: object) -> int:
        return int(self._system.ioctl(self.listener, ctypes.c_ulong(request), content))


def task_handle(task: int) -> int:
    """Of a thread, or before Linux 6.9 of its process: nearly always they have the same open files."""
    try:
        return os.pidfd_open(task, PIDFD_THREAD)
    except OSError:
        with open(f"/proc/{task}/status", "rb") as file:  # noqa: PTH123 - as for `find`
            process = file.read().partition(b"\nTgid:")[2].split(maxsplit=1)[0]
        return os.pidfd_open(int(process))


def taken_from(holder: int, descriptor: int) -> int:
    """Our own hold of a file that another process has open."""
    return _checked(libc().syscall(PIDFD_GETFD, holder, descriptor, 0), "pidfd_getfd")


def copied(task: int, start: int, length: int) -> bytes:
    if length > LONGEST_ADDRESS:
        raise OSError(errno.EINVAL, "no address is that long")
    memory = os.open(f"/proc/{task}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(memory, length, min(start, HIGHEST))
    finally:
        os.close(memory)


def parts_of(address: bytes) -> tuple[int, bytes, bytes]:
    """Family, port and host; the last two are empty where there are none."""
    family = int.from_bytes(address[:2], sys.byteorder)
    if len(address) >= SIZES.get(family, LONGEST_ADDRESS + 1):
        hosts = {INET: address[4:8], INET6: address[8:24]}
        return (family, address[2:4], hosts[family]) if family in hosts else (family, b"", b"")
    raise OSError(errno.EAFNOSUPPORT, "no address of the internet")


def family_of(socket: int) -> int:
    found, size = ctypes.c_int(), ctypes.c_uint(4)
    done(libc().getsockopt(socket, SOL_SOCKET, SO_DOMAIN, ctypes.byref(found), ctypes.byref(size)))
    return found.value


def done(result: int) -> None:
    _checked(result, "socket")


def attend(child: int, gate: Gate) -> int:
    """Wait for the child, and answer what it asks meanwhile; how it ended."""
    hold, poller = os.pidfd_open(child), select.poll()
    poller.register(hold, select.POLLIN)
    poller.register(gate.listener, select.POLLIN)
    while True:
        for ready, what in poller.poll():
            if ready == hold:
                return os.waitpid(child, 0)[1]
            if what & select.POLLIN:
                gate.hear()
            else:
                poller.unregister(ready)


def end_all() -> None:
    """Kill every process beneath us until there is none: orphans come to us, however they were born."""
    try:
        while True:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            for pid in children():
                os.kill(pid, signal.SIGKILL)
            os.waitpid(-1, 0)
    except ChildProcessError:
        return


def children() -> list[int]:
    """Those of our children that still run; their own come to us when they are gone."""
    names = os.listdir("/proc")  # noqa: PTH208 - `pathlib` would take longer to load than all of this
    return [int(name) for name in names if name.isdigit() and _parent(name) == os.getpid()]


def _parent(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - as above
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def main(words: list[str]) -> int:
    """The command's exit code. At SIGTERM, and when whoever started us is gone, everything beneath us is killed."""
    parent = os.getppid()
    signal.signal(signal.SIGTERM, lambda *_: _give_up())
    libc().prctl(CHILD_SUBREAPER, 1, 0, 0, 0)
    libc().prctl(PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        return CANNOT
    order, hand_over = Order(words), HandOver()
    if order.telling is not None:
        os.set_inheritable(order.telling, False)  # noqa: FBT003 - it takes no name
    try:
        drop_powers()  # ours too: what the child asks for is done with no more power than it has
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            become_child(order, hand_over)
    except OSError as error:
        os.write(2, f"{COMPLAINT}{error}\n".encode())
        os._exit(CANNOT)
    listener = hand_over.take(child) if order.proxy is not None else None
    gate = Gate(listener, order.proxy, order.telling) if listener is not None and order.proxy is not None else None
    status = attend(child, gate) if gate else os.waitpid(child, 0)[1]
    end_all()
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _give_up() -> None:
    end_all()
    os._exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
