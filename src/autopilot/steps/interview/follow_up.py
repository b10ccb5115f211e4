"""Have somebody go deeper where the user wants to, and tell ideas for other phases from decisions in this one."""

from collections.abc import Iterable, Mapping
from typing import Any

from autopilot.domain.agent_call import Objection, Question, no_objections
from autopilot.domain.answers import FollowUpClaim
from autopilot.domain.user_answers import UserAnswer
from autopilot.history.record import PhaseRecord
from autopilot.steps.artifacts.user_context import answer_lines
from autopilot.steps.prompt import heading, render

FEWEST, MOST = 2, 3
MORE = "The user wants to go on about {area}. Ask two or three more questions about it that follow from the answers."
CLOSING = "The user is done. Ask nothing more: leave questions empty."


def deeper(record: PhaseRecord, area: str, answered: Iterable[UserAnswer]) -> Question[FollowUpClaim]:
    wish = MORE.format(area=area)
    return Question(
        role="follow_up", prompt=prompt(record, wish, answered), answer=FollowUpClaim, objections=objections
    )


def closing(record: PhaseRecord, answered: Iterable[UserAnswer]) -> Question[FollowUpClaim]:
    return Question(
        role="follow_up", prompt=prompt(record, CLOSING, answered), answer=FollowUpClaim, objections=no_objections
    )


def prompt(record: PhaseRecord, wish: str, answered: Iterable[UserAnswer]) -> str:
    return render(
        "follow_up",
        heading=heading(record),
        answered=answer_lines(answered),
        wish=wish,
    )


def objections(answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    told = answer.get("questions")
    count = len(told) if isinstance(told, list) else 0
    if FEWEST <= count <= MOST:
        return ()
    problem = f"{count} questions; two or three are wanted"
    return (Objection(reminder=f"Your last answer has {problem}.", issue=problem),)
