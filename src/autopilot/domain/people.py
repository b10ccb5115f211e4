"""The person a run may ask, what they may say of a phase, and how their word reaches a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from autopilot.domain.asking_people import Answering, NoAnswers
from autopilot.domain.phase import RoadmapChoice
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance, Stop

HumanWord = Literal["pass", "fail", "issues_found"]
WORDS: dict[str, HumanWord] = {"pass": "pass", "fail": "fail", "issues": "issues_found", "issues_found": "issues_found"}
ACCEPTED = "accepted by a person"


class Waiting(Value, frozen=True, kw_only=True):
    """A phase that waits for a person: what it is about, why it waits, and what nobody could settle."""

    phase: str
    name: str
    question: str
    task: str = ""
    done: str = ""
    unresolved: tuple[str, ...] = ()


class Said(Value, frozen=True, kw_only=True):
    """A person's word on a phase of a run. `id` is its own, so that it is taken in once however often it is read."""

    id: str
    run: str
    phase: str
    verdict: HumanWord
    issues: tuple[str, ...] = ()


class Person(Answering, Protocol):
    """Whoever sits at the terminal, if anybody does."""

    def goes_on(self, reason: str) -> bool:
        """Whether the run goes on after a pause; False without anybody to ask."""
        ...

    def roadmap(self, phases: Sequence[str]) -> RoadmapChoice | None:
        """What becomes of phases that have started and whose text was edited; None when they leave it open."""
        ...

    def verdict(self, waiting: Waiting) -> tuple[HumanWord, tuple[str, ...]] | None:
        """Their word on the phase and what they found; None when they leave it open."""
        ...


@dataclass(frozen=True, slots=True)
class Nobody(NoAnswers):
    """Implements `Person` where no one can be asked."""

    def goes_on(self, reason: str) -> bool:  # noqa: ARG002 - the protocol's signature
        return False

    def roadmap(self, phases: Sequence[str]) -> RoadmapChoice | None:  # noqa: ARG002 - as above
        return None

    def verdict(self, waiting: Waiting) -> tuple[HumanWord, tuple[str, ...]] | None:  # noqa: ARG002 - as above
        return None


class Inbox(Protocol):
    """Words of a person that have arrived beside a run."""

    def waiting(self) -> Sequence[Said]:
        """Oldest first; each until it is removed."""
        ...

    def remove(self, said: Said) -> None: ...


class EmptyInbox:
    """Implements `Inbox` where nothing can arrive."""

    def waiting(self) -> Sequence[Said]:
        return ()

    def remove(self, said: Said) -> None:
        """Nothing is there to remove."""


NOBODY, EMPTY_INBOX = Nobody(), EmptyInbox()


def ruling(verdict: HumanWord, issues: Sequence[str]) -> Advance | Stop:
    """What a person's word makes of a phase that waited for it."""
    if verdict == "pass":
        return Advance(because=ACCEPTED)
    return Stop(because=f"a person found: {'; '.join(issues)}" if issues else "a person did not accept it")
