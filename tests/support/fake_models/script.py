"""What the fake service plays: turns, one for each request that could use tools."""

import tomllib
from typing import Any

import msgspec

from autopilot.domain.value import Value


class Tool(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call the model makes. A `freeform` one has text for its input and not an object."""

    name: str
    input: dict[str, Any] = {}
    freeform: str | None = None


class Turn(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    One answer, or one way to fail.

    `status` other than 200 is an error with `message` and `kind`; `hang` waits before the first byte, `stall` in the
    middle of the stream; `disconnect` drops the line there, `garbage` goes on with bytes that are no event there.
    """

    text: str = ""
    tools: tuple[Tool, ...] = ()
    input_tokens: int = 1000
    output_tokens: int = 50
    cached_tokens: int = 0
    status: int = 200
    message: str = "written error"
    kind: str | None = None
    details: dict[str, Any] = {}
    headers: dict[str, str] = {}
    hang: float = 0.0
    stall: float = 0.0
    disconnect: bool = False
    garbage: bool = False
    times: int = 1


class Script(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Turns in order. Behind the last the `rest` is played, however often somebody asks."""

    turn: tuple[Turn, ...] = ()
    rest: Turn = Turn(text="[nothing is written for this turn]")
    aside: Turn = Turn(text="ok")

    def turns(self) -> list[Turn]:
        return [turn for turn in self.turn for _ in range(turn.times)]


def script_of(text: str) -> Script:
    """From TOML: `[[turn]]` with the fields of `Turn`."""
    return msgspec.convert(tomllib.loads(text), Script)
