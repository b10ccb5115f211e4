"""What a person can do from the dashboard; each deed is carried out by what the verb of that name does."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from autopilot.domain.value import Value

Given = Literal["pass", "fail", "issues"]


class Question(Value, frozen=True, kw_only=True):
    """Something a person is asked before a run; `options` are answers to choose from, a free one is always allowed."""

    id: str
    text: str
    phase: str = ""
    options: tuple[str, ...] = ()


class Questions(Protocol):
    """The questions of a project that nobody has answered yet."""

    def pending(self, folder: Path) -> tuple[Question, ...]: ...

    def answer(self, folder: Path, question: str, text: str) -> str:
        """What came of it, in a sentence."""
        ...


class Transcript(Value, frozen=True, kw_only=True):
    """What went into a call and came out of it, as far as it was kept: a title and a text each."""

    parts: dict[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deeds:
    """
    Each takes the project's folder and says in a sentence what came of it, or raises an `AutopilotError`.

    One that is None cannot be done here; the page then shows the command to type. `transcript` only looks.
    """

    stop: Callable[[Path], str] | None = None
    resume: Callable[[Path], str] | None = None
    verdict: Callable[[Path, str, Given, tuple[str, ...]], str] | None = None
    questions: Questions | None = None
    transcript: Callable[[Path, str], Transcript] = lambda _folder, _call: Transcript()

    @property
    def possible(self) -> tuple[str, ...]:
        known = {"stop": self.stop, "resume": self.resume, "verdict": self.verdict, "answer": self.questions}
        return tuple(name for name, deed in known.items() if deed is not None)
