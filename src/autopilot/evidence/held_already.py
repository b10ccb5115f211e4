"""Finds the criteria that hold before any work: they prove nothing new, and their user should know it."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from autopilot.domain.phase import Criterion, Expectation, Phase
from autopilot.ports.agents import FactMaker

# Nobody should have to wait long for this.
BUDGET_S = 60.0


@dataclass(frozen=True, slots=True)
class HeldAlready:
    """The criteria of a phase that hold; `alone` where no other one of the phase fails, so that nothing is proven."""

    phase: Phase
    criteria: tuple[Criterion, ...]
    alone: bool

    @property
    def lines(self) -> tuple[str, ...]:
        said = "this criterion holds already and proves nothing new"
        return tuple(f"Phase {self.phase.id}, {c.id}: {said}: `{c.command}`" for c in self.criteria)


def held_already(
    facts: FactMaker, commit: str, phases: Iterable[Phase], clock: Callable[[], float] = time.monotonic
) -> Iterator[HeldAlready]:
    """Run each criterion once on the commit, phase by phase, until the time is used up."""
    began, known = clock(), dict[tuple[str, Expectation], bool]()
    for phase in phases:
        runnable = [c for c in phase.criteria if c.command and not c.behavioural]
        if phase.kind != "feature":
            continue  # its criteria guard what is there
        for criterion in runnable:
            if clock() - began > BUDGET_S:
                return
            key = (criterion.command or "", criterion.expect)
            if key not in known:
                known[key] = all(run.passed for run in facts.check(commit, (criterion,), {}))
        holding = tuple(c for c in runnable if known[c.command or "", c.expect])
        if holding:
            yield HeldAlready(phase, holding, alone=len(holding) == len(runnable))
