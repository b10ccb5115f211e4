"""What an agent's program tells while it works, in one vocabulary for all of them."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """The conversation has a name by which it can be gone on with."""

    session: str
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Text of the model. Pieces with the same `of` are parts of one message."""

    text: str
    of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """A tool was called: `what` for a person to read, `command` if it is one for a shell."""

    call: str
    what: str
    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """A tool's call came back; not `ran` if it was refused before it did anything."""

    call: str
    ran: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """
    Tokens, and dollars. Cached tokens are in those of the input; they are told where dollars are not.

    Without a `part` it is the sum so far and replaces all before it; parts are added up, each counted once.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    cached_tokens: int | None = None
    part: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Windowed:
    """What the program knows of its usage window, in its own fields. Not `rejected` is a warning and nothing more."""

    rejected: bool
    resets_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """The program tells of trouble it deals with itself: it tries again."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The program's own word that it could not go on: never text of the model or of a tool."""

    text: str
    status: int | None = None
    kind: str = ""
    resets_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """All is said. `text` replaces what was said before; `structured` is an answer checked against the schema."""

    text: str | None = None
    structured: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Reopened:
    """It goes on after all: the program tries the whole turn again, and what went wrong before is forgotten."""


StreamEvent = Began | Said | Used | Returned | Spent | Windowed | Noticed | Failed | Finished | Reopened
