"""Answers typed at the terminal: questions to standard error, answers a line each, wherever lines can be typed."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from autopilot.cli import console
from autopilot.domain.errors import Interrupted
from autopilot.domain.people import IDEA, Asked, Batch, Given, shown
from autopilot.domain.user_answers import AnswerLine, read_line
from autopilot.text.clean import harmless

HELP = f"(a letter or your own words; empty to pass; {IDEA} ... for another phase; Ctrl-C leaves, all answers are kept)"


@dataclass(frozen=True, slots=True)
class TerminalAnswers:
    """Implements `Answering`. The end of input means that nobody answers any more."""

    tell: Callable[[str], None]
    there: bool = True

    def batch(self, batch: Batch) -> Iterator[Given]:
        """CMAP-03b: line by line, until an empty one."""
        console.warn(f"\n{batch.text}\n(an empty line ends; Ctrl-C leaves, all answers are kept)")
        keys = {(asked.phase, asked.number): asked.key for asked in batch.questions}
        only = batch.questions[0].phase if len({asked.phase for asked in batch.questions}) == 1 else ""
        left = set(keys.values())
        while left and (line := typed("> ")):
            answer = read_line(line, only)
            key = keys.get((answer.phase, answer.number)) if answer and not answer.area else None
            if answer is None or key is None or not answer.text:
                console.warn(_puzzled(answer))
                continue
            left.discard(key)
            yield Given(key=key, answer=answer.text)

    def ask(self, asked: Asked) -> str | None:
        console.warn(f"\n{asked.text if asked.kind == 'areas' else shown(asked)}")
        if asked.kind == "question":
            console.warn(HELP)
        return typed("> ")


def typed(prompt: str) -> str | None:
    """The line without its end; None when no more will come."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    try:
        line = sys.stdin.readline()
    except (Interrupted, KeyboardInterrupt):
        console.warn("")
        raise
    return harmless(line).strip() if line else None


def _puzzled(answer: AnswerLine | None) -> str:
    if answer is None:
        return "Not understood; write it as: Phase 3, Q1: your answer"
    return f"Phase {answer.phase} has no open question {answer.number}, or there was no answer."
