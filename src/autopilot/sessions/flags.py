"""The flags of `autopilot loop`: each within its bounds, and its default for a value that is empty or no number."""

from collections.abc import Iterator
from typing import Any

from autopilot.domain.value import Value
from autopilot.text.numbers import clamp, measured, number_in, shown


class Bound(Value, frozen=True, kw_only=True):
    flag: str
    low: float
    high: float
    default: float


MAX_SESSIONS = Bound(flag="--max-sessions", low=1, high=50, default=5)
MAX_HOURS = Bound(flag="--max-hours", low=0.5, high=24.0, default=4.0)
CONFIDENCE = Bound(flag="--confidence-threshold", low=0.0, high=1.0, default=0.85)
MAX_TOKENS = Bound(flag="--max-tokens", low=0, high=10_000_000, default=0)
BOUNDS = (MAX_SESSIONS, MAX_HOURS, CONFIDENCE, MAX_TOKENS)
DRY_RUN = ("--dry-run", "--dryRun")


class LoopFlags(Value, frozen=True, kw_only=True):
    """What the user asked of this one loop. `max_tokens` 0: no budget."""

    max_sessions: int = int(MAX_SESSIONS.default)
    max_hours: float = MAX_HOURS.default
    confidence_threshold: float = CONFIDENCE.default
    max_tokens: int = int(MAX_TOKENS.default)
    dry_run: bool = False


def parse(argv: Any) -> LoopFlags:
    """
    Flags written as `--flag=value`; words of any other form are passed over.

    The last of several counts, and when that one is empty or no number, the default does.
    """
    words = [word for word in argv if isinstance(word, str)] if isinstance(argv, list | tuple) else []
    said = {bound.flag: _last(bound, words) for bound in BOUNDS}
    return bounded(
        max_sessions=said[MAX_SESSIONS.flag],
        max_hours=said[MAX_HOURS.flag],
        confidence_threshold=said[CONFIDENCE.flag],
        max_tokens=said[MAX_TOKENS.flag],
        dry_run=any(word in DRY_RUN for word in words),
    )


def bounded(
    *,
    max_sessions: Any = None,
    max_hours: Any = None,
    confidence_threshold: Any = None,
    max_tokens: Any = None,
    dry_run: bool = False,
) -> LoopFlags:
    """Each number within its bounds, whole ones rounded down after that; what is no number is the default."""
    return LoopFlags(
        max_sessions=int(_within(MAX_SESSIONS, max_sessions)),
        max_hours=_within(MAX_HOURS, max_hours),
        confidence_threshold=_within(CONFIDENCE, confidence_threshold),
        max_tokens=int(_within(MAX_TOKENS, max_tokens)),
        dry_run=dry_run,
    )


def remarks(argv: list[str]) -> Iterator[str]:
    """A sentence for each flag whose value was not taken as it was written."""
    for bound in BOUNDS:
        for text in _values(bound, argv)[-1:]:
            number = number_in(text)
            if number is None and text.strip():
                yield f"{bound.flag}={text} is no number; the default {shown(bound.default)} is used."
            elif number is not None and not bound.low <= number <= bound.high:
                held = shown(clamp(number, bound.low, bound.high))
                yield f"{bound.flag}={text} is outside {shown(bound.low)}..{shown(bound.high)}; {held} is used."


def _within(bound: Bound, value: Any) -> float:
    number = measured(value)
    return bound.default if number is None else clamp(number, bound.low, bound.high)


def _last(bound: Bound, words: list[str]) -> float | None:
    values = _values(bound, words)
    return number_in(values[-1]) if values else None


def _values(bound: Bound, words: list[str]) -> list[str]:
    start = f"{bound.flag}="
    return [word.removeprefix(start) for word in words if word.startswith(start)]
