"""What a step asks of agents, and what comes back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from autopilot.domain.agent_call import Role
from autopilot.domain.evidence import Change, Finding
from autopilot.domain.phase import Task
from autopilot.domain.value import Value

A = TypeVar("A", bound=msgspec.Struct)


class Objection(Value, frozen=True, kw_only=True):
    """Something wrong with an answer that can be read: what its agent is told once, and the issue it leaves."""

    reminder: str
    issue: str


Objections = Callable[[Mapping[str, Any]], tuple[Objection, ...]]
"""What is wrong with the answer's JSON object, if anything."""


def no_objections(answer: Mapping[str, Any]) -> tuple[Objection, ...]:  # noqa: ARG001 - the signature of the type above
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[A]):
    """
    What a step wants of an agent: who is asked, in which words, and the type of the answer.

    An answer with `objections` is asked for once more; the second is taken, and what is wrong with it told.
    """

    role: Role
    prompt: str
    answer: type[A]
    task: Task | None = None
    objections: Objections = no_objections


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Generic[A]):
    """
    `wrote` holds the planning files the role may write (path to text), as the agent left them.

    `seconds` is what we measured, `observed` the commands we saw the agent run: None where it cannot be watched.
    """

    value: A
    wrote: Mapping[str, str]
    seconds: float = 0.0
    observed: tuple[str, ...] | None = None
    issues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked(Generic[A]):
    """A claim, and beside it what really changed."""

    value: A
    change: Change
    findings: tuple[Finding, ...]


class Asking(Protocol):
    """
    Puts questions to agents. An answer already in the journal is taken from there: nothing is asked twice.

    Both raise `NoAnswer` when no usable answer came, also not after one repair.
    """

    def ask(self, question: Question[A]) -> Answered[A]:
        """Ask on a disposable checkout of the work so far, showing only the planning files the role may see."""
        ...

    def work(self, question: Question[A], message: str, onto: str) -> Worked[A]:
        """Have an agent change the work so far in its clone, and commit the whole as one commit on top of `onto`."""
        ...


def schema_of(answer: type[Any]) -> dict[str, Any]:
    """The JSON Schema of an answer, derived from its type."""
    return msgspec.json.schema(answer)
