"""Hands variables that the user named on to every program an agent is reached through, and to nothing else."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import msgspec

from autopilot.domain.running import Job, Processes, Ran


@dataclass(frozen=True, slots=True)
class PassingOn:
    """Implements `Processes` over another. What a job itself sets is not overwritten."""

    processes: Processes
    more: Mapping[str, str]

    def run(self, job: Job, started: Callable[[int], None] | None = None) -> Ran:
        return self.processes.run(msgspec.structs.replace(job, env={**self.more, **job.env}), started)

    def sweep(self, mark: str) -> int:
        return self.processes.sweep(mark)


def passing_on(processes: Processes, names: Iterable[str], environment: Mapping[str, str]) -> PassingOn:
    """Those of the names that are set."""
    return PassingOn(processes, {name: environment[name] for name in names if name in environment})
