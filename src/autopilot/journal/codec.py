"""Events to JSON text and back; rows of older formats are lifted on the way."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from autopilot.domain.events import Event
from autopilot.journal import storage_errors as failures

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]

# Append only: upgrade n turns a row of format n into format n + 1. The length is the format written today.
UPGRADES: tuple[Upgrade, ...] = ()

_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


def encode(event: Event) -> str:
    """One line of JSON. Text that is no valid Unicode keeps its place with U+FFFD."""
    try:
        return _ENCODER.encode(event).decode()
    except UnicodeEncodeError:
        return _ENCODER.encode(_mended(msgspec.to_builtins(event))).decode()


def decode(text: str, version: int, where: str = "an entry", upgrades: Sequence[Upgrade] = UPGRADES) -> Event:
    """The event a row of that format holds. Raises `StorageFailed` naming `where` for what cannot be understood."""
    if not 0 <= version <= len(upgrades):
        raise failures.unreadable(
            where, f"it has format {version}, and this version knows formats up to {len(upgrades)}"
        )
    try:
        if version == len(upgrades):
            return _DECODER.decode(text)
        lifted: Event = msgspec.convert(_lifted(msgspec.json.decode(text), upgrades[version:]), Event)
    except (msgspec.DecodeError, RecursionError) as error:
        raise failures.unreadable(where, str(error)) from error
    return lifted


def _lifted(row: dict[str, Any], upgrades: Sequence[Upgrade]) -> dict[str, Any]:
    for upgrade in upgrades:
        row = upgrade(row)
    return row


def _mended(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list() | tuple():
            return [_mended(item) for item in value]
        case dict():
            return {_mended(key): _mended(item) for key, item in value.items()}
    return value
