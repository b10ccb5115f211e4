"""How much a session would have to hold in mind: how wide its priorities, its words and its leftovers are."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from autopilot.domain.value import Value
from autopilot.text.numbers import clamp, measured, rounded

Level = Literal["low", "medium", "high"]
KEYWORD_SHARE = 0.25
_MEDIUM, _HIGH = 0.3, 0.7
_LAST_SESSIONS = 5
_WIDE = re.compile(
    r"across all|every (?:skill|agent|repo)|repo-?wide|cross-cutting|rename across|massive refactor", re.IGNORECASE
)


class Components(Value, frozen=True, kw_only=True):
    scope: float = 0.0
    keywords: float = 0.0
    carryover: float = 0.0


class Pressure(Value, frozen=True, kw_only=True):
    score: float = 0.0
    components: Components = Components()
    level: Level = "low"


def pressure_of(priorities: Sequence[Any] | None, text: str | None, sessions: Sequence[Any]) -> Pressure:
    parts = Components(
        scope=rounded(clamp((len(priorities or ()) - 3) / 10, 0, 0.5)),
        keywords=KEYWORD_SHARE if _WIDE.search(text or "") else 0.0,
        carryover=rounded(clamp(_carried(sessions[-_LAST_SESSIONS:]) - 0.3, 0, 0.25)),
    )
    score = rounded(min(1.0, parts.scope + parts.keywords + parts.carryover))
    return Pressure(score=score, components=parts, level=_level(score))


def effectiveness(session: Any) -> Mapping[str, Any]:
    """What a session says about its own effect; nothing for what is no session."""
    found = session.get("effectiveness") if isinstance(session, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _carried(sessions: Sequence[Any]) -> float:
    ratios = [ratio for ratio in map(_ratio, sessions) if ratio is not None]
    return sum(ratios) / len(ratios) if ratios else 0.0


def _ratio(session: Any) -> float | None:
    told = effectiveness(session)
    planned, carried = measured(told.get("planned_issues")), measured(told.get("carryover"))
    return carried / planned if planned and carried is not None and planned > 0 else None


def _level(score: float) -> Level:
    if score < _MEDIUM:
        return "low"
    return "medium" if score < _HIGH else "high"
