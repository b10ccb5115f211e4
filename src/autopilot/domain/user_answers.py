"""What a person said about a phase before the run, as its researcher and planner are told."""

from typing import Any

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
