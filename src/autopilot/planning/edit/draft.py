"""A new phase from the user's words: its number, its title, and whether it is worth writing down."""

import re
from collections.abc import Iterable

from autopilot.domain.errors import RoadmapInvalid, UsageInvalid
from autopilot.domain.phase import Phase, Roadmap
from autopilot.planning.edit.edit import last_number, whole_number
from autopilot.planning.edit.style import INSERTED, NewPhase
from autopilot.planning.plan.criteria import criterion
from autopilot.planning.roadmap import ids

OVERLAP = 0.7
TO_BE_PLANNED = "[To be planned]"
MIN_WORDS, MAX_WORDS, MAX_TITLE = 2, 6, 80
_FEW_WORDS, _SHORT, _SHOWN = 4, 3, 40
_CLAUSE = re.compile(
    r"[.;:,!?](?:\s|$)|\s[-\u2013\u2014(]|\b(?:so that|because|in order to|which|while)\b", re.IGNORECASE
)
_MARKS = re.compile(r"[*_`~\[\](){}<>|#\\\"\u201c\u201d]+")
_ARTICLES = {"a", "an", "the", "please", "we", "our", "should", "must", "need", "needs", "all", "some", "that"}
_LINKING = {
    "a",
    "an",
    "the",
    "and",
    "or",
    "of",
    "for",
    "to",
    "with",
    "in",
    "on",
    "at",
    "by",
    "from",
    "as",
    "into",
    "is",
}
_WORD = re.compile(r"\w+")
_VAGUE = re.compile(
    r"\b(?:(?:should\s+)?works?\s+(?:correctly|properly|well|fine)|properly\s+handles?|handles?\s+\w+\s+properly"
    r"|(?:is|are)\s+(?:properly\s+)?implemented(?:\s+(?:correctly|properly))?|functions?\s+as\s+(?:expected|intended)"
    r"|works?\s+as\s+(?:intended|expected|designed))\b",
    re.IGNORECASE,
)
_CONCRETE = re.compile(r"[`\"\u201c\d]")


def clean(text: str) -> str:
    """One line without control characters; raises `UsageInvalid` for what Markdown would hide."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    if "<!--" in line or "-->" in line:
        raise UsageInvalid(
            "The text holds a Markdown comment.",
            why="What stands in a comment is not read, nor would be what follows it.",
            do="Leave the comment marks out.",
        )
    return line


def title(text: str) -> str:
    """Two to six words that name the phase, from its description."""
    line = clean(text)
    for part in (_CLAUSE.split(line, maxsplit=1)[0], line):
        words = [word for word in _MARKS.sub(" ", part).split() if _WORD.search(word)]
        if len(words) > MAX_WORDS:
            words = [word for word in words if word.lower() not in _ARTICLES]
        while len(words) > MIN_WORDS and words[0].lower() in _LINKING - _ARTICLES:
            words = words[1:]
        words = words[:MAX_WORDS]
        while len(words) > MIN_WORDS and words[-1].lower() in _LINKING:
            words.pop()
        if len(words) >= MIN_WORDS:
            named = " ".join(words).strip(" .,;:!?-\u2013\u2014")[:MAX_TITLE].rstrip()
            return named[:1].upper() + named[1:]
    raise UsageInvalid(
        f"{line!r} is too short to name a phase.",
        why=f"A phase has a title of {MIN_WORDS} to {MAX_WORDS} words, taken from its description.",
        do='Say what it is to achieve, as in: autopilot phases add "Export reports as CSV"',
    )


def added(phases: Roadmap, text: str, depends: Iterable[str], goal: str | None, criteria: Iterable[str]) -> NewPhase:
    """A phase behind the last one."""
    prefix, dash, number = last_number(phases).rpartition("-")
    return NewPhase(
        id=f"{prefix}{dash}{int(number) + 1}",
        name=title(text),
        goal=clean(goal or text),
        depends_on=tuple(dict.fromkeys(known(phases, need).id for need in depends)),
        criteria=tuple(checkable(one) for one in criteria),
    )


def inserted(phases: Roadmap, after: str, text: str, goal: str | None, criteria: Iterable[str]) -> NewPhase:
    """A phase between whole numbers, behind its siblings; it waits for the phase it was put behind."""
    parent = known(phases, after)
    base = whole_number(parent.id)
    siblings = [p.id.split(".")[1] for p in phases.phases if "." in p.id and whole_number(p.id) == base]
    taken = [int(found[0]) for one in siblings if (found := re.match(r"\d+", one))]
    return NewPhase(
        id=f"{base}.{max(taken, default=0) + 1}",
        name=title(text),
        goal=clean(goal) if goal else TO_BE_PLANNED,
        depends_on=(parent.id,),
        criteria=tuple(checkable(one) for one in criteria),
        marker=INSERTED,
    )


def known(phases: Roadmap, phase_id: str) -> Phase:
    wanted = ids.normalise(phase_id)
    found = next((phase for phase in phases.phases if phase.id == wanted), None)
    if found is None:
        have = ", ".join(phase.id for phase in phases.phases[:_SHOWN])
        raise RoadmapInvalid(
            f"There is no phase {phase_id!r} in {phases.path}.",
            why="The edit would refer to something that does not exist. Nothing was changed.",
            do=f"Phases of this roadmap: {have}{', ...' if len(phases.phases) > _SHOWN else ''}",
        )
    return found


def checkable(text: str) -> str:
    """The criterion on one line; raises `UsageInvalid` when it only says that things work."""
    line = clean(text)
    rest = _VAGUE.sub(" ", line)
    vague = rest != line and not _CONCRETE.search(line) and criterion(line, "SC").command is None
    if not line or (vague and len(_WORD.findall(rest)) <= MAX_WORDS):
        raise UsageInvalid(
            f"The criterion {line!r} says nothing that can be checked.",
            why="Such a criterion is met by anything, so it would let a phase pass that does not work.",
            do="Say what is seen, best with a command: exports 3 columns - verified by `python -m app export`",
        )
    return line


def overlapping(phases: Roadmap, text: str) -> tuple[Phase, float] | None:
    """The phase that shares most of its words with the text, when that is more than `OVERLAP`."""
    wanted = _significant(text)
    shares = [(_share(wanted, phase), phase) for phase in phases.phases]
    share, phase = max(shares, key=lambda pair: pair[0])
    return (phase, share) if share > OVERLAP else None


def _share(wanted: set[str], phase: Phase) -> float:
    name = _significant(phase.name)
    whole = name | _significant(phase.goal) | _significant(phase.description)
    if not wanted or not name:
        return 0.0
    alike = [2 * len(wanted & other) / (len(wanted) + len(other)) for other in (name, whole)]
    held = len(wanted & whole) / len(wanted) if len(wanted) >= _FEW_WORDS else 0.0
    return max(*alike, held)


def _significant(text: str) -> set[str]:
    words = {word.lower() for word in _WORD.findall(text)} - _LINKING - _ARTICLES
    return {word.removesuffix("s") if len(word) > _SHORT else word for word in words}
