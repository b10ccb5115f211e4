"""
The keeper: a small process of its own that holds one program, what it prints and how it ended.

It outlives the run that started it for as long as its lease is renewed or not yet run out, so that a run taken up again
finds the program still at work, or its result. It is started as a script and imports nothing of ours: many of them run
at once, and each is to cost next to nothing.
"""

# Without the names that `signal` puts around it, which take as long to load as all the rest.
import _signal as signal  # type: ignore[import-not-found] # the part of `signal` that is written in C has no stubs
import ctypes
import os
import select
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
LOOK_S, LOOKS, STALLED_S = 10.0, 8, 0.5
PATIENCE_S = 5.0
CHUNK = 1 << 16
OURSELVES = "@keeper@"
LEASE, LAPSED, RESULT, KEEPER = "lease", "lapsed", "result", "keeper"
INPUT, OUTPUT, ERRORS = "in", "out", "err"
OLDER, NEWER = ".older", ".newer"
MARK = b"AUTOPILOT_MARK="
WHOLE = "whole"
ROOM = 256


class Order:
    """What to run, as `orders` has written it. Raises ValueError for an order whose giver died over it."""

    def __init__(self, text: bytes) -> None:
        *words, end = (os.fsdecode(word) for word in text.split(b"\0"))
        if end != WHOLE:
            raise ValueError("the order is not whole")
        self.folder, self.cwd, timeout, lease, output, self.mark, inherited, held, count, *rest = words
        self.timeout_s, self.lease_s, self.max_output = float(timeout), float(lease), int(output)
        self.inherited, self.held = numbers(inherited), numbers(held)
        self.argv, pairs = tuple(rest[: int(count)]), rest[int(count) :]
        self.env = dict(pair.split("=", 1) for pair in pairs)


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(",") if word)


class Ignored:
    """As `contextlib.suppress`, whose module takes longer to load than this one."""

    def __init__(self, kind: type[BaseException]) -> None:
        self._kind = kind

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, self._kind)


def main(order_fd: int, telling: int) -> int:
    """Start the program, tell its number through `telling`, hold it to its end, and leave the result."""
    with open(order_fd, "rb") as file:
        order = Order(file.read())
    for fd in (telling, *order.held):
        os.set_inheritable(fd, False)  # noqa: FBT003 - it takes no name
    os.chdir(order.folder)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    asked, asking = os.pipe()
    os.set_blocking(asking, False)
    signal.set_wakeup_fd(asking)
    for number in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, lambda *_: None)
    begun = time.monotonic()
    try:
        pid, streams = start(order)
    except OSError as error:
        os.write(telling, f"failed {error.errno}".encode())
        return 1
    with Ignored(BrokenPipeError):  # the run died just now: all the more is the program to be held
        os.write(telling, str(pid).encode())
    os.close(telling)
    for fd in order.inherited:
        os.close(fd)
    why = Watch(order, streams, asked).until_end(pid)
    status = end_all(pid, order.mark)
    for stream in streams:
        stream.drain()
    code = "-" if why != "ended" else str(os.waitstatus_to_exitcode(status))
    seen = " ".join(str(stream.seen) for stream in streams)
    told = f"{why} {code} {time.monotonic() - begun:.3f} {seen}"
    leave(RESULT, f"{told} {checksum(told)}\n".encode())
    return 0


class Stream:
    """
    One pipe and where it goes: the first `room` bytes to a file, the rest to two that take turns.

    So memory and disk are bounded whatever is printed, and the end, which matters most, is always there.
    """

    def __init__(self, name: str, room: int) -> None:
        self.pipe, self.end = os.pipe()
        self.seen, self._room = 0, room
        self._name, self._file, self._left = name, _made(name), room
        os.set_blocking(self.pipe, False)

    def take(self) -> bool:
        """Whether there may be more."""
        try:
            chunk = os.read(self.pipe, CHUNK)
        except BlockingIOError:
            return True
        self.seen += len(chunk)
        self._keep(chunk)
        return bool(chunk)

    def _keep(self, chunk: bytes) -> None:
        while chunk:
            if self._left == 0:
                self._turn()
            part, chunk = chunk[: self._left], chunk[self._left :]
            self._left -= len(part)
            with Ignored(OSError):  # a full disk must not end the program; what is missing shows in the file's size
                write_all(self._file, part)

    def _turn(self) -> None:
        os.close(self._file)
        with Ignored(OSError):
            os.rename(f"{self._name}{NEWER}", f"{self._name}{OLDER}")
        self._file, self._left = _made(f"{self._name}{NEWER}"), self._room

    def drain(self) -> None:
        """What still lies in the pipe when its writers are gone."""
        for _ in range(16):
            with Ignored(OSError):
                if not self.take():
                    break


def _made(name: str) -> int:
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)


class Watch:
    """
    Waits for the first of: the program's end, its time limit, the end of the lease, a signal.

    SIGTERM stops the call, as if it had never been; SIGUSR1 says that the program has told all that is wanted of it.
    """

    def __init__(self, order: Order, streams: tuple[Stream, ...], asked: int) -> None:
        self._order, self._asked = order, asked
        self._open = {stream.pipe: stream for stream in streams}
        self._renewed, self._since = 0, time.monotonic()
        self._looked = self._since

    def until_end(self, pid: int) -> str:
        hold = os.pidfd_open(pid)
        poller = select.poll()
        for fd in (hold, self._asked, *self._open):
            poller.register(fd, select.POLLIN)
        deadline = self._looked + self._order.timeout_s
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or self._lapsed():
                return "ended" if hold in dict(poller.poll(0)) else "timeout" if left <= 0 else "lapsed"
            wait = min(left, LOOK_S, self._order.lease_s, self._order.timeout_s / LOOKS)
            ready = {fd for fd, _ in poller.poll(wait * 1000)}
            deadline += self._late(wait)
            for fd in [fd for fd in ready & self._open.keys() if not self._open[fd].take()]:
                poller.unregister(fd)
                del self._open[fd]
            if hold in ready:
                return "ended"
            if self._asked in ready:
                return "over" if os.read(self._asked, 1)[0] == signal.SIGUSR1 else "stopped"

    def _late(self, wait: float) -> float:
        """How long we were stopped since the last look; so was the program, most likely, and nobody had that time."""
        now = time.monotonic()
        late, self._looked = now - self._looked - wait, now
        if late <= STALLED_S:
            return 0.0
        self._since += late
        return late

    def _lapsed(self) -> bool:
        """
        Whether nobody has renewed the lease for too long.

        What counts is our own clock since we last saw it renewed, which stands still while the machine sleeps. The
        lease is put away first and looked at once more: who renews it after that finds none, and who did before is
        heeded. So nobody takes up a call that is about to end.
        """
        try:
            self._look(LEASE)
            if time.monotonic() - self._since <= self._order.lease_s:
                return False
            os.rename(LEASE, LAPSED)
            if not self._look(LAPSED):
                return True
            os.rename(LAPSED, LEASE)
        except OSError:
            return True
        return False

    def _look(self, name: str) -> bool:
        """Whether it was renewed since the last look."""
        renewed = os.stat(name).st_mtime_ns
        if renewed == self._renewed:
            return False
        self._renewed, self._since = renewed, time.monotonic()
        return True


def start(order: Order) -> tuple[int, tuple[Stream, ...]]:
    source = os.open(INPUT, os.O_RDONLY | os.O_CLOEXEC)
    reserve(RESULT)
    streams = (Stream(OUTPUT, order.max_output), Stream(ERRORS, order.max_output))
    argv = tuple(word.replace(OURSELVES, str(os.getpid())) for word in order.argv)
    actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate((source, *(s.end for s in streams)))]
    for fd in order.inherited:
        os.set_inheritable(fd, True)  # noqa: FBT003 - it takes no name
    home = os.getcwd()
    os.chdir(order.cwd)
    try:
        pid = os.posix_spawn(argv[0], argv, order.env, file_actions=actions, setsid=True, setsigdef=(signal.SIGPIPE,))
    finally:
        os.chdir(home)
    os.close(source)
    for stream in streams:
        os.close(stream.end)
    leave(KEEPER, f"{os.getpid()} {birth(os.getpid())} {pid}\n".encode())
    return pid, streams


def end_all(pid: int, mark: str) -> int:
    """Kill the program and everything it started: what was orphaned has come to us. Its exit status."""
    status, deadline = 0, time.monotonic() + PATIENCE_S
    with Ignored(OSError):
        os.killpg(pid, signal.SIGKILL)
    while time.monotonic() < deadline:
        for other in (*offspring(os.getpid()), *carriers(mark)):
            with Ignored(OSError):
                os.kill(other, signal.SIGKILL)
        try:
            done, told = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if done == pid:
            status = told
        if done == 0:
            time.sleep(0.005)  # the kernel takes a moment to end what was killed
    return status


def offspring(pid: int) -> list[int]:
    """Everything beneath the process, children before their parents' other children."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            own = [int(word) for word in file.read().split()]
    except OSError:
        return []
    return [*own, *(below for child in own for below in offspring(child))]


def carriers(mark: str) -> list[int]:
    """Processes with our mark in their environment, ourselves left out."""
    entry, found = MARK + os.fsencode(mark), list[int]()
    for name in os.listdir("/proc") if mark else ():
        if name.isdigit() and int(name) != os.getpid():
            with Ignored(OSError), open(f"/proc/{name}/environ", "rb") as file:
                if entry in file.read().split(b"\0"):
                    found.append(int(name))
    return found


def birth(pid: int) -> str:
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[19]


def reserve(name: str) -> None:
    """Room for what is left at the end, so that a disk which is full by then can still take it."""
    fd = os.open(f"{name}.new", os.O_WRONLY | os.O_CREAT, 0o600)
    write_all(fd, b" " * ROOM)
    os.close(fd)


def leave(name: str, content: bytes) -> None:
    """A file that is whole or not there. After a power cut it is not asked for: nothing was held through that."""
    fd = os.open(f"{name}.new", os.O_WRONLY | os.O_CREAT, 0o600)
    write_all(fd, content)
    os.ftruncate(fd, len(content))
    os.close(fd)
    os.rename(f"{name}.new", name)


def write_all(fd: int, content: bytes) -> None:
    while content:
        content = content[os.write(fd, content) :]


def checksum(text: str) -> str:
    """Of a line: no single letter of it can change unnoticed."""
    return str(sum(place * letter for place, letter in enumerate(os.fsencode(text), 1)) % 65521)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
