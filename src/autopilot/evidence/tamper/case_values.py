"""A test case and an assertion as values, and the brackets around them."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

SOMETHING, PARTIAL, EXACT = 1, 2, 3
_SPACE = re.compile(r"\s+")
LITERAL = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?|(?<![\w.])-?\d[\w.]*|\b(?:True|False|None|true|false|null|nil)\b"
)
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Assertion:
    """One statement a test makes. `strength` says how much it pins down; a tautology pins nothing."""

    line: int
    text: str
    strength: int = EXACT
    tautology: bool = False
    helper: bool = False

    @property
    def shape(self) -> str:
        """The assertion with every literal taken out."""
        return LITERAL.sub("_", self.text)

    @property
    def literals(self) -> frozenset[str]:
        return literals(self.text)

    @property
    def words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(LITERAL.sub("", self.text))) - _VERBS


@dataclass(frozen=True)
class Case:
    """
    A function that is a test, or (`collected` false) one that is not. `text` is all of it, marks included.

    `scope` is what it stands in: its class, or the titles of the groups around it.
    """

    name: str
    line: int
    text: str
    body: str
    assertions: tuple[Assertion, ...] = ()
    collected: bool = True
    parametrised: bool = False
    first: int = 0
    last: int = 0
    scope: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.scope, self.name

    @cached_property
    def words(self) -> Counter[str]:
        return Counter(re.findall(r"\w+", self.body))

    def likeness(self, other: "Case") -> float:
        """How much of the longer body stands in the other, from 0 to 1."""
        longer = max(self.words.total(), other.words.total())
        return (self.words & other.words).total() / longer if longer else 1.0

    @cached_property
    def core(self) -> str:
        """The name without the parts that make it a test."""
        return re.sub(r"(?i)^_*(?:disabled|old|skip|x)?_*tests?_?|_tests?$|^_+", "", self.name).lower()

    @cached_property
    def literals(self) -> frozenset[str]:
        return literals(self.text)


_VERBS = frozenset(
    {
        "assert", "expect", "toBe", "toEqual", "self", "assertEqual", "assertTrue", "assert_eq", "assertThat", "to",
        "require", "Equal", "is", "not", "in", "and", "or", "if", "be", "t", "Errorf", "Fatalf", "Error", "Fatal",
        "toStrictEqual", "toBeTruthy", "toBeDefined", "assertEquals", "assertNotNull", "assertIsNotNone", "assertIn",
        "toContain", "err", "nil", "await", "Assertions", "Assert",
    }
)  # fmt: skip


def literals(text: str) -> frozenset[str]:
    """Values written down in it, quotes taken off."""
    return frozenset(found.strip("\"'") for found in LITERAL.findall(text))


def squeezed(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def brackets(code: str, kind: str) -> dict[int, int]:
    """Where each opening bracket closes: its place to the place behind the closing one."""
    opened: list[int] = []
    found: dict[int, int] = {}
    for letter in re.compile(f"[{re.escape(kind)}]").finditer(code):
        if letter[0] == kind[0]:
            opened.append(letter.start())
        elif opened:
            found[opened.pop()] = letter.end()
    return found


def closing(text: str, start: int) -> int:
    """For one short text: the place behind the parenthesis that closes the one at `start`."""
    return brackets(text[start:], "()").get(0, len(text) - start) + start
