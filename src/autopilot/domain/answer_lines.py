"""Answers as lines of text: `Phase 3, Q1: ...` (CMAP-03b), and the same with an area of a discussion. Pure."""

import re
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from autopilot.domain.value import Value

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
