"""What the user said before the run: in the prompts of who researches and plans, and in RESEARCH.md."""

import re
from collections.abc import Iterable

from autopilot.domain.user_answers import UserAnswer, UserContext
from autopilot.history.record import PhaseRecord
from autopilot.steps.prompt import bullets

DISCUSSED, PROVIDED = "User Discussion Context", "User-Provided Context"
_OURS = re.compile(rf"^## (?:{DISCUSSED}|{PROVIDED})[ \t]*$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def answer_lines(answers: Iterable[UserAnswer]) -> str:
    return bullets((_line(answer) for answer in answers), "nothing")


def _line(answer: UserAnswer) -> str:
    area = f"[{answer.area}] " if answer.area else ""
    return f"{area}{answer.question} -> {' '.join(answer.answer.split())}"


def told(record: PhaseRecord) -> str:
    """DISC-10, DISC-12: a paragraph for a prompt; empty when nobody said anything."""
    context = record.brief.context
    parts = [*_decisions(context), *_provided(context)] if context else []
    if not parts:
        return ""
    rule = "What the user decided counts before any assumption of yours; where two answers differ, the one told first."
    return "\n\n" + "\n".join([*parts, rule])


def planned(record: PhaseRecord) -> str:
    """DISC-13: the same for a planner, with what to make of it."""
    said = told(record)
    use = (
        "Make criteria as specific as the user was, take the approach they prefer, and keep to the limits they set. "
        "What they left to you is yours to decide."
    )
    return f"{said}\n{use}" if said else ""


def _decisions(context: UserContext) -> list[str]:
    if not context.file and not context.discussed:
        return []
    read = f"Read `{context.file}` first: it holds the user's decisions for this phase." if context.file else ""
    line = f"**Discussion context:** The user spoke about this phase before the run. {read}".rstrip()
    return [line, *(["Asked and answered:", answer_lines(context.discussed)] if context.discussed else [])]


def _provided(context: UserContext) -> list[str]:
    answers = _unsettled(context)
    return ["The user also answered:", answer_lines(answers)] if answers else []


def _unsettled(context: UserContext) -> tuple[UserAnswer, ...]:
    """What mapping asked, without questions that the discussion settled."""
    settled = {answer.question for answer in context.discussed}
    return tuple(answer for answer in context.mapped if answer.question not in settled)


def with_sections(text: str, context: UserContext | None) -> str:
    """CMAP-04, DISC-12: the paper with what the user said in sections of its own, each of them once."""
    if context is None:
        return text
    parts = [_OURS.sub("", text).rstrip()]
    if context.file or context.discussed:
        source = [f"From `{context.file}`, which counts before all else:"] if context.file else []
        quoted = [_quoted(context.text)] if context.text.strip() else []
        answers = [answer_lines(context.discussed)] if context.discussed else []
        parts.append("\n\n".join([f"## {DISCUSSED}", *source, *quoted, *answers]))
    if provided := _unsettled(context):
        parts.append(f"## {PROVIDED}\n\n{answer_lines(provided)}")
    return "\n\n".join(parts) + "\n"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())
