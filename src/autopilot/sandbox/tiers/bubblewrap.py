"""Runs a command in a bubblewrap sandbox: no network, no home, and only its own folder to write in."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.process import Job, Processes, Ran
from autopilot.sandbox.egress.passage import Passage
from autopilot.sandbox.processes.launch import Ceilings
from autopilot.sandbox.tiers import shell
from autopilot.sandbox.tiers.lifeline import Lifeline
from autopilot.sandbox.toolchain import SYSTEM, Toolchain, private_places

ALONE = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent",
    "--new-session", "--clearenv", "--cap-drop", "ALL",
)  # fmt: skip
STARTS = 3
NOT_STARTED = "the sandbox did not start"
HOME, TEMPORARY = "/tmp/home", "/tmp"  # noqa: S108 - a tmpfs inside the sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Walls:
    """
    How the sandbox is built here: which program, what it shows, and whether it can forbid further namespaces.

    `filter` is the compiled seccomp filter, empty where the machine's system calls are not known.
    """

    bwrap: str
    toolchain: Toolchain
    readable: tuple[str, ...] = ()
    disable_userns: bool = True
    filter: bytes = b""
    ceilings: Ceilings = Ceilings()  # noqa: RUF009 - frozen, so it is safe to share


class Bubblewrap:
    """Tier bubblewrap."""

    def __init__(self, processes: Processes, walls: Walls, mark: str = "") -> None:
        self._processes, self._walls, self._mark = processes, walls, mark
        self._fixed = tuple(fixed_arguments(walls))

    @property
    def tier(self) -> str:
        return "bubblewrap"

    @property
    def label(self) -> str:
        return self.tier

    def run(self, command: str, folder: str, timeout_s: float) -> Ran:
        """Run the command in the folder. Raises `SandboxUnavailable` when the sandbox itself failed."""
        if (refusal := shell.refused(command)) is not None:
            return refusal
        ran = self._confined(command, folder, timeout_s)
        for _ in range(STARTS - 1):
            if not ran.cut_off:
                return ran
            # A file that was in /etc when we looked may be gone by now.
            self._fixed = tuple(fixed_arguments(self._walls))
            ran = self._confined(command, folder, timeout_s)
        if ran.cut_off:
            raise _broken(ran.cut_off)
        return ran

    def _confined(self, command: str, folder: str, timeout_s: float) -> Ran:
        place = os.path.realpath(folder)
        environment = self._walls.toolchain.environment(place, HOME, TEMPORARY)
        words = shell.bash(command, self._walls.ceilings)
        argv = (*self._fixed, *folder_arguments(self._walls, place), *settings(environment), "--", *words)
        job = Job(argv=argv, cwd=place, env={}, timeout_s=timeout_s, mark=shell.own_mark(self._mark))
        return shell.as_shell(run_inside(self._processes, job, self._walls.filter))


def as_begun(ran: Ran, began: bool | None) -> Ran:  # noqa: FBT001 - what is known, and no mode
    """
    As it ended; cut off if bubblewrap failed before the program began.

    Where nobody heard whether it did, because the call was begun by an earlier process, its words count.
    """
    fails_like_bubblewrap = ran.exit_code == 1 and not ran.stdout and ran.stderr.startswith(b"bwrap: ")
    if began or ran.exit_code != 1 or (began is None and not fails_like_bubblewrap):
        return ran
    said = ran.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
    return msgspec.structs.replace(ran, cut_off=f"{NOT_STARTED}: {said[0][:200]}")


def run_inside(
    processes: Processes,
    job: Job,
    program: bytes,
    started: Callable[[int], None] | None = None,
    way_out: Passage | None = None,
) -> Ran:
    """
    Run bubblewrap's command line under the filter. Everything inside is gone when this returns or raises.

    With a `way_out` it is started by the program that serves it. Its options, among them the environment with perhaps a
    key in it, are in no list of processes.
    """
    bwrap, *rest = job.argv
    end = rest.index("--")
    with Lifeline(program, rest[:end]) as line:

        def begun(pid: int) -> None:
            line.hold(pid)
            if started is not None:
                started(pid)

        inherited = (*line.inherited, *way_out.inherited) if way_out else line.inherited
        argv = (bwrap, *line.arguments, *rest[end:])
        if way_out:
            argv = way_out.leading(argv)
        whole = msgspec.structs.replace(job, argv=argv, inherited=inherited, held_open=line.held_open, leaves="nothing")
        try:
            ran = processes.run(whole, begun)
            return as_begun(ran, line.began())
        finally:
            if not line.gone():
                processes.sweep(job.mark)


def fixed_arguments(walls: Walls) -> Iterator[str]:
    """What is the same for every command: the namespaces, the system's own folders, an empty home."""
    yield walls.bwrap
    yield from (*ALONE, "--unshare-net")
    if walls.disable_userns:
        yield "--disable-userns"
    yield from system_arguments()
    # To the superuser the kernel's settings would be writable, even without capabilities and in a user namespace.
    yield from ("--remount-ro", "/proc", "--dir", HOME)
    for below, lent in walls.toolchain.lent:
        yield from ("--ro-bind-try", lent, f"{HOME}/{below}")


def system_arguments() -> Iterator[str]:
    """The system's own folders without its secrets, and empty ones in the place of all that changes."""
    for folder in SYSTEM:
        yield from _system_folder(Path(folder))
    for name in private_places():
        yield from mask(name)
    yield from ("--proc", "/proc", "--dev", "/dev")
    yield from ("--tmpfs", "/tmp", "--tmpfs", "/run", "--tmpfs", "/var", "--dir", "/var/tmp")  # noqa: S108 - see HOME


def folder_arguments(walls: Walls, folder: str) -> Iterator[str]:
    """The folders shown beside the system's, outer ones first so that inner ones lie on top; `/` is closed last."""
    readable = (*walls.toolchain.folders, *walls.readable, *map(os.path.realpath, walls.readable))
    shown = dict.fromkeys(readable, "--ro-bind-try")
    shown[folder] = "--bind"
    for path, how in sorted(shown.items()):
        yield from (how, path, path)
    for path in sockets_in((*SYSTEM, *readable), apart_from=folder):
        yield from mask(path)
    yield from ("--remount-ro", "/", "--chdir", folder)


def sockets_in(folders: Iterable[str], apart_from: str, listing: str = "/proc/net/unix") -> Iterator[str]:
    """
    Sockets in the folders, by every name they have there: whoever listens on one is reached through any wall.

    A socket that was named from its own folder is not found; the kernel does not say which folder that was.
    """
    try:
        lines = Path(listing).read_bytes().splitlines()
    except OSError:
        return
    names = {os.fsdecode(line.split(maxsplit=7)[-1]) for line in lines if b" /" in line}
    parents = {parent: os.path.realpath(parent) for parent in map(os.path.dirname, names)}
    places = {f"{parents[os.path.dirname(name)]}/{os.path.basename(name)}" for name in names}  # noqa: PTH119, PTH120 - plain strings, at every start
    for folder in dict.fromkeys(folders):
        below = f"{os.path.realpath(folder)}/"
        for place in sorted(places):
            seen = f"{folder}/{place.removeprefix(below)}"
            if place.startswith(below) and not place.startswith(f"{apart_from}/") and os.path.lexists(place):
                yield seen


def settings(environment: dict[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        yield from ("--setenv", name, value)


def mask(path: str) -> Iterator[str]:
    """Nothing is there, and nothing can be put there."""
    if Path(path).is_dir():
        yield from ("--tmpfs", path, "--remount-ro", path)
    else:
        yield from ("--ro-bind", "/dev/null", path)


def _system_folder(folder: Path) -> Iterator[str]:
    """`/bin` and its like are links into `/usr` on most systems, and stay links."""
    if folder.is_symlink():
        yield from ("--symlink", str(folder.readlink()), str(folder))
    elif folder.is_dir():
        yield from ("--ro-bind", str(folder), str(folder))


def _broken(reason: str) -> SandboxUnavailable:
    return SandboxUnavailable(
        reason,
        why="a command that never ran says nothing about the work",
        do="run `autopilot doctor`; with `--unsandboxed` commands run unconfined and nothing is shown as verified",
    )
