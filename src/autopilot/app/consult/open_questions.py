"""The questions that wait in questions.json, and answers to them from elsewhere than the sitting that asked."""

from pathlib import Path

import msgspec

from autopilot.app.ownership import own_home
from autopilot.domain.errors import ConfigInvalid, UsageInvalid
from autopilot.domain.user_answers import with_phase
from autopilot.domain.value import Value
from autopilot.files.home_files import read_file
from autopilot.journal.answer_files import CONTEXT_MAP, DISCUSSION, QUESTIONS, AskedFile, write_open
from autopilot.journal.storage_errors import translated
from autopilot.ports.agents import Clock
from autopilot.views.dashboard.actions import Question

# Which areas of a phase to talk about is no question by itself: it comes before them.
_FILES = {"map": CONTEXT_MAP, "discuss": DISCUSSION}


class Waiting(Value, frozen=True, kw_only=True):
    kind: str
    phase: str
    number: int = 0
    area: str = ""
    question: str = ""
    options: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.kind}/{self.phase}/{self.area}/{self.number}"


class Paper(Value, frozen=True, kw_only=True):
    questions: tuple[msgspec.Raw, ...] = ()


class OpenQuestions:
    """Answers are kept where the next sitting, and every run, look for them. What waits is then one less."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def pending(self, folder: Path) -> tuple[Question, ...]:
        waiting = (one for one, _ in _read(folder / ".autopilot") if one.kind in _FILES)
        return tuple(Question(id=w.id, text=w.question, phase=w.phase, options=w.options) for w in waiting)

    def answer(self, folder: Path, question: str, text: str) -> str:
        home, said = own_home(folder), text.strip()
        waiting = _read(home)
        found = next((one for one, _ in waiting if one.id == question and one.kind in _FILES), None)
        if found is None or not said:
            raise UsageInvalid(
                "There is no such question any more." if said else "The answer is empty.",
                why="It may have been answered elsewhere." if said else "An empty answer would be asked for again.",
                do="Look at the questions that are left." if said else "Write a few words.",
            )
        now = self._clock.now()
        answered = {"question": found.question, "answer": said, "answered_at": now}
        answered |= {"area": found.area} if found.area else {}
        AskedFile(home, _FILES[found.kind]).update(lambda paper: with_phase(paper, found.phase, {}, [answered], now))
        left = [msgspec.json.decode(raw) for one, raw in waiting if one.id != question]
        write_open(home, left, now)
        count = sum(one.kind in _FILES for one, _ in waiting) - 1
        return f"Your answer is kept. Questions left: {count}."


def _read(home: Path) -> list[tuple[Waiting, msgspec.Raw]]:
    path = home / QUESTIONS
    with translated(path):
        try:
            content = read_file(path)
        except FileNotFoundError:
            return []
    try:
        rows = msgspec.json.decode(content, type=Paper).questions
        return [(msgspec.json.decode(raw, type=Waiting), raw) for raw in rows]
    except (msgspec.DecodeError, RecursionError) as error:
        raise ConfigInvalid(
            f"{path} cannot be used: {error}.",
            why="It tells which questions wait for an answer.",
            do="Move it away; `autopilot map` writes it anew.",
        ) from error
