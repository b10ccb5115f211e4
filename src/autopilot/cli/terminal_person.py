"""The person at the terminal, asked before a run, when it pauses or ends; nobody where there is no terminal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autopilot.cli import console, terminal
from autopilot.cli.answering import TerminalAnswers
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.people import WORDS, HumanWord, Nobody, Person, Waiting
from autopilot.domain.phase import RoadmapChoice
from autopilot.text.clean import clean

_GO_ON = frozenset({"", "c", "continue", "y", "yes"})
_STOP = frozenset({"s", "stop", "n", "no", "q", "quit"})
_LATER = frozenset({"", "later", "l"})


@dataclass(frozen=True, slots=True)
class TerminalPerson(TerminalAnswers):
    """Implements `Person`. An answer that cannot be read is asked for again; where the input ends it is left open."""

    read: Callable[[str], str] = terminal.ask

    def goes_on(self, reason: str) -> bool:
        console.warn(f"\nPaused: {clean(reason, 300)}")
        while True:
            word = self._asked("Continue or stop? [continue] ")
            if word is None or word.lower() in _STOP:
                return False
            if word.lower() in _GO_ON:
                return True

    def roadmap(self, phases: Sequence[str]) -> RoadmapChoice | None:
        console.warn(f"\nPhase {', '.join(phases)} has started, and its text in the roadmap was edited.")
        console.warn("take: it starts over by the new text; what was done is kept on a branch. keep: it is finished")
        console.warn("by the old text. stop: nothing runs now.")
        while (word := self._asked("take, keep or stop? [stop] ")) and word.lower() not in _STOP:
            if word.lower() in {"take", "keep"}:
                return "take" if word.lower() == "take" else "keep"
        return None

    def verdict(self, waiting: Waiting) -> tuple[HumanWord, tuple[str, ...]] | None:
        for line in shown(waiting):
            console.warn(line)
        while True:
            word = self._asked(f"Phase {waiting.phase}: pass, fail, issues or later? [later] ")
            if word is None or word.lower() in _LATER:
                return None
            if (known := WORDS.get(word.lower())) is None:
                continue
            issues = () if known == "pass" else self._issues()
            if issues or known != "issues_found":
                return known, issues

    def _issues(self) -> tuple[str, ...]:
        found: list[str] = []
        while word := self._asked("What is wrong? (an empty line ends) "):
            found.append(word)
        return tuple(found)

    def _asked(self, question: str) -> str | None:
        try:
            return self.read(question)
        except UsageInvalid:
            return None


def somebody(tell: Callable[[str], None]) -> Person:
    """Whoever is at the terminal, if it is one."""
    return TerminalPerson(tell) if terminal.present() else Nobody(tell)


def shown(waiting: Waiting) -> tuple[str, ...]:
    """STAT-05a: the justification, as far as there is one."""
    told = (
        ("Task", waiting.task),
        ("Tasks done by agents", waiting.done),
        ("Not settled", "; ".join(waiting.unresolved)),
    )
    lines = (f"  {name}: {clean(text, 300)}" for name, text in told if text)
    return ("", f"Phase {waiting.phase} ({clean(waiting.name, 60)}): {clean(waiting.question, 300)}", *lines)
