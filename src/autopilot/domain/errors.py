"""
Every exception we raise on purpose. Each says what happened, why it matters and what to do.

* AutopilotError           shown to the user as three lines, no traceback
  x UsageInvalid           exit 2: a word or flag on the command line
  x ConfigInvalid          exit 2: .planning/config.json, scripted agent files
  x RoadmapInvalid         exit 2: no roadmap, no phases, unknown phase, cycle
  x RepositoryInvalid      exit 2: no git repository, no commit, foreign state.json
  x ReceiptInvalid         exit 2: no receipt, not readable, about another commit or phase
  x StorageFailed          exit 2: disk full, read-only, journal damaged
  x AgentUnavailable       exit 3: not installed, not signed in
  x SandboxUnavailable     exit 4
  x ConsentMissing         exit 5: no grant, no trust, or state that is not the user's
  x TrustMissing           exit 5: the repository asks for something that its user has not agreed to
  x RoadmapChanged         exit 11: a phase that has started was edited, and nobody said what becomes of it
  x BreakerOpen            exit 21: a circuit breaker stopped the run a moment ago
  x EvidenceDisputed       exit 11: the planning files contradict each other on whether a phase is done
  x UsageLimited           exit 22: the agent's usage window is used up
  x RunLocked              exit 75: another run holds the repository
  x AskingStopped          exit 130: somebody left the questions; what was answered is kept

* Interrupted              exit 130: a BaseException, so that no step swallows it
* NoAnswer                 an agent call ended without a usable answer; the engine turns it into a result

A failed test, an unmet criterion, a rejected plan are not errors: they are results.
"""

from collections.abc import Callable


class AutopilotError(Exception):
    """`what` happened, `why` it matters, and what to `do` about it."""

    exit_code = 1

    def __init__(self, what: str, *, why: str, do: str) -> None:
        super().__init__(what)
        self.what, self.why, self.do = what, why, do


class UsageInvalid(AutopilotError):
    exit_code = 2


class ConfigInvalid(AutopilotError):
    exit_code = 2


class RoadmapInvalid(AutopilotError):
    exit_code = 2


class RepositoryInvalid(AutopilotError):
    exit_code = 2


class ReceiptInvalid(AutopilotError):
    exit_code = 2


class RoadmapChanged(AutopilotError):
    exit_code = 11


class StorageFailed(AutopilotError):
    exit_code = 2


class AgentUnavailable(AutopilotError):
    exit_code = 3


class SandboxUnavailable(AutopilotError):
    exit_code = 4


class ConsentMissing(AutopilotError):
    exit_code = 5


class TrustMissing(ConsentMissing):
    """
    The repository asks for something nobody agreed to.

    `table` shows it, `surface` is the hash of all that the repository asks for, and `agree` keeps the user's yes to it.
    """

    def __init__(
        self, what: str, *, why: str, do: str, table: tuple[str, ...], surface: str, agree: Callable[[], None]
    ) -> None:
        super().__init__(what, why=why, do=do)
        self.table, self.surface, self.agree = table, surface, agree


class BreakerOpen(AutopilotError):
    exit_code = 21


class EvidenceDisputed(AutopilotError):
    exit_code = 11


class UsageLimited(AutopilotError):
    exit_code = 22


class RunLocked(AutopilotError):
    exit_code = 75


class AskingStopped(AutopilotError):
    exit_code = 130


class Interrupted(BaseException):
    """A person or the system asked us to stop; the run stays resumable."""

    exit_code = 130


TOO_MUCH = "too_much"
"""The outcome of a call whose work is more than may be committed."""


class NoAnswer(Exception):
    """An agent call ended without a usable answer. `outcome` says how, `detail` what was seen."""

    def __init__(self, outcome: str, detail: str) -> None:
        super().__init__(f"{outcome}: {detail}")
        self.outcome, self.detail = outcome, detail
