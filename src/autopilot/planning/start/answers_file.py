"""The file of `--answers`: TOML, JSON or lines such as `Phase 3, Q1: ...`, and the person who answers from it."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.people import Asked, Batch, Given, letter
from autopilot.domain.user_answers import AnswerLine, read_lines
from autopilot.planning.roadmap import ids

FORM = 'Write [phases.3] with Q1 = "..." and [phases.3.discuss] with areas = "all", or lines `Phase 3, Q1: ...`.'


@dataclass(slots=True)
class PhaseAnswers:
    """`areas` are numbers or names to talk about, `talk` the answers by area and number, `ideas` for other phases."""

    questions: dict[int, str] = field(default_factory=dict)
    areas: str | None = None
    talk: dict[str, dict[int, str]] = field(default_factory=dict)
    ideas: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class WrittenAnswers:
    """Implements `Person`: answers what the file has an answer for, and passes over the rest."""

    phases: Mapping[str, PhaseAnswers]
    tell: Callable[[str], None] = lambda _: None
    there: bool = True

    def batch(self, batch: Batch) -> Iterator[Given]:
        self.tell(batch.text)
        for asked in batch.questions:
            answer = self._of(asked).questions.get(asked.number)
            if answer:
                yield Given(key=asked.key, answer=answer)

    def ask(self, asked: Asked) -> str | None:
        held = self._of(asked)
        match asked.kind:
            case "areas":
                return self._areas(asked, held)
            case "depth":
                return letter(1)
            case "closing":
                return letter(0)
            case "revisit":
                return ""
        if held.ideas:
            return f"idea: {held.ideas.pop(0)}"
        return held.talk.get(_bare(asked.area), {}).get(asked.number)

    def _areas(self, asked: Asked, held: PhaseAnswers) -> str | None:
        """As the file says; without a word on it, the areas it has answers for."""
        names = [_bare(option) for option in asked.options]
        wanted = held.areas
        if wanted is None:
            numbers = [str(n) for n, name in enumerate(names, 1) if name in held.talk]
            return ", ".join(numbers) or None
        named = [str(names.index(word) + 1) for word in map(_bare, wanted.split(",")) if word in names]
        return ", ".join(named) or wanted

    def _of(self, asked: Asked) -> PhaseAnswers:
        return self.phases.get(ids.normalise(asked.phase), PhaseAnswers())


def read(content: bytes, path: str) -> dict[str, PhaseAnswers]:
    """Raises `ConfigInvalid` for what cannot be understood: an answer that is passed over would be believed given."""
    try:
        text = content.decode("utf-8")
        if path.endswith(".toml"):
            return _of_tables(tomllib.loads(text))
        if path.endswith(".json"):
            return _of_tables(msgspec.json.decode(text, type=dict[str, Any]))
    except (UnicodeDecodeError, msgspec.DecodeError, TypeError, ValueError, RecursionError) as error:
        raise _unusable(path, str(error)) from error
    found = _of_lines(read_lines(text.splitlines()))
    if not found:
        raise _unusable(path, "there is no answer in it")
    return found


def _of_lines(lines: Iterator[AnswerLine]) -> dict[str, PhaseAnswers]:
    found: dict[str, PhaseAnswers] = {}
    for line in lines:
        held = found.setdefault(ids.normalise(line.phase), PhaseAnswers())
        match line.kind:
            case "areas":
                held.areas = line.text
            case "idea":
                held.ideas.append(line.text)
            case "question":
                place = held.talk.setdefault(_bare(line.area), {}) if line.area else held.questions
                place[line.number] = line.text
    return found


def _of_tables(told: dict[str, Any]) -> dict[str, PhaseAnswers]:
    phases = told.get("phases", told)
    return {ids.normalise(name): _phase(name, table) for name, table in _table("phases", phases).items()}


def _phase(name: str, told: Any) -> PhaseAnswers:
    table = dict(_table(f"phase {name}", told))
    talk = dict(_table(f"the discussion of phase {name}", table.pop("discuss", {})))
    areas, ideas = talk.pop("areas", None), talk.pop("ideas", [])
    return PhaseAnswers(
        questions=_numbered(f"phase {name}", table),
        areas=", ".join(map(str, areas)) if isinstance(areas, list) else areas if areas is None else str(areas),
        talk={_bare(area): _numbered(area, answers) for area, answers in talk.items()},
        ideas=[str(idea) for idea in ideas],
    )


def _numbered(what: str, told: Any) -> dict[int, str]:
    """A list of answers in their order, or a table with `Q1` or `1` for each."""
    pairs = enumerate(told, 1) if isinstance(told, list) else _table(what, told).items()
    found = {}
    for name, answer in pairs:
        number = str(name).upper().removeprefix("Q").strip()
        if not number.isdigit() or not isinstance(answer, str):
            raise ValueError(f"{what}: {name!r} is no number of a question with an answer in words")
        found[int(number)] = answer
    return found


def _table(what: str, told: Any) -> dict[str, Any]:
    if not isinstance(told, dict):
        raise TypeError(f"{what} wants a table, not {told!r}")
    return told


def _bare(area: str) -> str:
    return " ".join(area.casefold().split())


def _unusable(path: str, problem: str) -> ConfigInvalid:
    return ConfigInvalid(
        f"The answers in {path} cannot be used: {problem}.",
        why="An answer that is not understood would be taken for one that was given.",
        do=FORM,
    )
