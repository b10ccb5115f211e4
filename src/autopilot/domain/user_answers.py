"""Defines and merges what users answered before a run."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from autopilot.domain.value import Value


class UserAnswer(Value, frozen=True, kw_only=True):
    """`area` is the gray area it belongs to; empty for what mapping asked."""

    question: str
    answer: str
    area: str = ""


class UserContext(Value, frozen=True, kw_only=True):
    """
    In the order of their weight (DISC-12): the text of CONTEXT.md at `file`, what was discussed, what mapping asked.

    `file` is empty when the phase has none.
    """

    file: str = ""
    text: str = ""
    discussed: tuple[UserAnswer, ...] = ()
    mapped: tuple[UserAnswer, ...] = ()


class Consulted(Value, frozen=True, kw_only=True):
    """Something that was asked before the run, as it stands in the event log. `session` is the stream it came from."""

    session: str
    event: str
    details: dict[str, Any] = {}


_PHASE = r"(?:[A-Za-z][A-Za-z0-9]{0,11}-){0,2}\d{1,9}[A-Za-z]?(?:\.\d{1,9}[A-Za-z]?){0,4}"
# All is bounded: what stands before an answer is short, and a long line that is none is told soon.
_GAP = r"\s{0,20}"
_LINE = re.compile(
    rf"{_GAP}(?:(?:phase\s{_GAP})?(?P<phase>{_PHASE})(?:{_GAP}[,:]{_GAP}|\s{_GAP}))?"
    rf"(?:(?P<area>[^\s:][^:]{{0,200}}?){_GAP},{_GAP})?(?:Q{_GAP}(?P<number>\d{{1,6}})|(?P<word>areas|idea)){_GAP}:(?P<text>.*)",
    re.IGNORECASE | re.ASCII,
)


class AnswerLine(Value, frozen=True, kw_only=True):
    """`kind` says what the line is about: a question by its number, the areas to talk about, or an idea for later."""

    phase: str
    text: str
    kind: Literal["question", "areas", "idea"] = "question"
    number: int = 0
    area: str = ""


def read_line(line: str, only_phase: str = "") -> AnswerLine | None:
    """None for a line that is no answer. Where one phase alone is asked about, its name may be left out."""
    found = _LINE.fullmatch(line.rstrip("\r\n"))
    phase = (found["phase"] or only_phase) if found else ""
    if found is None or not phase:
        return None
    told = AnswerLine(phase=_bare(phase), area=found["area"] or "", text=found["text"].strip())
    if found["number"]:
        return msgspec.structs.replace(told, number=int(found["number"]))
    return msgspec.structs.replace(told, kind="areas" if found["word"].lower() == "areas" else "idea")


def read_lines(lines: Iterable[str], only_phase: str = "") -> Iterator[AnswerLine]:
    """The answers of a whole text; a line that begins none goes on with the one before it, blank ends apart."""
    held: AnswerLine | None = None
    for line in lines:
        found = read_line(line, only_phase)
        if found is None:
            held = _longer(held, line) if held else None
            continue
        if held:
            yield _trimmed(held)
        held = found
    if held:
        yield _trimmed(held)


def written(line: AnswerLine) -> str:
    """The line as it is typed."""
    area = f"{line.area}, " if line.area else ""
    what = f"Q{line.number}" if line.kind == "question" else line.kind
    return f"Phase {line.phase}, {area}{what}: {line.text}"


def _bare(phase: str) -> str:
    """`03` is `3`, as phases are named everywhere else."""
    return re.sub(r"\d+", lambda digits: str(int(digits[0])), phase).upper()


def _longer(line: AnswerLine, more: str) -> AnswerLine:
    return msgspec.structs.replace(line, text=f"{line.text}\n{more.rstrip()}")


def _trimmed(line: AnswerLine) -> AnswerLine:
    return msgspec.structs.replace(line, text=line.text.strip())


VERSION = "1.0"
Paper = dict[str, Any]


class KeptQuestion(Value, frozen=True, kw_only=True):
    """CMAP-03d, DISC-09: unanswered is null. `area` is empty for what mapping asked."""

    question: str
    category: str = ""
    why_needed: str = ""
    area: str = ""
    answer: str | None = None
    answered_at: str | None = None


class KeptPhase(Value, frozen=True, kw_only=True):
    phase_name: str = ""
    questions: tuple[KeptQuestion, ...] = ()
    context_score: int | None = None
    score_after: int | None = None
    discussed_at: str | None = None


class Kept(Value, frozen=True, kw_only=True):
    version: str
    phases: dict[str, KeptPhase] = {}

    def phase(self, phase_id: str) -> KeptPhase:
        return self.phases.get(phase_id, KeptPhase())


def understood(paper: Paper) -> Kept:
    """Raises `ValueError` for what is no such file."""
    try:
        kept = msgspec.convert(paper, Kept)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error
    if kept.version != VERSION:
        raise ValueError(f"its version is {kept.version!r}, and this program knows {VERSION!r}")
    return kept


def empty() -> Paper:
    return {"version": VERSION, "phases": {}}


def with_phase(
    paper: Paper, phase_id: str, changes: Mapping[str, Any], questions: Iterable[Mapping[str, Any]], now: str
) -> Paper:
    """
    The paper with one phase brought up to date; everything else in it stays, known to us or not.

    Questions keep their places: an answer is replaced by a newer one only, and new questions go behind the old.
    """
    phases = dict(paper.get("phases", {}))
    before = dict(phases.get(phase_id, {}))
    merged = merged_questions(before.get("questions", ()), questions)
    phases[phase_id] = {**before, **changes, "questions": merged}
    return {**paper, "last_updated": now, "phases": phases}


def merged_questions(old: Iterable[Mapping[str, Any]], new: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    kept = [dict(question) for question in old]
    places = {_key(question): place for place, question in reversed(tuple(enumerate(kept)))}
    for question in new:
        place = places.setdefault(_key(question), len(kept))
        held = kept[place] if place < len(kept) else {}
        told = {name: value for name, value in question.items() if value is not None or name not in held}
        kept[place : place + 1] = [{**held, **told}]
    return kept


def _key(question: Mapping[str, Any]) -> tuple[str, str]:
    return str(question.get("area", "")), " ".join(str(question.get("question", "")).casefold().split())
