"""Dollars for calls of agents that tell only their tokens."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from autopilot.domain.agent_call import Call, Reply
from autopilot.domain.evidence import Usage
from autopilot.ports.agents import Agent

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
