"""Letters of which some wait for a person, and whoever may be asked about them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from autopilot.domain.people import Asked, Batch, Given, HumanWord, Waiting
from autopilot.domain.phase import RoadmapChoice
from support.project import plan_answer, reviews, work_answer

REASON = {"criterion": "it can be paid", "methods_attempted": ["a dry run"], "why_insufficient": "a real payment"}
CONDEMNED = {
    "role": "judge",
    "result": {"recommendation": "halt", "concerns": ["wrong"], "independent_evidence": ["a:1"]},
}


def letters(*phases: str) -> list[dict[str, Any]]:
    """Plans and work for the phases, as they ought to be."""
    return [answer for n in phases for answer in (plan_of(n), work_answer(n, f"0{n}-01", f"letter{n}.txt", "done\n"))]


def plan_of(phase: str) -> dict[str, Any]:
    return plan_answer(phase, [(f"letter{phase}.txt", "done")])


def deferred(phase: str, confidence: float = 4, **more: Any) -> list[dict[str, Any]]:
    """The phase has a task for a person, and its verifier is as sure as that."""
    made = plan_of(phase)
    checkpoint = (
        f'\n<task id="0{phase}-02" type="checkpoint:human-verify">\n### Task 0{phase}-02: Look at it\n</task>\n'
    )
    plan = made["write"]["{dir}/PLAN.md"] + checkpoint
    said = {"pass": True, "commands_run": ["grep"], "autonomous_confidence": confidence, "deferral_evidence": [REASON]}
    return [
        {"role": "verify", "phase": phase, "result": said, **more},
        {**made, "write": {**made["write"], "{dir}/PLAN.md": plan}},
    ]


def script(*waiting: str, phases: str = "123") -> list[dict[str, Any]]:
    """Every phase done right; those that wait are left to a person."""
    own = [answer for phase in waiting for answer in deferred(phase)]
    return [*own, *reviews(), *letters(*phases)]


@dataclass(slots=True)
class Told:
    """A person who says what they were told to, phase by phase; keeps what they were asked."""

    words: dict[str, tuple[HumanWord, tuple[str, ...]]] = field(default_factory=dict)
    going_on: Iterator[bool] = field(default_factory=lambda: iter(()))
    asked: list[Waiting] = field(default_factory=list)
    paused: list[str] = field(default_factory=list)
    there: bool = False

    def goes_on(self, reason: str) -> bool:
        self.paused.append(reason)
        return next(self.going_on, False)

    def roadmap(self, phases: Sequence[str]) -> RoadmapChoice | None:
        return None

    def verdict(self, waiting: Waiting) -> tuple[HumanWord, tuple[str, ...]] | None:
        self.asked.append(waiting)
        return self.words.pop(waiting.phase, None)

    def tell(self, text: str) -> None:
        self.paused.append(text)

    def batch(self, batch: Batch) -> Iterator[Given]:
        return iter(())

    def ask(self, asked: Asked) -> str | None:
        return None
