"""Which agents are asked for a role, in which order. Pure."""

from autopilot.domain.agent_call import REVIEWERS
from autopilot.domain.value import Value

FAILED_OVER = "agent_failover"


class Ladders(Value, frozen=True, kw_only=True):
    """
    The agents of a run by their names; all of them can be asked here.

    `roles` has for some roles all that are asked, `others` is whom to ask for any other role after the usual agent.
    """

    agent: str = "agent"
    reviewer: str = "reviewer"
    others: tuple[str, ...] = ()
    roles: dict[str, tuple[str, ...]] = {}

    def usual(self, role: str) -> str:
        return self.reviewer if role in REVIEWERS else self.agent

    def of(self, role: str) -> tuple[str, ...]:
        """At least one, each once."""
        return tuple(dict.fromkeys(self.roles.get(role) or (self.usual(role), *self.others)))
