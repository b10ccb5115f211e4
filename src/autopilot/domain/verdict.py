"""What a gate may say. Four words; every caller matches all four."""

from autopilot.domain.value import Tagged


class Advance(Tagged, frozen=True, kw_only=True):
    """Go to the next step, or ahead to `to`, skipping what lies between because `because`."""

    to: str | None = None
    because: str = ""


class Retry(Tagged, frozen=True, kw_only=True):
    """
    Go to `step` to mend something, telling its agent why.

    `rejects` names the rule under which an answer was not accepted as one: a phase has one such try (AMB-34).
    """

    step: str
    because: str
    rejects: str = ""


class AskHuman(Tagged, frozen=True, kw_only=True):
    """Pause the phase until a person answers."""

    question: str


class Stop(Tagged, frozen=True, kw_only=True):
    """Give the phase up. `rollback`: its commits are taken out of the line again."""

    because: str
    rollback: bool = False


Verdict = Advance | Retry | AskHuman | Stop

_RANK: tuple[type[Verdict], ...] = (Stop, AskHuman, Retry, Advance)


def rank(verdict: Verdict) -> int:
    """How good a verdict is for the work judged: the higher, the closer to a pass."""
    return _RANK.index(type(verdict))
