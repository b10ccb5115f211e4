"""What a gate may say. Four words; every caller matches all four."""

from typing import Literal

from autopilot.domain.value import Tagged

# Where `to` leads when an attempt is over before its last step.
END = "end"
# The run's word on a phase whose criteria all held before any work.
ALREADY_SATISFIED: Literal["already_satisfied"] = "already_satisfied"
Outcome = Literal["already_satisfied", "below_bar"]
"""The ends of a phase that are neither a plain pass nor a failure."""
# How the reason starts when a task failed and the phase continues without it.
SET_ASIDE = "task FAILED: "


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


def takes_a_word(verdict: Verdict) -> bool:
    """Whether a person may still decide: the phase waits for them, or nothing was built and they may accept that."""
    return isinstance(verdict, AskHuman) or (isinstance(verdict, Advance) and verdict.because == ALREADY_SATISFIED)


_RANK: tuple[type[Verdict], ...] = (Stop, AskHuman, Retry, Advance)


def rank(verdict: Verdict) -> int:
    """How good a verdict is for the work judged: the higher, the closer to a pass."""
    return _RANK.index(type(verdict))
