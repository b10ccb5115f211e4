"""Have somebody ask what a phase does not say, before anybody works on it (CMAP-02)."""

from collections.abc import Iterable, Mapping
from typing import Any

from autopilot.domain.agent_call import Objection, Question
from autopilot.domain.answers import MAP_CATEGORIES, OpenQuestion, QuestionsClaim
from autopilot.domain.user_answers import UserAnswer
from autopilot.history.record import PhaseRecord
from autopilot.steps.artifacts.user_context import answer_lines
from autopilot.steps.prompt import bullets, criteria_lines, heading, render

FEWEST, MOST = 2, 5


def question(record: PhaseRecord, score: int, factors: str, answered: Iterable[UserAnswer]) -> Question[QuestionsClaim]:
    return Question(
        role="question",
        prompt=prompt(record, score, factors, answered),
        answer=QuestionsClaim,
        objections=objections,
    )


def prompt(record: PhaseRecord, score: int, factors: str, answered: Iterable[UserAnswer]) -> str:
    return render(
        "question",
        heading=heading(record),
        requirements=bullets(record.brief.requirements, "none mapped"),
        criteria=criteria_lines(record.phase.criteria),
        score=str(score),
        factors=factors,
        answered=answer_lines(answered),
        spec=record.start.spec.path,
        dir=record.brief.dir,
    )


def objections(answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    """CMAP-02b, CMAP-02c: what makes a return unusable."""
    told = answer.get("questions")
    questions = [q for q in told if isinstance(q, dict)] if isinstance(told, list) else []
    problems = [] if FEWEST <= len(questions) <= MOST else [f"{len(questions)} questions; two to five are wanted"]
    for n, one in enumerate(questions, 1):
        problems += [f"question {n} has no {name}" for name in ("question", "why_needed") if not _said(one.get(name))]
        if one.get("category") not in MAP_CATEGORIES:
            problems.append(f"the category of question {n} is none of {', '.join(MAP_CATEGORIES)}")
    return tuple(Objection(reminder=f"Your last answer has {p}.", issue=p) for p in problems)


def usable(claim: QuestionsClaim) -> tuple[OpenQuestion, ...]:
    """The questions that can be put to a person; none when too few are left."""
    fit = [q for q in claim.questions if q.question.strip() and q.why_needed.strip() and q.category in MAP_CATEGORIES]
    return tuple(fit[:MOST]) if len(fit) >= FEWEST else ()


def _said(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
