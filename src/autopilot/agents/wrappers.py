"""Wraps agents and their processes: passes variables on, adds missing prices."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autopilot.domain.agent_call import Call, Reply
from autopilot.domain.errors import StorageFailed
from autopilot.domain.evidence import Usage
from autopilot.domain.process import Job, Processes, Ran
from autopilot.ports.agents import Agent


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


Price = Callable[[str, Usage], float | None]
"""What the tokens cost with that model, None where it is not known."""


@dataclass(frozen=True, slots=True)
class PricedAgent:
    """The agent; what its calls cost is looked up where it does not say so itself."""

    agent: Agent
    price: Price

    def call(self, call: Call, tell: Callable[[int], None]) -> Reply:
        reply = self.agent.call(call, tell)
        model = reply.model or call.model
        if reply.usage.cost_usd is not None or not model:
            return reply
        cost = self.price(model, reply.usage)
        if cost is None:
            return reply
        return msgspec.structs.replace(reply, usage=msgspec.structs.replace(reply.usage, cost_usd=cost, by_list=True))
