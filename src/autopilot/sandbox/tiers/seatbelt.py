"""Runs a command under macOS Seatbelt: no network, no home, and only its own folder to write in."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autopilot.domain.process import Job, Processes, Ran
from autopilot.sandbox.processes.launch import Ceilings
from autopilot.sandbox.processes.scratch import scratch_folder
from autopilot.sandbox.tiers import shell
from autopilot.sandbox.toolchain import Toolchain

PROGRAM = "/usr/bin/sandbox-exec"
SYSTEM_READABLE = (
    "/usr", "/bin", "/sbin", "/System", "/Library", "/opt", "/private/etc", "/private/var/db/timezone",
    "/private/var/select", "/Applications/Xcode.app", "/dev",
)  # fmt: skip
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/fd")
# Later rules win. Sockets of the file system lead to whoever listens there; names are looked up through one of them.
NO_NETWORK = ("(deny network*)",)
OPEN_NETWORK = (
    "(allow network*)",
    "(deny network* (remote unix-socket))",
    '(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
)
SECRETS = ("/private/etc/master.passwd", "/private/etc/sudoers", "/private/etc/ssh", "/Library/Keychains")


@dataclass(frozen=True, slots=True, kw_only=True)
class Belt:
    """What the profile shows besides the system."""

    toolchain: Toolchain
    readable: tuple[str, ...] = ()
    program: str = PROGRAM
    ceilings: Ceilings = Ceilings()  # noqa: RUF009 - frozen, so it is safe to share


class Seatbelt:
    """Tier seatbelt. There is no namespace of processes, so strays are found by their mark and in their group."""

    def __init__(self, processes: Processes, belt: Belt, mark: str = "") -> None:
        self._processes, self._belt, self._mark = processes, belt, mark

    @property
    def tier(self) -> str:
        return "seatbelt"

    @property
    def label(self) -> str:
        return self.tier

    def run(self, command: str, folder: str, timeout_s: float) -> Ran:
        """Run the command in the folder; the profile denies what is not named in it."""
        if (refusal := shell.refused(command)) is not None:
            return refusal
        place = os.path.realpath(folder)
        with scratch_folder() as scratch:
            private = os.path.realpath(scratch.path)
            Path(private, "home").mkdir()
            self._belt.toolchain.lend(f"{private}/home")
            text = profile((*self._belt.toolchain.readable, *self._belt.readable), (place, private))
            job = Job(
                argv=(self._belt.program, "-p", text, *shell.bash(command, self._belt.ceilings)),
                cwd=place,
                env=self._belt.toolchain.environment(place, f"{private}/home", private),
                timeout_s=timeout_s,
                mark=shell.own_mark(self._mark),
            )
            return shell.as_shell(self._processes.run(job))


def profile(
    readable: Iterable[str],
    writable: Iterable[str],
    *,
    network: Iterable[str] = NO_NETWORK,
    hidden: Iterable[str] = (),
) -> str:
    """The profile's text: later rules win, so what is hidden comes behind what shows it."""
    lines = (
        "(version 1)",
        "(deny default)",
        "(allow process-exec process-fork)",
        "(allow signal (target same-sandbox))",
        "(allow sysctl-read file-read-metadata)",
        '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
        f"(allow file-read* {_paths((*SYSTEM_READABLE, *map(os.path.realpath, readable)))})",
        f"(deny file-read* {_paths(SECRETS)})",
        f"(allow file-write-data file-ioctl {_paths(DEVICES)})",
        f"(allow file-read* file-write* {_paths(writable)})",
        *(f"(deny file-read* file-write* (subpath {_quoted(path)}))" for path in hidden),
        *network,
    )
    return "\n".join(lines)


def proxied(port: int) -> tuple[str, ...]:
    """The rules for a program that may reach this port of the machine and nothing else."""
    return (*NO_NETWORK, f'(allow network-outbound (remote ip "localhost:{port}"))')


def _paths(paths: Iterable[str]) -> str:
    return " ".join(f"(subpath {_quoted(path)})" for path in paths)


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
