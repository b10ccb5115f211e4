"""
A gate is a table read from the top; the first row that applies decides.

Facts, opinions and claims reach it as three arguments of three types. No rule may use a claim to reach a better
verdict than silence would have got.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from autopilot.domain.value import Value
from autopilot.domain.verdict import Verdict


class Facts(Value, frozen=True, kw_only=True):
    """Base of what a gate looks at that Autopilot found out itself."""


class Opinions(Value, frozen=True, kw_only=True):
    """Base of what separate reviewers told a gate. The default is that nobody was asked."""


class Claims(Value, frozen=True, kw_only=True):
    """Base of what an agent said of its own work. The default is silence."""


R = TypeVar("R")
F = TypeVar("F", bound=Facts)
O = TypeVar("O", bound=Opinions)  # noqa: E741 - F, O, C: the three kinds
C = TypeVar("C", bound=Claims)


@dataclass(frozen=True, slots=True)
class Evidence(Generic[F, O, C]):
    facts: F
    opinions: O
    claims: C


@dataclass(frozen=True, slots=True)
class Rule(Generic[F, O, C]):
    """One row: what is true when it applies, and what follows."""

    name: str
    applies: Callable[[F, O, C], bool]
    verdict: Callable[[F, O, C], Verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(Generic[R, F, O, C]):
    """`gather` reads the record, `rules` judge; `kinds` names the three types for those who walk every gate."""

    name: str
    question: str
    gather: Callable[[R], Evidence[F, O, C]]
    rules: tuple[Rule[F, O, C], ...]
    kinds: tuple[type[F], type[O], type[C]]

    def decide(self, record: R) -> Verdict:
        evidence = self.gather(record)
        return self.judge(evidence.facts, evidence.opinions, evidence.claims)

    def judge(self, facts: F, opinions: O, claims: C) -> Verdict:
        for rule in self.rules:
            if rule.applies(facts, opinions, claims):
                return rule.verdict(facts, opinions, claims)
        raise AssertionError(f"no rule of {self.name} covers {facts!r}: end the table with a row that always applies")


def joined(items: tuple[str, ...], most: int = 5) -> str:
    """A short list for a sentence: the first few, and how many more."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return "; ".join(items[:most]) + more
