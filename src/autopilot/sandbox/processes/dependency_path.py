"""Puts the programs of a linked virtual environment first on the PATH, for commands and for agents."""

import os
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autopilot.domain.process import Job, Processes, Ran, Sandbox

ENVIRONMENTS = (".venv", "venv")


@dataclass(frozen=True, slots=True)
class Kit:
    """
    `places` are where linked folders may lie. A link a command or an agent made leads elsewhere and counts not.

    `below` is the project's folder in a checkout; an environment at the top of it counts as well.
    """

    places: tuple[str, ...]
    below: str = ""

    def variables(self, folder: str, path: str) -> dict[str, str]:
        """What to set for something run in the folder, whose PATH was `path`; nothing without a linked environment."""
        tops = dict.fromkeys((folder, folder.removesuffix(f"/{self.below}")))
        for link in (f"{top}/{name}" for top in tops for name in ENVIRONMENTS):
            target = self._target(link)
            if target:
                # Nothing is to be installed while a command runs: the folder cannot be written.
                return {"PATH": f"{target}/bin:{path}", "VIRTUAL_ENV": target, "UV_NO_SYNC": "1"}
        return {}

    def _target(self, link: str) -> str | None:
        try:
            target = os.readlink(link)  # noqa: PTH115 - plain strings are compared
        except OSError:
            return None
        normal = os.path.normpath(target)
        trusted = any(normal == place or Path(normal).is_relative_to(place) for place in self.places)
        return normal if trusted and os.path.isfile(f"{normal}/pyvenv.cfg") else None  # noqa: PTH113 - says no where Path raises


@dataclass(frozen=True, slots=True)
class EquippedSandbox:
    """Fulfils `Sandbox`."""

    sandbox: Sandbox
    kit: Kit

    @property
    def tier(self) -> str:
        return self.sandbox.tier

    @property
    def label(self) -> str:
        return self.sandbox.label

    def run(self, command: str, folder: str, timeout_s: float) -> Ran:
        set_first = self.kit.variables(folder, "")
        if not set_first:
            return self.sandbox.run(command, folder, timeout_s)
        path = set_first.pop("PATH").rstrip(":")
        words = [f'PATH={shlex.quote(path)}:"$PATH"', *(f"{name}={shlex.quote(v)}" for name, v in set_first.items())]
        return self.sandbox.run(f"export {' '.join(words)}\n{command}", folder, timeout_s)


@dataclass(frozen=True, slots=True)
class EquippedProcesses:
    """Fulfils `Processes`."""

    processes: Processes
    kit: Kit

    def run(self, job: Job, started: Callable[[int], None] | None = None) -> Ran:
        path = job.env.get("PATH", os.defpath)
        more = self.kit.variables(job.cwd, path)
        if not more:
            return self.processes.run(job, started)
        # The agent's own program is the one it would be without the project's environment.
        program = shutil.which(job.argv[0], path=path) or job.argv[0]
        whole = msgspec.structs.replace(job, argv=(program, *job.argv[1:]), env={**job.env, **more})
        return self.processes.run(whole, started)

    def sweep(self, mark: str) -> int:
        return self.processes.sweep(mark)
