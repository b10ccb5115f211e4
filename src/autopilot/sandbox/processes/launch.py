"""Starts a program in a session of its own, tied to our life and under limits."""

import ctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autopilot.domain.errors import AgentUnavailable, StorageFailed
from autopilot.domain.process import Job

PR_SET_PDEATHSIG = 1
NAME_MINDERS = ("python", "pypy", "bash", "dash", "sh", "zsh", "ksh", "busybox")
SYSTEM_FOLDERS = "/usr/bin:/bin:/usr/sbin:/sbin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """What one program and its children may use up: the size of a file, and the processes of our user."""

    file_bytes: int = 4 << 30
    processes: int = 8192


class Launcher:
    """Starts children that die with the thread that started them. `tools` is where the system's programs lie."""

    def __init__(self, ceilings: Ceilings, tools: str) -> None:
        self._ceilings, self._tools = ceilings, tools

    def start(self, job: Job, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Started, with pipes to it. Raises `AgentUnavailable` when the program does not exist or cannot run."""
        program = find_program(job.argv[0], job.cwd, environment)
        # A program that takes all its own with it ties itself to us as well.
        tether = None if job.leaves == "nothing" else self._tether
        hook = None if job.leaves == "nothing" else dying_with(os.getpid())
        try:
            child = subprocess.Popen(
                tether.argv(program, job.argv) if tether else job.argv,
                executable=None if tether else program,
                cwd=job.cwd,
                env=environment,
                stdin=subprocess.PIPE if job.stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                pass_fds=job.inherited,
                preexec_fn=None if tether else hook,  # noqa: PLW1509 - one system call and no lock
            )
        except OSError as error:
            raise not_started(job, error) from error
        # From outside and so perhaps late: for programs of ours. What must be held to limits sets them itself first.
        hold_to(self._ceilings, child.pid)
        return child

    @cached_property
    def _tether(self) -> "Tether | None":
        """What ties a program to us, if it works here."""
        setpriv, env, true = (shutil.which(name, path=self._tools) for name in ("setpriv", "env", "true"))
        if sys.platform != "linux" or setpriv is None or env is None or true is None:
            return None
        tether = Tether(setpriv=setpriv, env=env)
        trials = [subprocess.run(argv, capture_output=True, check=False) for argv in tether.trials(true)]
        return tether if all(trial.returncode == 0 for trial in trials) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tether:
    """
    Ties a program to our life by starting it through `setpriv`, which asks for the parent-death signal.

    That lets us start through vfork: a hook between fork and exec would copy our page tables for every child,
    and run Python in a process whose other threads are gone.
    """

    setpriv: str
    env: str

    def argv(self, program: str, argv: tuple[str, ...]) -> tuple[str, ...]:
        """
        The command line that runs the program tied to us, or not at all if we are gone already.

        The signal is not sent for a parent that died before it was asked for. So the next program is named through
        `/proc/<us>/root`, a path that exists only while we do: once it is started, the signal was set in time.
        Programs that look at their own name are put behind `env`, so that they see their real one.
        """
        tie = (self.setpriv, "--pdeathsig", "KILL", "--")
        alive = f"/proc/{os.getpid()}/root"
        if _minds_its_name(program):
            return (*tie, f"{alive}{self.env}", "--", program, *argv[1:])
        return (*tie, f"{alive}{program}", *argv[1:])

    def trials(self, true: str) -> tuple[tuple[str, ...], ...]:
        """Two command lines that succeed where this works: not every `setpriv` knows the option."""
        return self.argv(true, (true,)), (self.env, "--", true)


def dying_with(parent: int) -> Callable[[], None] | None:
    """For systems without the launcher: a hook run in the child between fork and exec."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl

    def hook() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return hook


def find_program(name: str, cwd: str, environment: Mapping[str, str]) -> str:
    """Where the program is, as a full path. Folders of PATH that are not absolute are left out."""
    if "/" in name:
        places = [os.path.normpath(os.path.join(cwd, name))]  # noqa: PTH118 - at every start, so plain strings
    else:
        folders = environment.get("PATH", os.defpath).split(os.pathsep)
        places = [f"{folder}/{name}" for folder in folders if folder.startswith("/")]
    for place in places:
        if os.access(place, os.X_OK) and not os.path.isdir(place):  # noqa: PTH112 - as above
            return place
    raise _missing(name)


def _minds_its_name(program: str) -> bool:
    """Scripts do; so do shells, which print it, and Python, which writes it into what it installs."""
    if os.path.basename(os.path.realpath(program)).startswith(NAME_MINDERS):  # noqa: PTH119 - as above
        return True
    try:
        with open(program, "rb", buffering=0) as file:  # noqa: PTH123 - as above
            return file.read(4) != b"\x7fELF"
    except OSError:
        return True


def hold_to(ceilings: Ceilings, pid: int) -> None:
    """Hold a process, and what it starts from now on, to the ceilings; where the system can do so from outside."""
    if sys.platform != "linux":
        return
    with suppress(ProcessLookupError, PermissionError):
        _lower(pid, resource.RLIMIT_CORE, 0)
        _lower(pid, resource.RLIMIT_FSIZE, ceilings.file_bytes)
        _lower(pid, resource.RLIMIT_NPROC, ceilings.processes)


def _lower(pid: int, limit: int, value: int) -> None:
    _, hard = resource.prlimit(pid, limit)
    bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.prlimit(pid, limit, (bound, bound))


def _missing(name: str) -> AgentUnavailable:
    return AgentUnavailable(
        f"the program {name!r} was not found",
        why="Autopilot has to start it, and nothing of that name can be run from the folders in PATH",
        do=f"install {name}, or give the full path of the program",
    )


def not_started(job: Job, error: OSError) -> AgentUnavailable | StorageFailed:
    if not Path(job.cwd).is_dir():
        return StorageFailed(
            f"the folder {job.cwd!r} is gone",
            why=f"{job.argv[0]} was to be started in it",
            do="do not clean the cache folder while a run is going on; `autopilot resume` makes it again",
        )
    return AgentUnavailable(
        f"the program {job.argv[0]!r} could not be started: {error.strerror}",
        why="the system refused to run it",
        do="try it by hand; check its permissions, its first line and the length of its arguments",
    )
