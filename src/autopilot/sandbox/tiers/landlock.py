"""Runs a command under Landlock and a seccomp filter: for machines where no namespaces can be made."""

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.process import Job, Processes, Ran
from autopilot.sandbox.processes.launch import Ceilings
from autopilot.sandbox.processes.scratch import scratch_folder
from autopilot.sandbox.tiers import confine, shell
from autopilot.sandbox.toolchain import SYSTEM, Toolchain, is_within, private_places

# Earlier versions let a command empty every file its user may write.
LEAST_ABI = 3
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
# Agents' programs run their commands in pseudo-terminals. Those of the user's other programs are there as well.
TERMINALS = ("/dev/ptmx", "/dev/pts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fences:
    """What can be opened, and the compiled seccomp filter. `shown` are the system's places, looked up once."""

    toolchain: Toolchain
    filter: bytes
    shown: tuple[str, ...]
    readable: tuple[str, ...] = ()
    ceilings: Ceilings = Ceilings()  # noqa: RUF009 - frozen, so it is safe to share


@dataclass(frozen=True, slots=True, kw_only=True)
class ToProxy:
    """How a program is held to its proxy: by a filter, and by whether the whole address counts or its port alone."""

    filter: bytes
    by_address: bool

    def words(self, port: int, telling: int | None = None) -> tuple[str, ...]:
        """With the open file where the launcher tells of the refusals it makes."""
        if not self.by_address:
            return (confine.PORT, str(port))
        return (confine.ASK, str(port), *(() if telling is None else (confine.TELL, str(telling))))


class Landlock:
    """Tier landlock."""

    def __init__(self, processes: Processes, fences: Fences, mark: str = "") -> None:
        self._processes, self._fences, self._mark = processes, fences, mark

    @property
    def tier(self) -> str:
        return "landlock"

    @property
    def label(self) -> str:
        return self.tier

    def run(self, command: str, folder: str, timeout_s: float) -> Ran:
        """Run the command in the folder. Raises `SandboxUnavailable` when the sandbox itself failed."""
        if (refusal := shell.refused(command)) is not None:
            return refusal
        ran = self._confined(command, folder, timeout_s)
        if complains(ran):
            check = self._confined("true", folder, timeout_s)
            if check.exit_code != 0:
                raise broken(check.stderr)
        return ran

    def _confined(self, command: str, folder: str, timeout_s: float) -> Ran:
        place = os.path.realpath(folder)
        with scratch_folder() as scratch:
            private = scratch.path
            home = Path(private, "home")
            home.mkdir()
            self._fences.toolchain.lend(str(home))
            readable = (*self._fences.shown, *self._fences.toolchain.readable, *self._fences.readable)
            launcher = launched(readable, (place, private, *DEVICES), self._fences.filter)
            job = Job(
                argv=(*launcher, *shell.bash(command, self._fences.ceilings)),
                cwd=place,
                env=self._fences.toolchain.environment(place, str(home), private),
                timeout_s=timeout_s,
                mark=shell.own_mark(self._mark),
                leaves="asked",
            )
            return shell.as_shell(self._processes.run(job))


def launched(
    readable: Iterable[str],
    writable: Iterable[str],
    program: bytes,
    listed: Iterable[str] = (),
    network: Iterable[str] = (),
) -> tuple[str, ...]:
    """The launcher's command line, up to the program it is to confine."""
    kinds = {confine.LIST: listed, confine.READ: readable, confine.WRITE: writable}
    words = (word for kind, paths in kinds.items() for path in paths for word in (kind, path))
    return (sys.executable, "-I", "-S", confine.__file__, *words, confine.FILTER, program.hex(), *network, "--")


def complains(ran: Ran) -> bool:
    """A command may end like that too; only if nothing at all runs was it the sandbox."""
    return ran.exit_code == confine.CANNOT and ran.stderr.startswith(confine.COMPLAINT.encode())


def broken(stderr: bytes) -> SandboxUnavailable:
    return SandboxUnavailable(
        f"the sandbox did not start: {stderr.decode(errors='replace').strip()[:300]}",
        why="a command that never ran says nothing about the work",
        do="run `autopilot doctor`; with `--unsandboxed` commands run unconfined and nothing is shown as verified",
    )


def system_places() -> tuple[str, ...]:
    """The system's folders. Landlock cannot hide what lies in a shown folder, so `/etc` is shown entry by entry."""
    others = (folder for folder in SYSTEM if folder != "/etc")
    return (*others, "/proc", *without("/etc", (*private_places(), "/etc/shadow")), *our_python())


def our_python() -> Iterator[str]:
    """Where the Python that runs us is from: anywhere, but never as a whole if the user's home lies in it."""
    home = os.path.realpath(os.environ.get("HOME") or "/nonexistent")
    places = (sys.base_prefix, str(Path(os.__file__).parent), str(Path(os.path.realpath(sys.executable)).parent))
    yield from (place for place in map(os.path.realpath, places) if place != "/" and not is_within(home, place))


def without(path: str, hidden: tuple[str, ...]) -> Iterator[str]:
    """The path, or instead of a folder that holds something hidden its entries without it."""
    if path in hidden:
        return
    if not any(place.startswith(f"{path.rstrip('/')}/") for place in hidden):
        yield path
        return
    try:
        names = sorted(os.listdir(path))  # noqa: PTH208 - plain strings are compared
    except OSError:
        return
    for name in names:
        yield from without(f"{path}/{name}", hidden)
