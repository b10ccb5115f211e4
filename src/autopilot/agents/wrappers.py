"""What every program that an agent is reached through is started with: variables the user named, a folder of ours."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autopilot.domain.errors import StorageFailed
from autopilot.domain.process import Job, Processes, Ran


@dataclass(frozen=True, slots=True)
class PassingOn:
    """
    Implements `Processes` over another. What a job itself sets is not overwritten.

    A program is started in a folder that is one: an agent may have left a link in its place, to the user's own files.
    """

    processes: Processes
    more: Mapping[str, str]

    def run(self, job: Job, started: Callable[[int], None] | None = None) -> Ran:
        if Path(job.cwd).is_symlink() or not Path(job.cwd).is_dir():
            raise StorageFailed(
                f"the agent's folder {job.cwd!r} is gone, or something else stands in its place",
                why="An agent works in a folder of its own and nowhere else.",
                do="Run `autopilot resume`; the folder is made anew and the step is done again.",
            )
        return self.processes.run(msgspec.structs.replace(job, env={**self.more, **job.env}), started)

    def sweep(self, mark: str) -> int:
        return self.processes.sweep(mark)


def passing_on(processes: Processes, names: Iterable[str], environment: Mapping[str, str]) -> PassingOn:
    """Those of the names that are set."""
    return PassingOn(processes, {name: environment[name] for name in names if name in environment})
