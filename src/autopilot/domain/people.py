"""Defines what a person is asked, what they answer, and how their verdict reaches a run."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from autopilot.domain.phase import RoadmapChoice
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance, Stop

YOU_DECIDE = "You decide (Claude's discretion)"
IDEA = "idea:"
_LETTER = re.compile(r"([a-z])[).]?", re.IGNORECASE)
# What people type who leave the choice to the agent; compared without case and punctuation.
_DISCRETION = re.compile(
    r"(?:(?:i )?(?:do not|dont) (?:care|mind) |no preference |any )?"
    r"(?:you (?:can )?(?:decide|choose|pick)|(?:its )?up to you|your (?:call|choice|decision)|as you (?:like|wish)"
    r"|whatever you (?:like|want|think(?: is best)?)|(?:claudes |agents )?discretion|you decide claudes discretion)"
)


class Asked(Value, frozen=True, kw_only=True):
    """
    One question. `key` names it whenever it is asked, `number` is its place in its phase or, in a discussion, its area.

    `areas` wants numbers of areas, `depth` whether to go deeper, `closing` whether all is said, `revisit` one area.
    """

    key: str
    phase: str
    text: str
    kind: Literal["question", "areas", "depth", "closing", "revisit"] = "question"
    options: tuple[str, ...] = ()
    area: str = ""
    number: int = 0


class Batch(Value, frozen=True, kw_only=True):
    """CMAP-03a: questions that are shown together; `text` is the whole of them."""

    text: str
    questions: tuple[Asked, ...]


class Given(Value, frozen=True, kw_only=True):
    key: str
    answer: str


class Answering(Protocol):
    """Answers questions. What is not answered stays open and is asked again another time."""

    @property
    def there(self) -> bool:
        """Whether anybody answers at all."""
        ...

    def tell(self, text: str) -> None: ...

    def batch(self, batch: Batch) -> Iterator[Given]:
        """Each answer as it is given, in any order; a question may be answered again or not at all."""
        ...

    def ask(self, asked: Asked) -> str | None:
        """The words of the answer; empty when the question is passed over, None when nobody answers it."""
        ...


@dataclass(frozen=True, slots=True)
class NoAnswers:
    """Implements `Answering` where nobody is: every question stays open."""

    tell: Callable[[str], None] = lambda _: None
    there: bool = False

    def batch(self, batch: Batch) -> Iterator[Given]:  # noqa: ARG002 - the protocol's signature
        return iter(())

    def ask(self, asked: Asked) -> str | None:  # noqa: ARG002 - the protocol's signature
        return None


def shown(asked: Asked) -> str:
    """The question with its options under letters: `a) ...`."""
    return "\n".join([asked.text, *(f"  {letter(n)}) {option}" for n, option in enumerate(asked.options))])


def letter(n: int) -> str:
    return chr(ord("a") + n)


def meant(asked: Asked, said: str) -> str:
    """The option that was typed, by its letter or in words, or the words themselves."""
    words = said.strip()
    found = _LETTER.fullmatch(words)
    place = ord(found[1].lower()) - ord("a") if found else len(asked.options)
    if place < len(asked.options):
        return asked.options[place]
    if YOU_DECIDE in asked.options and _DISCRETION.fullmatch(_bare(words)):
        return YOU_DECIDE
    return next((option for option in asked.options if _bare(option) == _bare(words)), words)


def _bare(words: str) -> str:
    """Without case, punctuation and needless blanks."""
    kept = re.sub(r"[\u2019']", "", words.casefold())
    return " ".join(re.sub(r"[^\w\s]", " ", kept).split())


def picked(said: str, count: int) -> tuple[int, ...]:
    """DISC-05: the numbers among 1 to `count`, in the order they were typed, or all of them. Others are passed over."""
    if said.strip().lower().strip("\"'") == "all":
        return tuple(range(1, count + 1))
    numbers = (int(word) for word in re.findall(r"\d{1,9}", said))
    return tuple(dict.fromkeys(number for number in numbers if 1 <= number <= count))


def idea_in(said: str) -> str:
    """DISC-11: what somebody wants put by for another phase, when they say so; else nothing."""
    words = said.strip()
    return words[len(IDEA) :].strip() if words.lower().startswith(IDEA) else ""


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
