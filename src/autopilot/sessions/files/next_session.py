"""The five fields of STATE.md in which a session leaves word for the next: written at its end, read at its start."""

from collections.abc import Mapping, Sequence
from typing import Any

from autopilot.domain.value import Value
from autopilot.sessions.selector import HIGH_CARRYOVER, LOW_COMPLETION, MODES, Mode
from autopilot.text.numbers import measured, number_in

FIELDS = ("recommended-mode", "top-priorities", "carryover-ratio", "completion-rate", "rationale")
MOST_PRIORITIES = 5
_MOST_LINES = 200
_MOST_DIGITS = 18


class StateFields(Value, frozen=True, kw_only=True):
    mode: Mode | None = None
    priorities: tuple[Any, ...] | None = None
    carryover_ratio: float | None = None
    completion_rate: float | None = None
    rationale: str | None = None


class NextUp(Value, frozen=True, kw_only=True):
    """What a session says the next one should be."""

    mode: Mode
    priorities: tuple[Any, ...]
    rationale: str


def next_up(completion: Any, carryover: Any, carried: Sequence[Any]) -> NextUp:
    """Raises `TypeError` for rates that are no numbers: a session that cannot count has no word on the next."""
    for name, value in (("completionRate", completion), ("carryoverRatio", carryover)):
        if measured(value) is None:
            raise TypeError(f"{name} must be a number")
    first = tuple(carried[:MOST_PRIORITIES])
    if completion < LOW_COMPLETION:
        return NextUp(mode="plan-retro", priorities=first, rationale="v0: completion <50% \u2192 retro")
    if carryover >= HIGH_CARRYOVER:
        return NextUp(mode="deep", priorities=first, rationale="v0: carryover \u226530% \u2192 deep")
    return NextUp(mode="feature", priorities=first, rationale="v0: default clean completion")


def fields_of(front_matter: Any) -> StateFields | None:
    """None when it says nothing of the kind."""
    if not isinstance(front_matter, Mapping) or not any(name in front_matter for name in FIELDS):
        return None
    said, why = front_matter.get("top-priorities"), front_matter.get("rationale")
    return StateFields(
        mode=next((mode for mode in MODES if mode == front_matter.get("recommended-mode")), None),
        priorities=tuple(said) if isinstance(said, list | tuple) else None,
        carryover_ratio=measured(front_matter.get("carryover-ratio")),
        completion_rate=measured(front_matter.get("completion-rate")),
        rationale=why if isinstance(why, str) else None,
    )


def read(text: str | None) -> StateFields | None:
    return fields_of(front_matter(text or ""))


def front_matter(text: str) -> dict[str, Any]:
    """The plain keys between the first two `---` lines: words, numbers and lists in brackets."""
    lines = text.split("\n")[:_MOST_LINES]
    if lines[0].rstrip() != "---":
        return {}
    end = next((at for at, line in enumerate(lines[1:], start=1) if line.rstrip() == "---"), 0)
    pairs = (line.partition(":") for line in lines[1:end])
    return {key.strip(): _value(value.strip()) for key, colon, value in pairs if colon and key == key.lstrip()}


def keys_of(text: str | None) -> dict[str, str] | None:
    """A lock file's `key: value` lines; comments are passed over, and None is no file at all."""
    if text is None:
        return None
    pairs = (line.partition(":") for line in text.split("\n") if not line.lstrip().startswith("#"))
    return {key.strip(): value.strip() for key, colon, value in pairs if colon}


def written(next_session: NextUp, completion: float, carryover: float) -> str:
    """STATE.md as a session leaves it."""
    listed = ", ".join(str(item) for item in next_session.priorities)
    return (
        "---\n"
        f"recommended-mode: {next_session.mode}\n"
        f"top-priorities: [{listed}]\n"
        f"carryover-ratio: {carryover:.2f}\n"
        f"completion-rate: {completion:.2f}\n"
        f"rationale: {next_session.rationale}\n"
        "---\n"
    )


def _value(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return [_item(item.strip()) for item in text[1:-1].split(",") if item.strip()]
    return _scalar(text)


def _item(text: str) -> Any:
    """A phase may be called 2.10, which is not 2.1."""
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else text.strip("\"'")


def _scalar(text: str) -> Any:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    number = number_in(text)
    if number is None:
        return None if text in {"", "null", "~"} else text
    return int(number) if number.is_integer() and "." not in text else number
