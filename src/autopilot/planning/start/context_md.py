"""CONTEXT.md, the decisions of a discussion: written anew, or merged into what a person wrote there (DISC-08)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from autopilot.domain.people import YOU_DECIDE
from autopilot.domain.user_answers import UserAnswer

BOUNDARY, DECISIONS, IDEAS, DEFERRED = (
    "## Phase Boundary", "## Implementation Decisions", "## Specific Ideas", "## Deferred Ideas",
)  # fmt: skip
DISCRETION = "### Claude's Discretion"
NO_IDEAS = "No specific requirements -- open to standard approaches"
NONE_DEFERRED = "None -- discussion stayed within phase scope"
NOTHING_LEFT = "Nothing was left open on purpose"
_DEFAULTS = frozenset({NO_IDEAS, NONE_DEFERRED, NOTHING_LEFT})
_GATHERED = re.compile(r"^\*\*Gathered:\*\*.*$")
_FENCE = re.compile(r"\s{0,3}(```|~~~)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """What came of a phase's discussion. `date` is a day, `boundary` what the phase builds."""

    phase: str
    name: str
    date: str
    boundary: str
    decisions: Sequence[UserAnswer] = ()
    ideas: Sequence[str] = ()
    deferred: Sequence[str] = ()


@dataclass(slots=True)
class Part:
    """A heading with the lines below it; the lines before the first heading have none."""

    heading: str
    lines: list[str]


def context_md(talk: Talk, before: str | None) -> str:
    """The file's text. Of what was there only our own lines are brought up to date; no other is changed or moved."""
    ours = _ours(talk)
    if before is None or not before.strip():
        head = (
            f"# Phase {talk.phase}: {talk.name} - Context\n\n**Gathered:** {talk.date}\n**Status:** Ready for planning"
        )
        return "\n\n".join([head, *(_text(part) for part in ours)]) + "\n"
    theirs = _parts(before)
    theirs[0].lines = [_dated(line, talk.date) for line in theirs[0].lines]
    settled = {_left_open(answer) for answer in talk.decisions if answer.answer != YOU_DECIDE}
    place = 0
    for part in ours:
        place = _put(theirs, part, place)
        if part.heading == DISCRETION:
            theirs[place].lines = [line for line in theirs[place].lines if line not in settled]
    lines = [line for part in theirs for line in (part.heading, *part.lines)]
    return "\n".join(_without_blank_end(lines[1:])) + "\n"


def _ours(talk: Talk) -> list[Part]:
    own = [a for a in talk.decisions if a.answer != YOU_DECIDE]
    left = [a for a in talk.decisions if a.answer == YOU_DECIDE]
    areas = dict.fromkeys(_line(answer.area) for answer in own)
    return [
        Part(BOUNDARY, [f"{_line(talk.boundary)} -- the scope anchor from the roadmap."]),
        Part(DECISIONS, []),
        *(Part(f"### {area}", [_bullet(a) for a in own if _line(a.area) == area]) for area in areas),
        Part(DISCRETION, [_left_open(answer) for answer in left] or [NOTHING_LEFT]),
        Part(IDEAS, [f"- {_line(idea)}" for idea in talk.ideas] or [NO_IDEAS]),
        Part(DEFERRED, [f"- {_line(idea)}" for idea in talk.deferred] or [NONE_DEFERRED]),
    ]


def _bullet(answer: UserAnswer) -> str:
    return f"- {_line(answer.question)} {_line(answer.answer)}"


def _left_open(answer: UserAnswer) -> str:
    return f"- {_line(answer.area)}: {_line(answer.question)}"


def _line(text: str) -> str:
    return " ".join(text.split())


def _text(part: Part) -> str:
    return "\n\n".join(text for text in (part.heading, "\n".join(part.lines)) if text)


def _parts(text: str) -> list[Part]:
    """The text cut at its headings of the second and third level; what looks like one in a code block is none."""
    lines = text.rstrip("\n").split("\n")
    fences = [n for n, line in enumerate(lines) if _FENCE.match(line)]
    # One that is never closed hides nothing: our own sections would not be found behind it.
    paired = frozenset(fences[: len(fences) // 2 * 2])
    parts, fenced = [Part("", [])], False
    for n, line in enumerate(lines):
        fenced = fenced != (n in paired)
        if not fenced and line.startswith(("## ", "### ")):
            parts.append(Part(line, []))
        else:
            parts[-1].lines.append(line)
    return parts


def _dated(line: str, date: str) -> str:
    return f"**Gathered:** {date}" if _GATHERED.match(line) else line


def _put(theirs: list[Part], ours: Part, after: int) -> int:
    """Bring the part up to date, or add it behind what it belongs to; its place. The boundary is the person's own."""
    place = next((n for n, part in enumerate(theirs) if part.heading.strip() == ours.heading), None)
    if place is None:
        place = after + 1 if ours.heading.startswith("###") else _end_of(theirs, after) + 1
        theirs[place - 1].lines = [*_without_blank_end(theirs[place - 1].lines), ""]
        theirs.insert(place, Part(ours.heading, ["", *ours.lines, ""]))
    elif ours.heading != BOUNDARY or not any(line.strip() for line in theirs[place].lines):
        theirs[place].lines = _updated(theirs[place].lines, ours.lines)
    return place


def _end_of(theirs: list[Part], after: int) -> int:
    """The last part of the section that the place is in."""
    following = (n for n in range(after + 1, len(theirs)) if theirs[n].heading.startswith("## "))
    return next(following, len(theirs)) - 1


def _updated(lines: list[str], ours: Sequence[str]) -> list[str]:
    """A line about the same question is replaced, a default gives way to what is known, the rest is added."""
    kept = list(lines)
    fresh = [line for line in ours if line not in _DEFAULTS or not any(text.strip() for text in kept)]
    if fresh:
        kept = [line for line in kept if line.strip() not in _DEFAULTS]
    for line in fresh:
        question = line.partition("? ")[0]
        same = next((n for n, held in enumerate(kept) if held == line or _asks(held, question, line)), None)
        if same is None:
            kept = [*_without_blank_end(kept), line, ""]
        else:
            kept[same] = line
    return kept


def _asks(held: str, question: str, line: str) -> bool:
    return "? " in line and held.startswith(f"{question}? ")


def _without_blank_end(lines: list[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]
