"""Have somebody name the decisions in a phase that its user would want to take part in (DISC-01..03)."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from autopilot.domain.agent_call import Objection, Question
from autopilot.domain.answers import DOMAINS, GrayArea, GrayAreasClaim
from autopilot.domain.user_answers import UserAnswer
from autopilot.history.record import PhaseRecord
from autopilot.steps.artifacts.user_context import answer_lines
from autopilot.steps.prompt import bullets, criteria_lines, heading, render

FEWEST_AREAS, MOST_AREAS = 3, 5
FEWEST_QUESTIONS, MOST_QUESTIONS = 2, 4
# Words that any phase of any project could be talked about with; an area made of these alone says nothing.
_WORDS = (
    "a an and the of for in or general overall other misc various ui ux design layout style styling look feel "
    "user interface experience frontend backend error errors handling exception exceptions logging validation "
    "input output test tests testing coverage quality performance speed scalability security safety privacy "
    "architecture structure code naming conventions documentation docs comments api database data storage "
    "model models deployment configuration config settings dependencies implementation details approach scope "
    "requirements features functionality edge cases accessibility maintainability best practices "
)
_GENERIC = frozenset(_WORDS.split())


def question(record: PhaseRecord, answered: Iterable[UserAnswer]) -> Question[GrayAreasClaim]:
    return Question(role="gray_areas", prompt=prompt(record, answered), answer=GrayAreasClaim, objections=objections)


def prompt(record: PhaseRecord, answered: Iterable[UserAnswer]) -> str:
    return render(
        "gray_areas",
        heading=heading(record),
        requirements=bullets(record.brief.requirements, "none mapped"),
        criteria=criteria_lines(record.phase.criteria),
        answered=answer_lines(answered),
        spec=record.start.spec.path,
        dir=record.brief.dir,
    )


def objections(answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    told = answer.get("gray_areas")
    areas = [a for a in told if isinstance(a, dict)] if isinstance(told, list) else []
    problems = (
        [] if FEWEST_AREAS <= len(areas) <= MOST_AREAS else [f"{len(areas)} gray areas; three to five are wanted"]
    )
    if answer.get("domain") not in DOMAINS:
        problems.append(f"a domain that is none of {', '.join(DOMAINS)}")
    for area in areas:
        problems += _problems(str(area.get("area") or ""), area.get("sample_questions"))
    return tuple(Objection(reminder=f"Your last answer has {p}.", issue=p) for p in problems)


def _problems(name: str, questions: Any) -> list[str]:
    count = len(questions) if isinstance(questions, list) else 0
    found = [f"the area {name!r}, which would fit any phase: name the decision in this one"] if generic(name) else []
    if not FEWEST_QUESTIONS <= count <= MOST_QUESTIONS:
        found.append(f"{count} questions for the area {name!r}; two to four are wanted")
    return found


def generic(name: str) -> bool:
    """DISC-03: a name without a single word of the phase's own."""
    return not set(re.findall(r"[^\W\d_]+", name.casefold())) - _GENERIC


def usable(claim: GrayAreasClaim) -> tuple[GrayArea, ...]:
    """The areas that can be talked about; a generic one, or one without questions, is left out."""
    fit = [a for a in claim.gray_areas if not generic(a.area) and any(q.question.strip() for q in a.questions)]
    return tuple(fit[:MOST_AREAS])
