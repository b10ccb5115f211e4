"""One thing `autopilot doctor` looked at, and what to do about it."""

from typing import Literal

from autopilot.domain.value import Value

Level = Literal["ok", "warn", "fail"]


class Check(Value, frozen=True, kw_only=True):
    """A `fail` keeps a run from starting; a `warn` lets it start with less than it could have."""

    level: Level
    what: str
    found: str
    fix: str = ""
